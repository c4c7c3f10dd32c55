// Whether something was erased since: what is kept in memory of an index is then read again.
import type { EntryIndex } from "./port.js";
import { HAS_REPLACED } from "./references.js";

/** A clock may have run ahead, so the latest by time need not be the newest. */
const LATEST = 50;

/** A position that changes whenever entries are erased or replaced; 0 if none ever were. */
export async function erasedThrough(index: Pick<EntryIndex, "list">): Promise<number> {
  const redactions = await index.list({ filter: { kinds: ["redaction"] }, limit: LATEST });
  const replaced = await index.list({ filter: { kinds: ["audit"], references: [HAS_REPLACED] }, limit: LATEST });
  return Math.max(0, ...[...redactions, ...replaced].map(({ position }) => position));
}
