// The entries that a finding rests on: a bounded list, however many there are.

import { contentTexts, valueText } from "../model/content.js";
import type { Entry } from "../model/entry.js";
import type { Citation } from "../model/report.js";

/** So many entries are cited for one finding, the newest; its count is exact all the same. */
export const CITED_MAX = 100;

export function citationOf(entry: Pick<Entry, "id" | "position">): Citation {
  return { id: entry.id, position: entry.position };
}

/** Adds a citation unless there are enough, or it was added last. */
export function cite(cited: Citation[], citation: Citation): void {
  const { length } = cited;
  if (length < CITED_MAX && cited[length - 1] !== citation) cited.push(citation);
}

/** The finding as JSON has it: its entries by id. */
export function withIds<T extends { readonly cited: readonly Citation[] }>(
  finding: T,
): Omit<T, "cited"> & { readonly entry_ids: readonly string[] } {
  const { cited, ...rest } = finding;
  return { ...rest, entry_ids: cited.map(({ id }) => id) };
}

// The one place where recorded text enters a report: on one line, and as much of it as a line shows.

/** What hides secrets in a text before any of it is shown. */
export type Mask = (text: string) => string;

const CHARS = 120;
/** Much more than is shown, so that no secret is cut in two before it can be told. */
const UNITS_LOOKED_AT = 2_000;

/** As much of a text as anything is said about. */
export function shown(text: string, mask: Mask): string {
  return mask(text.slice(0, UNITS_LOOKED_AT));
}

/** The first 120 code points, line breaks as spaces. */
export function excerpt(text: string, mask: Mask): string {
  const line = shown(text, mask)
    .slice(0, CHARS * 2 + 1)
    .replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, " ");
  return copyOf([...line].slice(0, CHARS).join(""));
}

/** The same text in memory of its own: a piece of a longer text would keep all of that text alive. */
export function copyOf(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

// What an entry says to reflection: what was answered, and what failed.

/** Why it failed, of an error or of an interaction without an answer; undefined of everything else. */
export function failureOf(entry: Entry): string | undefined {
  if (entry.kind === "error") return entry.error.trim() === "" ? entry.context : entry.error;
  return entry.kind === "interaction" && entry.error !== "" ? entry.error : undefined;
}

/** What somebody can have an opinion on: the answer where there is one. */
export function textOfAnswer(entry: Entry): string {
  switch (entry.kind) {
    case "interaction":
      return entry.response || entry.response_summary || entry.error || entry.prompt;
    case "message":
      return contentTexts(entry.content).join(" ");
    case "tool_call":
      return `${entry.tool} → ${valueText(entry.result)}`;
    case "error":
      return entry.error;
    case "decision":
      return entry.decision;
    default:
      return "";
  }
}
