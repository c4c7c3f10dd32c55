// Entries in tables: the line that stands for an entry, who said it, and the colour of its kind.
import { valueText } from "../../../model/content.js";
import { answeredCalls, messageText } from "../../../model/content-parts.js";
import type { EntrySummary, Kind, ListedEntry } from "../../../model/entry.js";
import { ALTERED_WORDS, applyByKind, type ByKind, isAltered } from "../../../model/entry.js";
import { reinforcedWords, verdictWords } from "../../../model/memory.js";
import { speakerOf } from "../../../model/roles.js";
import { feedbackWords } from "../../../model/states.js";
import { localTime } from "../local-times.js";
import { countOf } from "./table.js";
import { type Colours, cleanLine } from "./terminal.js";

/** The fields that say most about an entry of each kind. */
const lineByKind: ByKind<EntrySummary, string> = {
  interaction: (entry) => `${answerMark(entry)}${cleanLine(entry.prompt)}`,
  response: (entry) => cleanLine(entry.response_summary) || countOf(entry.response_chars, "character", "characters"),
  message: (entry) => cleanLine(messageText(entry)),
  tool_call: (entry) => `${entry.tool}${entry.is_error === true ? " failed" : ""} → ${valueLine(entry.result)}`,
  error: (entry) => entry.error,
  decision: (entry) => entry.decision,
  consolidation: (entry) => `through #${entry.through}: ${entry.summary}`,
  clear: () => "history starts again after this",
  withdrawal: (entry) => `removes #${entry.withdraws} from history`,
  feedback: (entry) => `${entry.entry_id}: ${feedbackWords(entry)}`,
  session_info: (entry) => entry.title || valueLine(entry.metadata),
  raw: (entry) => `${entry.source} ${valueLine(entry.record)}`,
  audit: (entry) => `${entry.action} by ${entry.actor}${entry.target === "" ? "" : `: ${entry.target}`}`,
  redaction: (entry) => `${countOf(entry.positions.length, "entry", "entries")} forgotten: ${entry.reason}`,
  memory_proposed: (entry) => `${entry.type} (${entry.source}): ${entry.content}`,
  memory_edited: (entry) => entry.content || `evidence for ${entry.memory_id}`,
  memory_promoted: verdictWords,
  memory_rejected: verdictWords,
  memory_superseded: verdictWords,
  memory_reinforced: reinforcedWords,
};

/** The line of an entry, without who said it. */
export function entryLine(entry: ListedEntry): string {
  if (isAltered(entry)) return ALTERED_WORDS;
  return cleanLine(applyByKind(lineByKind, entry) ?? "");
}

/** Who speaks in an entry: the speaker of a message, otherwise the kind. */
export function whoOf(entry: { readonly kind: string; readonly role?: string; readonly injected?: string }): string {
  const { kind, role, injected = "" } = entry;
  return kind === "message" && role !== undefined ? speakerOf({ role, injected }) : cleanLine(kind);
}

type Colour = "cyan" | "green" | "yellow" | "red" | "magenta" | "dim";

const colourByKind: { readonly [K in Kind]: Colour } = {
  interaction: "cyan",
  response: "cyan",
  message: "green",
  tool_call: "yellow",
  error: "red",
  decision: "magenta",
  consolidation: "dim",
  clear: "dim",
  withdrawal: "dim",
  feedback: "magenta",
  session_info: "dim",
  raw: "dim",
  audit: "dim",
  redaction: "dim",
  memory_proposed: "magenta",
  memory_edited: "dim",
  memory_promoted: "magenta",
  memory_rejected: "magenta",
  memory_superseded: "magenta",
  memory_reinforced: "dim",
};

/** Also for unknown kinds, which a later version may have written. */
export function kindColour(kind: string, colours: Colours): (text: string) => string {
  return colours[Object.hasOwn(colourByKind, kind) ? colourByKind[kind as Kind] : "dim"];
}

function answerMark(entry: Extract<EntrySummary, { readonly kind: "interaction" }>): string {
  const { response_chars, error, extra } = entry;
  if (error !== "") return "(failed) ";
  if (response_chars > 0) return "";
  const names = answeredCalls(extra ?? {}).flatMap((piece) => (piece.is === "call" ? [cleanLine(piece.name)] : []));
  return names.length === 0 ? "(no response) " : `(calls ${[...new Set(names)].join(", ")}) `;
}

function valueLine(value: unknown): string {
  return cleanLine(valueText(value));
}

/** A time on this machine's clock, to the minute. */
export function shortTime(time: string, options: { readonly year: boolean }): string {
  return localTime(time, options);
}
