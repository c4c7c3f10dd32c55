// The entries that a finding rests on: a bounded list, however many there are.
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
