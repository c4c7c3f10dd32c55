// Turns a session's entries into transcript lines: messages, tool calls with results, and marks.
import { contentTexts } from "../../src/model/content.js";
import { messageParts } from "../../src/model/content-parts.js";
import { type CallStep, pairCalls } from "../../src/model/same-calls.js";
import type { Row, Session } from "../api.js";
import { isFailed, isLowConfidence, speakerOf } from "../format.js";

type EntryOf<K extends Row["kind"]> = Extract<Row, { readonly kind: K }>;
type Message = EntryOf<"message">;
type ToolCall = EntryOf<"tool_call">;

/** A tool call with its result, however it was recorded. */
export interface Call {
  readonly position: number;
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
  /** Undefined while the call runs, and if no result was recorded. */
  readonly result: unknown;
  readonly failed: boolean;
  readonly duration_ms: number | undefined;
}

interface Common {
  /** Position of the first entry: the scroll target and the URL fragment. */
  readonly key: number;
  /** Positions of all entries shown in this line. */
  readonly positions: readonly number[];
  readonly at: string;
}

export type Line =
  | (Common & { readonly is: "day" })
  | (Common & {
      readonly is: "speech";
      readonly entry: Row;
      readonly calls: readonly Call[];
      readonly withdrawn: boolean;
    })
  /** `answer` is the newest assistant message without text among the calls; its context can be opened here. */
  | (Common & { readonly is: "calls"; readonly calls: readonly Call[]; answer: Row | undefined })
  | (Common & { readonly is: "raw"; readonly entries: readonly Row[] })
  | (Common & { readonly is: "mark"; readonly entry: Row })
  | (Common & { readonly is: "subagent"; readonly session: Session });

/** Lines that the session map marks and that keys jump to. */
export type Notable = "error" | "unsure" | "decision" | undefined;

export interface Transcript {
  readonly lines: readonly Line[];
  readonly lineByPosition: ReadonlyMap<number, number>;
  readonly notables: readonly { readonly line: number; readonly what: Exclude<Notable, undefined> }[];
  /** The newest score of each rated entry, by entry id. */
  readonly scoreById: ReadonlyMap<string, number>;
}

const MARKS: ReadonlySet<string> = new Set(["consolidation", "clear", "withdrawal", "redaction", "session_info"]);

/** Unchanged lines of the previous layout are returned as the same objects, so React does not render them again. */
export function toTranscript(
  entries: readonly Row[],
  subagents: readonly Session[] = [],
  before: readonly Line[] = [],
): Transcript {
  const related = relateEntries(entries);
  const waiting = subagents.toSorted((one, other) => one.first_at.localeCompare(other.first_at));
  const lines: Line[] = [];
  let day = "";
  let minute = "";
  let today = "";
  for (const entry of entries) {
    while (waiting[0] !== undefined && waiting[0].first_at < entry.created_at) lines.push(subagentLine(waiting, entry));
    // Converting every entry's time to a date would dominate the layout; once a minute is enough.
    if (minute !== entry.created_at.slice(0, 16)) {
      minute = entry.created_at.slice(0, 16);
      today = new Date(entry.created_at).toDateString();
    }
    if (today !== day && !related.isShownElsewhere(entry)) {
      day = today;
      lines.push({ is: "day", key: -entry.position, positions: [], at: entry.created_at });
    }
    addEntry(lines, entry, related);
  }
  attachSilentAnswers(lines, related);
  const last = entries.at(-1);
  while (waiting.length > 0 && last !== undefined) lines.push(subagentLine(waiting, last));
  return toIndexed(reuseLines(lines, before), related);
}

/** Entries are mostly added at the end, or at the beginning while a session loads backwards. */
function reuseLines(lines: readonly Line[], before: readonly Line[]): readonly Line[] {
  const first = before[0]?.key;
  const shift = first === undefined ? -1 : lines.findIndex(({ key }) => key === first);
  if (shift === -1) return lines;
  return lines.map((line, at) => {
    const old = before[at - shift];
    return old !== undefined && isSameLine(line, old) ? old : line;
  });
}

function isSameLine(line: Line, old: Line): boolean {
  if (line.is !== old.is || line.key !== old.key || line.positions.length !== old.positions.length) return false;
  switch (line.is) {
    case "speech": {
      const { entry, withdrawn, calls } = old as typeof line;
      return line.entry === entry && line.withdrawn === withdrawn && areSameCalls(line.calls, calls);
    }
    case "calls": {
      const { answer, calls } = old as typeof line;
      return line.answer === answer && areSameCalls(line.calls, calls);
    }
    case "subagent":
      return line.session === (old as typeof line).session;
    default:
      return true;
  }
}

/** A result may arrive after its call. */
function areSameCalls(calls: readonly Call[], old: readonly Call[]): boolean {
  return calls.length === old.length && calls.every((call, at) => call.result === old[at]?.result);
}

