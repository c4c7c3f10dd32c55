// What history must show, worked out the slow way from the text of the specification: all at once, message by message.
import { itemAt } from "../../src/model/item-at.js";
import type { GeneratedEntry } from "./generated-session.js";

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

/** Position of the last clear, 0 without any. */
function clearedThrough(session: readonly GeneratedEntry[]): number {
  return session.findLastIndex((entry) => entry.kind === "clear") + 1;
}

/** The consolidations that still count: those after the last clear. */
function consolidationsIn(session: readonly GeneratedEntry[]): readonly GeneratedEntry[] {
  return session.slice(clearedThrough(session)).filter((entry) => entry.kind === "consolidation");
}

/** The greatest `through` that still counts, 0 without any. */
export function consolidatedThrough(session: readonly GeneratedEntry[]): number {
  return Math.max(0, ...consolidationsIn(session).map((entry) => entry.through as number));
}

/** Where history starts: after the last clear, and after the greatest `through` since then. */
export function boundaryIn(session: readonly GeneratedEntry[]): number {
  return Math.max(clearedThrough(session), consolidatedThrough(session));
}

/** Positions up to the boundary that the newest consolidation keeps. */
export function keptIn(session: readonly GeneratedEntry[]): readonly number[] {
  const newest = consolidationsIn(session).at(-1);
  const named = (newest?.kept ?? []) as readonly number[];
  const isKept = (at: number): boolean => at > clearedThrough(session) && at <= (newest?.through as number);
  return [...new Set(named)].filter((at) => isKept(at) && at <= session.length).sort((left, right) => left - right);
}

/** Positions that history may show. */
export function mayShow(session: readonly GeneratedEntry[], position: number): boolean {
  if (position > boundaryIn(session) || keptIn(session).includes(position)) return true;
  return isSystem(itemAt(session, position - 1)) || session[position - 1] === consolidationsIn(session).at(-1);
}

export interface Budget {
  readonly max_messages: number;
  readonly include_pending: boolean;
}

/** The history, or the least number of messages that would do. */
export function expectedHistory(session: readonly GeneratedEntry[], options: Budget): readonly Shape[] | number {
  const hasMessages = session.some((entry) => entry.kind === "message");
  const all = withoutWithdrawn(session);
  const shown = all.map((entry) => (hasMessages && entry.kind === "interaction" ? asMessages(entry) : [entry]));
  const entries = [
    ...keptIn(session).flatMap((at) => itemAt(shown, at - 1)),
    ...shown.slice(boundaryIn(session)).flat(),
  ];
  const groups = hasMessages ? repaired(entries, options.include_pending) : fromInteractions(entries);
  const summary = String(consolidationsIn(session).at(-1)?.summary ?? "");
  const front = summary.trim() === "" ? [] : [shape("user", summary)];
  const window = windowOf(groups, front, options.max_messages);
  if (typeof window === "number" || window.length === 0) return window;
  const systems = all.filter((entry) => hasMessages && isSystem(entry));
  return [...systems.map((entry) => shape("system", entry.content)), ...window];
}

/** Among messages; generated ones are nobody else's call, since no two texts are the same. */
function asMessages({ prompt, response = "" }: GeneratedEntry): readonly GeneratedEntry[] {
  return [
    { kind: "message", role: "user", content: prompt },
    { kind: "message", role: "assistant", content: response },
  ];
}

function isSystem({ kind, role }: GeneratedEntry): boolean {
  return kind === "message" && ["system", "developer"].includes(role as string);
}

