// Entries in words: the one line that stands for an entry in a table, and the colour of its kind.
import type { EntrySummary, ReadKind } from "../../model/entry.js";
import { countOf, formatCount } from "./table.js";
import { type Colours, cleanLine } from "./terminal.js";

type SummaryOf<K extends ReadKind> = Extract<EntrySummary, { readonly kind: K }>;

/** Which fields say most about an entry of each kind. */
const lineByKind: { readonly [K in ReadKind]: (entry: SummaryOf<K>) => string } = {
  interaction: (entry) => `${entry.response_chars === 0 ? "(no response) " : ""}${cleanLine(entry.prompt)}`,
  response: (entry) => cleanLine(entry.response_summary) || `${formatCount(entry.response_chars)} characters`,
  message: (entry) => `${entry.role}: ${contentLine(entry)}`,
  tool_call: (entry) => `${entry.tool}${entry.is_error === true ? " failed" : ""} → ${valueLine(entry.result)}`,
  error: (entry) => entry.error,
  decision: (entry) => entry.decision,
  consolidation: (entry) => `through ${entry.through} ${entry.summary}`,
  clear: () => "history starts anew after this",
  session_info: (entry) => entry.title || valueLine(entry.metadata),
  raw: (entry) => `${entry.source} ${valueLine(entry.record)}`,
  audit: (entry) => `${entry.action} by ${entry.actor}${entry.target === "" ? "" : `: ${entry.target}`}`,
  redaction: (entry) => `${countOf(entry.positions.length, "entry", "entries")} forgotten: ${entry.reason}`,
};

export function entryLine(entry: EntrySummary): string {
  // Kinds of memories have no line of their own yet.
  const line = lineByKind[entry.kind] as ((entry: EntrySummary) => string) | undefined;
  return cleanLine(line?.(entry) ?? "");
}

export function kindColour(kind: string, colours: Colours): (text: string) => string {
  switch (kind) {
    case "interaction":
    case "response":
      return colours.cyan;
    case "message":
      return colours.green;
    case "tool_call":
      return colours.yellow;
    case "error":
      return colours.red;
    case "decision":
      return colours.magenta;
    default:
      return colours.dim;
  }
}

function contentLine(entry: SummaryOf<"message">): string {
  if (typeof entry.content === "string" && entry.content !== "") return cleanLine(entry.content);
  if (entry.content.length === 0) return `calls ${entry.tool_calls.map(toolName).join(", ")}`;
  return valueLine(entry.content);
}

function toolName(call: { readonly [key: string]: unknown }): string {
  const { function: called } = call as { readonly function?: { readonly name?: unknown } };
  return typeof called?.name === "string" ? called.name : "a tool";
}

function valueLine(value: unknown): string {
  return typeof value === "string" ? cleanLine(value) : cleanLine(JSON.stringify(value));
}

/** A time as people read it, in UTC: as much of it as tells the shown entries apart. */
export function shortTime(time: string, options: { readonly year: boolean }): string {
  return time.slice(options.year ? 0 : 5, 16).replace("T", " ");
}
