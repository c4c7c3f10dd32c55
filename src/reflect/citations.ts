// What a report takes from entries: citations, excerpts, and why an entry failed.

import { contentTexts, valueText } from "../model/content.js";
import type { Entry } from "../model/entry.js";
import type { Citation } from "../model/report.js";

/** A finding cites only the newest entries; its count is still exact. */
export const CITED_MAX = 100;

export function citationOf(entry: Pick<Entry, "id" | "position">): Citation {
  return { id: entry.id, position: entry.position };
}

/** Adds a citation unless there are enough, or it was the last one added. */
export function cite(cited: Citation[], citation: Citation): void {
  const { length } = cited;
  if (length < CITED_MAX && cited[length - 1] !== citation) cited.push(citation);
}

/** The finding with its entries by id, as it is returned. */
export function withIds<T extends { readonly cited: readonly Citation[] }>(
  finding: T,
): Omit<T, "cited"> & { readonly entry_ids: readonly string[] } {
  const { cited, ...rest } = finding;
  return { ...rest, entry_ids: cited.map(({ id }) => id) };
}

/** Hides secrets in a text before it is shown. */
export type Mask = (text: string) => string;

const CHARS = 120;
/** More than is shown, so no secret is cut in two before it is recognised. */
const UNITS_LOOKED_AT = 2_000;

/** The beginning of a text, masked. */
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

/** A copy: a slice would keep the whole text in memory. */
export function copyOf(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** The reason of an error or of a failed interaction; undefined for all other entries. */
export function failureOf(entry: Entry): string | undefined {
  if (entry.kind === "error") return entry.error.trim() === "" ? entry.context : entry.error;
  return entry.kind === "interaction" && entry.error !== "" ? entry.error : undefined;
}

/** What feedback on an entry is about: the answer if there is one. */
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
