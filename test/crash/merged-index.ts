// An index whose texts become unmerged and merged segments, and what programs do to it that may be killed.
import { SqliteIndex } from "../../src/engines/sqlite/index.js";

/** So many entries make several segments of each form: unmerged and merged. */
export const ENTRIES = 400;

export function openMerged(path: string): SqliteIndex {
  return SqliteIndex.open({ path, texts: { segment: { blocks: 6, entries: 20 }, few: 20 } });
}

/** A word that no other entry has, one that all have, and now and then a text that goes through several blocks. */
export function textsAt(position: number): readonly string[] {
  const long = Array.from({ length: 700 }, (_, at) => (position * (at + 7) * 7_919).toString(36)).join(" ");
  return [`unique-${position}- shared`, ...(position % 5 === 0 ? [long] : [])];
}

/** Gives the next texts as the indexer does, or else merges; false when neither is left to do. */
export async function advance(index: SqliteIndex): Promise<boolean> {
  const after = await index.textCheckpoint();
  if (after >= ENTRIES) return index.mergeTexts();
  const through = Math.min(after + 3, ENTRIES);
  const positions = Array.from({ length: through - after }, (_, at) => after + at + 1);
  const texts = positions.map((position) => ({ position, texts: textsAt(position) }));
  await index.applyTexts({ texts, after, through });
  await index.mergeTexts();
  return true;
}
