// How the suite fills an index: as an indexer does that has it for itself.
import type { EntryIndex, EntryRow, IndexBatch } from "../ports/entry-index.js";

/** Applies a batch where the index stands at this moment. */
export async function fill(index: EntryIndex, batch: Omit<IndexBatch, "after">): Promise<void> {
  await index.apply({ ...batch, after: await index.standing() });
}

/** Applies rows whose positions have no gap, so many at a time, whoever else does so at the same time. */
export async function fillAll(index: EntryIndex, rows: readonly EntryRow[], size: number): Promise<void> {
  for (;;) {
    const after = await index.standing();
    if (after.position >= rows.length) return;
    const batch = rows.slice(after.position, after.position + size);
    await index.apply({ after, rows: batch, through: after.position + batch.length });
  }
}
