// A session's entries as the lines of its transcript: who spoke, what was called and what came of it, what was marked.
import { messageParts } from "../../src/model/content-parts.js";
import type { Row, Session } from "../api.js";
import { isFailed, isUnsure, speakerOf } from "../words.js";

type EntryOf<K extends Row["kind"]> = Extract<Row, { readonly kind: K }>;
type Message = EntryOf<"message">;
type ToolCall = EntryOf<"tool_call">;

/** A call of a tool, wherever it was recorded, and what came of it. */
export interface Call {
  readonly position: number;
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
  /** Undefined while nothing came of it, or nobody recorded what did. */
  readonly result: unknown;
  readonly failed: boolean;
  readonly duration_ms: number | undefined;
}

interface Common {
  /** The position of its first entry: what is scrolled to, and what the address names. */
  readonly key: number;
  /** All entries that it shows. */
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
  /** With the newest answer that said nothing, and called: what it was given can be asked for. */
  | (Common & { readonly is: "calls"; readonly calls: readonly Call[]; answer: Row | undefined })
  | (Common & { readonly is: "raw"; readonly entries: readonly Row[] })
  | (Common & { readonly is: "mark"; readonly entry: Row })
  | (Common & { readonly is: "subagent"; readonly session: Session });

/** What the margin's map and the jumps look for. */
export type Notable = "error" | "unsure" | "decision" | undefined;

export interface Transcript {
  readonly lines: readonly Line[];
  readonly lineByPosition: ReadonlyMap<number, number>;
  readonly notables: readonly { readonly line: number; readonly what: Exclude<Notable, undefined> }[];
  /** What was thought of entries, by their ids: the newest score. */
  readonly scoreById: ReadonlyMap<string, number>;
}

const MARKS: ReadonlySet<string> = new Set(["consolidation", "clear", "withdrawal", "redaction", "session_info"]);

/** With what was laid out before, lines that are as they were stay the same objects, so that none of them is drawn anew. */
export function toTranscript(
  entries: readonly Row[],
  subagents: readonly Session[] = [],
  before: readonly Line[] = [],
): Transcript {
  const known = survey(entries);
  const waiting = subagents.toSorted((one, other) => one.first_at.localeCompare(other.first_at));
  const lines: Line[] = [];
  let day = "";
  let minute = "";
  let today = "";
  for (const entry of entries) {
    while (waiting[0] !== undefined && waiting[0].first_at < entry.created_at) lines.push(subagentLine(waiting, entry));
    // A day begins with a minute; asking each entry for its day would take longer than all else.
    if (minute !== entry.created_at.slice(0, 16)) {
      minute = entry.created_at.slice(0, 16);
      today = new Date(entry.created_at).toDateString();
    }
    if (today !== day && !known.isShownElsewhere(entry)) {
      day = today;
      lines.push({ is: "day", key: -entry.position, positions: [], at: entry.created_at });
    }
    addEntry(lines, entry, known);
  }
  settle(lines, known);
  const last = entries.at(-1);
  while (waiting.length > 0 && last !== undefined) lines.push(subagentLine(waiting, last));
  return gather(kept(lines, before), known);
}

/** What comes is mostly added at the end, and what was loaded last at the beginning. */
function kept(lines: readonly Line[], before: readonly Line[]): readonly Line[] {
  const first = before[0]?.key;
  const shift = first === undefined ? -1 : lines.findIndex(({ key }) => key === first);
  if (shift === -1) return lines;
  return lines.map((line, at) => {
    const old = before[at - shift];
    return old !== undefined && isAlike(line, old) ? old : line;
  });
}

function isAlike(line: Line, old: Line): boolean {
  if (line.is !== old.is || line.key !== old.key || line.positions.length !== old.positions.length) return false;
  switch (line.is) {
    case "speech": {
      const { entry, withdrawn, calls } = old as typeof line;
      return line.entry === entry && line.withdrawn === withdrawn && areAlike(line.calls, calls);
    }
    case "calls": {
      const { answer, calls } = old as typeof line;
      return line.answer === answer && areAlike(line.calls, calls);
    }
    case "subagent":
      return line.session === (old as typeof line).session;
    default:
      return true;
  }
}

/** What came of a call may come later. */
function areAlike(calls: readonly Call[], old: readonly Call[]): boolean {
  return calls.length === old.length && calls.every((call, at) => call.result === old[at]?.result);
}

function subagentLine(waiting: Session[], beside: Row): Line {
  const session = waiting.shift() as Session;
  // Halves between positions: several may stand in one place, and a key is one line's alone.
  const key = beside.position - 0.5 + waiting.length / 10_000;
  return { is: "subagent", key, positions: [], at: session.first_at, session };
}

type Survey = ReturnType<typeof survey>;

/** What belongs together although it lies apart: calls and results, interactions and responses, words taken back. */
function survey(entries: readonly Row[]) {
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
  /** Whether the line of another entry shows it. */
  const isShownElsewhere = (entry: Row): boolean => {
    if (entry.kind === "response") return interactions.has(entry.interaction_id);
    // The head of the session has its title; only that it was changed is told in its place.
    if (entry.kind === "session_info") return entry.title === "" || entry.position === titles[0];
    if (entry.kind !== "message") return false;
    if (speakerOf(entry) === "tool") return calledByMessage.has(entry.tool_call_id);
    return isOnlyCalling(entry);
  };
  /** Whether there is nothing in it but calls that have lines of their own. */
  const isOnlyCalling = ({ tool_calls, content, extra, confidence }: Message): boolean =>
    tool_calls.length > 0 &&
    confidence === undefined &&
    tool_calls.every(({ id }) => typeof id === "string" && calledByEntry.has(id)) &&
    messageParts({ content, extra }).length === 0;
  /** Answers that said nothing, until the line of their calls is there. */
  const silent: Message[] = [];
  return { calledByEntry, resultByCall, responseByInteraction, withdrawn, scoreById, isShownElsewhere, silent };
}

/** Runs grow in place: a copy for each of a hundred thousand would take longer than all else. */
function addEntry(lines: Line[], entry: Row, known: Survey): void {
  const last = lines.at(-1);
  if (known.isShownElsewhere(entry)) {
    if (entry.kind === "message" && speakerOf(entry) !== "tool") {
      known.silent.push(entry);
      return;
    }
    // Its address still leads somewhere: to the line before it, unless the line that shows it has it too.
    if (last !== undefined) (last.positions as number[]).push(entry.position);
    return;
  }
  const common = { key: entry.position, positions: [entry.position], at: entry.created_at };
  if (entry.kind === "tool_call") {
    if (last?.is !== "calls") lines.push({ is: "calls", ...common, calls: [toCall(entry)], answer: undefined });
    else grow(last.positions, entry.position, last.calls, toCall(entry));
    settle(lines, known);
  } else if (entry.kind === "raw") {
    if (last?.is !== "raw") lines.push({ is: "raw", ...common, entries: [entry] });
    else grow(last.positions, entry.position, last.entries, entry);
  } else if (MARKS.has(entry.kind)) {
    lines.push({ is: "mark", ...common, entry });
  } else {
    const calls = entry.kind === "message" ? callsOf(entry, known) : [];
    const response = entry.kind === "interaction" ? known.responseByInteraction.get(entry.id) : undefined;
    const shown = response === undefined ? calls : [...calls, response];
    const positions = [entry.position, ...shown.map(({ position }) => position)];
    const withdrawn = known.withdrawn.has(entry.position);
    lines.push({ is: "speech", ...common, positions, entry: answered(entry, known), calls, withdrawn });
  }
}

/** Hands answers that said nothing to the last line: mostly that of their calls. */
function settle(lines: readonly Line[], { silent }: Survey): void {
  const last = lines.at(-1);
  if (last === undefined || silent.length === 0) return;
  if (last.is === "calls") last.answer = silent.at(-1);
  (last.positions as number[]).push(...silent.splice(0).map(({ position }) => position));
}

function grow<T>(positions: readonly number[], position: number, items: readonly T[], item: T): void {
  (positions as number[]).push(position);
  (items as T[]).push(item);
}

/** An interaction whose response came while it was looked at. */
function answered(entry: Row, { responseByInteraction }: Survey): Row {
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
function callsOf(message: Message, known: Survey): readonly Call[] {
  return message.tool_calls.flatMap((call) => {
    const id = typeof call.id === "string" ? call.id : "";
    if (known.calledByEntry.has(id)) return [];
    const called = call.function as { readonly name?: unknown; readonly arguments?: unknown } | null | undefined;
    const answer = known.resultByCall.get(id);
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

/** Arguments come as the text of a JSON object, mostly. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function gather(lines: readonly Line[], { scoreById }: Survey): Transcript {
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
  if (isUnsure(line.entry)) return "unsure";
  return line.entry.kind === "decision" ? "decision" : undefined;
}

/** Whether a reader would say that something new begins here. */
export function isTurn(line: Line): boolean {
  return line.is === "speech" && (line.entry.kind === "interaction" || speakerOf(line.entry) === "user");
}