function subagentLine(waiting: Session[], after: Row): Line {
  const session = waiting.shift() as Session;
  // Fractions between two positions keep keys unique when several subagents start in one place.
  const key = after.position - 0.5 + waiting.length / 10_000;
  return { is: "subagent", key, positions: [], at: session.first_at, session };
}

type RelatedEntries = ReturnType<typeof relateEntries>;

/** Relates entries that belong together: calls and results, interactions and responses, withdrawals and messages. */
function relateEntries(entries: readonly Row[]) {
  const calledByEntry = new Set<string>();
  const calledByMessage = new Set<string>();
  const resultByCall = new Map<string, Message>();
  const interactions = new Set<string>();
  const responseByInteraction = new Map<string, EntryOf<"response">>();
  const withdrawn = new Set<number>();
  const scoreById = new Map<string, number>();
  const titles: number[] = [];
  for (const entry of entries) {
    if (entry.kind === "session_info" && entry.title !== "") titles.push(entry.position);
    if (entry.kind === "tool_call" && entry.tool_call_id !== "") calledByEntry.add(entry.tool_call_id);
    else if (entry.kind === "interaction") interactions.add(entry.id);
    else if (entry.kind === "response") responseByInteraction.set(entry.interaction_id, entry);
    else if (entry.kind === "withdrawal") withdrawn.add(entry.withdraws);
    else if (entry.kind === "feedback" && entry.score !== undefined) scoreById.set(entry.entry_id, entry.score);
    else if (entry.kind === "message") {
      if (speakerOf(entry) === "tool" && entry.tool_call_id !== "") resultByCall.set(entry.tool_call_id, entry);
      for (const call of entry.tool_calls) if (typeof call.id === "string") calledByMessage.add(call.id);
    }
  }
  const { messageOf } = pairCalls(interactions.size === 0 ? [] : entries.flatMap(toStep));
  /** Whether another entry's line shows this entry. */
  const isShownElsewhere = (entry: Row): boolean => {
    // The message says what was said; what the model was given is the same from either.
    if (entry.kind === "interaction") return messageOf.has(entry.position);
    if (entry.kind === "response") return interactions.has(entry.interaction_id);
    // The session's head shows its first title; only later changes get a line.
    if (entry.kind === "session_info") return entry.title === "" || entry.position === titles[0];
    if (entry.kind !== "message") return false;
    if (speakerOf(entry) === "tool") return calledByMessage.has(entry.tool_call_id);
    return isOnlyCalling(entry);
  };
  /** Whether the message holds only calls that have lines of their own. */
  const isOnlyCalling = ({ tool_calls, content, extra, confidence }: Message): boolean =>
    tool_calls.length > 0 &&
    confidence === undefined &&
    tool_calls.every(({ id }) => typeof id === "string" && calledByEntry.has(id)) &&
    messageParts({ content, extra }).length === 0;
  /** Assistant messages without text, until the line of their calls exists. */
  const silent: Message[] = [];
  return { calledByEntry, resultByCall, responseByInteraction, withdrawn, scoreById, isShownElsewhere, silent };
}

/** Lists have the beginning of a response. */
const COMPARED_CHARS = 1_000;

/** What identifies the call that an entry tells of. */
function toStep(entry: Row): readonly CallStep[] {
  if (entry.kind !== "interaction" && entry.kind !== "message") return [];
  const { position, extra } = entry;
  const answer = typeof extra.message_id === "string" ? extra.message_id : undefined;
  const idsIn = (calls: unknown): readonly string[] =>
    Array.isArray(calls) ? calls.flatMap((call) => (typeof call?.id === "string" ? [call.id as string] : [])) : [];
  if (entry.kind === "interaction") {
    const said = comparedText(entry.response_excerpt ?? "");
    return [
      { position, by: "interaction", answer, calls: idsIn(extra.tool_calls), said, asked: comparedText(entry.prompt) },
    ];
  }
  const speaker = speakerOf(entry);
  const said = comparedText(contentTexts(entry.content).join("\n"));
  if (speaker === "user") return [{ position, by: "user", asked: said }];
  if (speaker !== "assistant") return [];
  const blocks = Array.isArray(entry.content) ? entry.content : [];
  const calls = [...idsIn(entry.tool_calls), ...idsIn(blocks.filter((block) => Object(block).type === "tool_use"))];
  return [{ position, by: "message", answer, calls, said }];
}

function comparedText(text: string): string | undefined {
  const plain = text.slice(0, COMPARED_CHARS).replace(/\s+/g, " ").trim();
  return plain === "" ? undefined : plain;
}

