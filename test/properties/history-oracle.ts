// What history must show, worked out the slow way from the text of the specification: all at once, message by message.
import type { Given } from "./generated-session.js";

/** A message of history by what can be said of it without knowing how content is converted. */
export interface Shape {
  readonly role: string;
  /** The content, where it was recorded as text; the number of parts otherwise. */
  readonly content: string | number;
  readonly calls: readonly string[];
  readonly answers?: string;
}

interface Part {
  readonly [key: string]: unknown;
}

/** Where history starts: after the last clear, and after the greatest `through`. */
export function boundaryIn(session: readonly Given[]): number {
  return session.reduce((boundary, entry, index) => {
    if (entry.kind === "clear") return Math.max(boundary, index + 1);
    return entry.kind === "consolidation" ? Math.max(boundary, entry.through as number) : boundary;
  }, 0);
}

export function expectedHistory(
  session: readonly Given[],
  options: { readonly max_messages: number; readonly include_pending: boolean },
): readonly Shape[] {
  const hasMessages = session.some((entry) => entry.kind === "message");
  const entries = withoutWithdrawn(session).slice(boundaryIn(session));
  const talk = hasMessages ? repaired(entries, options.include_pending) : fromInteractions(entries);
  const window = windowOf(talk, options.max_messages);
  if (window.length === 0) return [];
  const systems = entries.filter((entry) => hasMessages && ["system", "developer"].includes(entry.role as string));
  return [...systems.map((entry) => shape("system", entry.content)), ...window];
}

/** The same with nothing in the place of what was taken back. */
export function withoutWithdrawn(session: readonly Given[]): readonly Given[] {
  const positions = new Set(session.flatMap(({ kind, withdraws }) => (kind === "withdrawal" ? [withdraws] : [])));
  return session.map((entry, index) => (positions.has(index + 1) ? { kind: "nothing" } : entry));
}

export function shapeOf(message: object): Shape {
  const { role, content, tool_calls = [], tool_call_id } = message as Part;
  const calls = (tool_calls as readonly Part[]).map((call) => call.id as string);
  const answers = tool_call_id === undefined ? {} : { answers: tool_call_id as string };
  return {
    role: role as string,
    content: typeof content === "string" ? content : (content as []).length,
    calls,
    ...answers,
  };
}

/** The last so many messages, from a user's on; or else from the nearest user's before. */
function windowOf(talk: readonly Shape[], max: number): readonly Shape[] {
  if (max <= 0) return [];
  const start = Math.max(0, talk.length - max);
  const users = talk.flatMap((message, index) => (message.role === "user" ? [index] : []));
  const from = users.find((index) => index >= start) ?? users.findLast((index) => index < start);
  return from === undefined ? [] : talk.slice(from);
}

function fromInteractions(entries: readonly Given[]): readonly Shape[] {
  return entries
    .filter((entry) => entry.kind === "interaction")
    .flatMap(({ prompt, response }) => {
      const answer = (response ?? "") as string;
      return [shape("user", prompt), ...(answer.trim() === "" ? [] : [shape("assistant", answer)])];
    });
}

function repaired(entries: readonly Given[], include_pending: boolean): readonly Shape[] {
  const answers = entries.map((entry, index) => callIdsOf(entry).map((id) => answerTo(entries, index, id)));
  const isSaid = (entry: Given): boolean =>
    isUser(entry) || (isAssistant(entry) && (callIdsOf(entry).length > 0 || !isBlank(spokenBy(entry))));
  const last = entries.findLastIndex(isSaid);
  return entries.flatMap((entry, index) => {
    if (isUser(entry)) return [shape("user", spokenBy(entry))];
    if (!isAssistant(entry)) return [];
    const kept = callIdsOf(entry).map((id, at) => ({ id, answer: answers[index]?.[at] }));
    const calls = kept.filter(({ answer }) => answer !== undefined || (include_pending && index === last));
    if (calls.length === 0 && isBlank(spokenBy(entry))) return [];
    return [
      { ...shape("assistant", spokenBy(entry)), calls: calls.map(({ id }) => id) },
      ...calls.flatMap(({ id, answer }) => (answer === undefined ? [] : [{ ...shape("tool", answer), answers: id }])),
    ];
  });
}