/** The same with nothing in the place of what was taken back. */
export function withoutWithdrawn(session: readonly GeneratedEntry[]): readonly GeneratedEntry[] {
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

/** A user's message, or an assistant's with the results of its calls. */
type Group = readonly Shape[];

/** The longest end that begins with a user and fits, else the newest turn's user and as many of its newest groups as fit. */
function windowOf(groups: readonly Group[], front: Group, max: number): readonly Shape[] | number {
  if (max <= 0) return [];
  const isUser = (group: Group | undefined): boolean => group?.[0]?.role === "user";
  const count = (some: readonly Group[]): number => some.flat().length;
  const starts = groups.flatMap((group, at) => (isUser(group) || (at === 0 && front.length > 0) ? [at] : []));
  const ends = starts.map((start) => groups.slice(start));
  if (ends.length === 0) return front;
  const fitting = ends.find((end) => count(end) <= max);
  if (fitting !== undefined) return [...front, ...fitting.flat()];
  const newest = ends.at(-1) as readonly Group[];
  const opening = isUser(newest[0]) ? newest.slice(0, 1) : [];
  const cut = newest.slice(opening.length).map((_, at, rest) => [...opening, ...rest.slice(at)]);
  const widest = cut.find((end) => count(end) <= max);
  return widest === undefined ? count(cut.at(-1) as readonly Group[]) : [...front, ...widest.flat()];
}

function fromInteractions(entries: readonly GeneratedEntry[]): readonly Group[] {
  return entries
    .filter((entry) => entry.kind === "interaction")
    .flatMap(({ prompt, response }) => {
      const answer = (response ?? "") as string;
      return [[shape("user", prompt)], ...(answer.trim() === "" ? [] : [[shape("assistant", answer)]])];
    });
}

function repaired(entries: readonly GeneratedEntry[], include_pending: boolean): readonly Group[] {
  const answers = entries.map((entry, index) => callIdsOf(entry).map((id) => answerTo(entries, index, id)));
  const isSaid = (entry: GeneratedEntry): boolean =>
    isUser(entry) || (isAssistant(entry) && (callIdsOf(entry).length > 0 || !isBlank(spokenBy(entry))));
  const last = entries.findLastIndex(isSaid);
  return entries.flatMap((entry, index) => {
    if (isUser(entry)) return [[shape("user", spokenBy(entry))]];
    if (!isAssistant(entry)) return [];
    const kept = callIdsOf(entry).map((id, at) => ({ id, answer: answers[index]?.[at] }));
    const calls = kept.filter(({ answer }) => answer !== undefined || (include_pending && index === last));
    if (calls.length === 0 && isBlank(spokenBy(entry))) return [];
    const results = calls.flatMap(({ id, answer }) =>
      answer === undefined ? [] : [{ ...shape("tool", answer), answers: id }],
    );
    return [[{ ...shape("assistant", spokenBy(entry)), calls: calls.map(({ id }) => id) }, ...results]];
  });
}

/** The content of the result that belongs to a call: of those that come nearer to it than to a later call of that id. */
function answerTo(entries: readonly GeneratedEntry[], asked: number, id: string): unknown {
  let end = entries.findIndex((entry, index) => index > asked && callIdsOf(entry).includes(id));
  if (end < 0) end = entries.length;
  const results = entries.slice(asked + 1, end).flatMap(resultsIn);
  const mine = results.filter((result) => result.id === id);
  return (mine.find((result) => !result.isSpare) ?? mine[0])?.content;
}

function resultsIn(
  entry: GeneratedEntry,
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

export function callIdsOf(entry: GeneratedEntry): readonly string[] {
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

function isAssistant(entry: GeneratedEntry): boolean {
  return entry.kind === "message" && ["assistant", "timmy", "model"].includes(entry.role as string);
}

/** A user's message that holds nothing but results of tools is not the user's. */
export function isUser(entry: GeneratedEntry): boolean {
  if (entry.kind !== "message" || entry.role !== "user") return false;
  const results = partsOf(entry.content).filter((part) => part.type === "tool_result");
  return results.length === 0 || (spokenBy(entry) as readonly unknown[]).length > 0;
}

export function resultIdsOf(entry: GeneratedEntry): readonly unknown[] {
  return resultsIn(entry).map((result) => result.id);
}

/** Content without calls, results and thinking. */
function spokenBy(entry: GeneratedEntry): unknown {
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