/** Runs of calls grow in place: copying the line for each of 100,000 entries would be quadratic. */
function addEntry(lines: Line[], entry: Row, related: RelatedEntries): void {
  const last = lines.at(-1);
  if (related.isShownElsewhere(entry)) {
    if (entry.kind === "message" && speakerOf(entry) !== "tool") {
      related.silent.push(entry);
      return;
    }
    // A link to this position still works: it leads to the line before, unless the line that shows the entry claims it.
    if (last !== undefined) (last.positions as number[]).push(entry.position);
    return;
  }
  const common = { key: entry.position, positions: [entry.position], at: entry.created_at };
  if (entry.kind === "tool_call") {
    if (last?.is !== "calls") lines.push({ is: "calls", ...common, calls: [toCall(entry)], answer: undefined });
    else extendLine(last.positions, entry.position, last.calls, toCall(entry));
    attachSilentAnswers(lines, related);
  } else if (entry.kind === "raw") {
    if (last?.is !== "raw") lines.push({ is: "raw", ...common, entries: [entry] });
    else extendLine(last.positions, entry.position, last.entries, entry);
  } else if (MARKS.has(entry.kind)) {
    lines.push({ is: "mark", ...common, entry });
  } else {
    const calls = entry.kind === "message" ? callsOf(entry, related) : [];
    const response = entry.kind === "interaction" ? related.responseByInteraction.get(entry.id) : undefined;
    const shown = response === undefined ? calls : [...calls, response];
    const positions = [entry.position, ...shown.map(({ position }) => position)];
    const withdrawn = related.withdrawn.has(entry.position);
    lines.push({ is: "speech", ...common, positions, entry: withResponse(entry, related), calls, withdrawn });
  }
}

/** Attaches assistant messages without text to the last line, usually that of their calls. */
function attachSilentAnswers(lines: readonly Line[], { silent }: RelatedEntries): void {
  const last = lines.at(-1);
  if (last === undefined || silent.length === 0) return;
  if (last.is === "calls") last.answer = silent.at(-1);
  (last.positions as number[]).push(...silent.splice(0).map(({ position }) => position));
}

function extendLine<T>(positions: readonly number[], position: number, items: readonly T[], item: T): void {
  (positions as number[]).push(position);
  (items as T[]).push(item);
}

/** Adds a response that was recorded after its interaction was listed. */
function withResponse(entry: Row, { responseByInteraction }: RelatedEntries): Row {
  const response = entry.kind === "interaction" ? responseByInteraction.get(entry.id) : undefined;
  if (entry.kind !== "interaction" || response === undefined || entry.response_chars > 0) return entry;
  const { response_chars, response_excerpt = "", error, latency_ms = 0 } = response;
  return { ...entry, response_chars, response_excerpt, error, latency_ms };
}

function toCall(entry: ToolCall): Call {
  const { position, id, tool, args, result, is_error, duration_ms } = entry;
  return { position, id, tool, args, result, failed: is_error === true, duration_ms };
}

/** The calls of a message that have no entry of their own. */
function callsOf(message: Message, related: RelatedEntries): readonly Call[] {
  return message.tool_calls.flatMap((call) => {
    const id = typeof call.id === "string" ? call.id : "";
    if (related.calledByEntry.has(id)) return [];
    const called = call.function as { readonly name?: unknown; readonly arguments?: unknown } | null | undefined;
    const answer = related.resultByCall.get(id);
    return [
      {
        position: answer?.position ?? message.position,
        id: answer?.id ?? message.id,
        tool: [called?.name, call.name].find((name) => typeof name === "string") ?? "a tool",
        args: parsed(called?.arguments ?? call.input ?? {}),
        result: answer?.content,
        failed: false,
        duration_ms: undefined,
      },
    ];
  });
}

/** Arguments are usually JSON in a string. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function toIndexed(lines: readonly Line[], { scoreById }: RelatedEntries): Transcript {
  const lineByPosition = new Map<number, number>();
  const notables: { line: number; what: Exclude<Notable, undefined> }[] = [];
  for (const [at, line] of lines.entries()) {
    for (const position of line.positions) if (!lineByPosition.has(position)) lineByPosition.set(position, at);
    const what = notableIn(line);
    if (what !== undefined) notables.push({ line: at, what });
  }
  return { lines, lineByPosition, notables, scoreById };
}

export function notableIn(line: Line): Notable {
  if (line.is === "calls") return line.calls.some(({ failed }) => failed) ? "error" : undefined;
  if (line.is !== "speech") return undefined;
  if (isFailed(line.entry) || line.calls.some(({ failed }) => failed)) return "error";
  if (isLowConfidence(line.entry)) return "unsure";
  return line.entry.kind === "decision" ? "decision" : undefined;
}

/** Whether a conversation turn begins here. */
export function isTurn(line: Line): boolean {
  return line.is === "speech" && speakerOf(line.entry) === "user";
}