/** The content of the result that belongs to a call: of those that come nearer to it than to a later call of that id. */
function answerTo(entries: readonly Given[], asked: number, id: string): unknown {
  let end = entries.findIndex((entry, index) => index > asked && callIdsOf(entry).includes(id));
  if (end < 0) end = entries.length;
  const results = entries.slice(asked + 1, end).flatMap(resultsIn);
  const mine = results.filter((result) => result.id === id);
  return (mine.find((result) => !result.isSpare) ?? mine[0])?.content;
}

function resultsIn(
  entry: Given,
): readonly { readonly id: unknown; readonly content: unknown; readonly isSpare: boolean }[] {
  if (entry.kind === "tool_call") {
    const { result = "", tool_call_id: id } = entry;
    return [{ id, content: typeof result === "string" ? result : JSON.stringify(result), isSpare: true }];
  }
  if (entry.role === "tool" || entry.role === "function")
    return [{ id: entry.tool_call_id, content: entry.content, isSpare: false }];
  if (entry.role !== "user" || !Array.isArray(entry.content)) return [];
  const blocks = (entry.content as readonly Part[]).filter((part) => part.type === "tool_result");
  return blocks.map((part) => {
    const isPlain = typeof part.content === "string" || Array.isArray(part.content);
    const content = isPlain ? part.content : part.content === null ? "" : JSON.stringify(part.content);
    return { id: part.tool_use_id, content, isSpare: false };
  });
}

export function callIdsOf(entry: Given): readonly string[] {
  if (!isAssistant(entry)) return [];
  const inContent = partsOf(entry.content).filter((part) => part.type === "tool_use");
  const ids = [...((entry.tool_calls ?? []) as readonly Part[]), ...inContent].flatMap((call) => {
    const named = [call.function, call.custom, call].map((of) => (of as Part | null | undefined)?.name);
    const isCall =
      typeof call.id === "string" && call.id !== "" && named.some((name) => typeof name === "string" && name !== "");
    return isCall ? [call.id as string] : [];
  });
  return [...new Set(ids)];
}

function isAssistant(entry: Given): boolean {
  return entry.kind === "message" && ["assistant", "timmy", "model"].includes(entry.role as string);
}

/** A user's message that holds nothing but results of tools is not the user's. */
export function isUser(entry: Given): boolean {
  if (entry.kind !== "message" || entry.role !== "user") return false;
  const results = partsOf(entry.content).filter((part) => part.type === "tool_result");
  return results.length === 0 || (spokenBy(entry) as readonly unknown[]).length > 0;
}

export function resultIdsOf(entry: Given): readonly unknown[] {
  return resultsIn(entry).map((result) => result.id);
}

/** Content without calls, results and thinking. */
function spokenBy(entry: Given): unknown {
  const { content } = entry;
  if (!Array.isArray(content)) return content ?? "";
  const silent = entry.role === "user" ? ["tool_result"] : ["tool_use", "thinking", "redacted_thinking"];
  return content.filter((part) => !silent.includes((part as Part).type as string));
}

function partsOf(content: unknown): readonly Part[] {
  return Array.isArray(content) ? content.filter((part) => typeof part === "object") : [];
}

function isBlank(content: unknown): boolean {
  if (typeof content === "string") return content.trim() === "";
  return (content as readonly (string | Part)[]).every((part) => {
    if (typeof part === "string") return part.trim() === "";
    const media = ["image", "image_url", "input_audio", "file", "document"].includes(part.type as string);
    const text = part.text ?? part.refusal;
    return !media && typeof text === "string" && text.trim() === "";
  });
}

function shape(role: string, content: unknown): Shape {
  const isEmpty = Array.isArray(content) && content.length === 0;
  const shown = isEmpty ? "" : (content ?? "");
  return { role, content: typeof shown === "string" ? shown : (shown as []).length, calls: [] };
}
