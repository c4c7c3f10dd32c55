// How the suite fills an index: as an indexer does, with the documents that follow from the rows.
import { foldBatch } from "../../../src/index/folding.js";
import type { EntryIndex, EntryRow, IndexBatch } from "../../../src/index/port.js";

/** Applies a batch where the index stands at this moment, with documents of the check's own added to the folded ones. */
export async function fill(index: EntryIndex, batch: Omit<IndexBatch, "after">): Promise<void> {
  const after = await index.revision();
  const { put = [], removed = [] } = await foldBatch({ index, ...batch });
  await index.apply({
    ...batch,
    after,
    put: [...put, ...(batch.put ?? [])],
    removed: [...removed, ...(batch.removed ?? [])],
  });
}

/** Applies rows whose positions have no gap, so many at a time, even if others do so at the same time. */
export async function fillAll(index: EntryIndex, rows: readonly EntryRow[], size: number): Promise<void> {
  for (;;) {
    const after = await index.revision();
    if (after.position >= rows.length) return;
    const batch = rows.slice(after.position, after.position + size);
    const documents = await foldBatch({ index, rows: batch });
    await index.apply({ after, rows: batch, through: after.position + batch.length, ...documents });
  }
}
