// What is known about a log outside of it, held against the log: one that is shorter than it was, or holds something else at
// a place that was known, was cut off or exchanged. The chain alone does not show that.
import { hexOf } from "../model/hex.js";
import type { Contradiction, KnownHead } from "../model/verification.js";
import type { EntryLog } from "./port.js";

/** The first position of which something else was known; undefined where the log holds everything. */
export async function contradictionOf(log: EntryLog, known: readonly KnownHead[]): Promise<Contradiction | undefined> {
  if (known.length === 0) return undefined;
  const head = await log.head();
  const stored = await log.get(known.map(({ position }) => position));
  const contradictions = known.flatMap((one, nth): readonly Contradiction[] => {
    if (one.log_id !== head.log_id) return [{ position: 1, known: one }];
    if (one.position > head.position) return [{ position: head.position + 1, known: one }];
    const found = stored[nth];
    const isHeld = found !== undefined && hexOf(found.hash) === one.hash;
    return isHeld || one.position === 0 ? [] : [{ position: one.position, known: one }];
  });
  return contradictions.toSorted((left, right) => left.position - right.position)[0];
}

/** The same in a sentence for people. */
export function contradictionText(
  { known }: Contradiction,
  log: { readonly log_id: string; readonly position: number },
): string {
  const by = { index: "its index", seal: "its newest seal" }[known.by];
  if (known.log_id !== log.log_id)
    return `another log lies in its place: ${by} knows of one with the id ${known.log_id}`;
  if (log.position < known.position) {
    return `the log was cut off: ${by} knows of entries through ${known.position}, and it ends at ${log.position}`;
  }
  return `the log was written anew: ${by} knows of another entry at position ${known.position}`;
}
