// Looks at a store after the fact: nothing acknowledged is missing, nothing is half there, and the index is right.
import { expect } from "vitest";
import { type EntryCounts, type ListedEntry, openRecorder, type Recorder } from "../../src/index.js";
import { batchOf, entryOf } from "./made-entries.js";

/** Opens the store as the next process would, and returns how many entries it holds. */
export async function auditStore(data: string, acknowledged: Iterable<string>): Promise<number> {
  const recorder = await openRecorder({ data });
  try {
    const verification = await recorder.verify();
    expect(verification).toMatchObject({ ok: true });
    const live = await indexAnswers(recorder);
    const entriesById = new Map(live.entries.map((entry) => [entry.id, entry]));
    const positions = live.entries.map(({ position }) => position).toSorted((left, right) => left - right);
    expect(positions).toEqual(positions.map((_, index) => index + 1));
    expect(verification).toMatchObject({ entries: positions.length, position: positions.length });
    expect([...acknowledged].filter((id) => !entriesById.has(id))).toEqual([]);
    for (const entry of live.entries) expectWhole(entry);
    expectWholeBatches(entriesById.keys());
    await recorder.rebuildIndex();
    expect(await indexAnswers(recorder)).toEqual(live);
    return positions.length;
  } finally {
    await recorder.close();
  }
}

/** Compared field by field only where something differs: there are many thousands. */
function expectWhole(entry: ListedEntry): void {
  const expected = Object.entries(entryOf(entry.id));
  const found = entry as unknown as { readonly [name: string]: unknown };
  if (expected.some(([name, value]) => JSON.stringify(found[name]) !== JSON.stringify(value))) {
    expect(entry).toMatchObject(entryOf(entry.id));
  }
}

function expectWholeBatches(ids: Iterable<string>): void {
  const found = new Map<string, number>();
  const sizes = new Map<string, number>();
  for (const id of ids) {
    const of = batchOf(id);
    if (of === undefined) continue;
    found.set(of.batch, (found.get(of.batch) ?? 0) + 1);
    sizes.set(of.batch, of.size);
  }
  expect([...sizes].filter(([batch, size]) => found.get(batch) !== size)).toEqual([]);
}

interface IndexAnswers {
  readonly entries: readonly ListedEntry[];
  readonly counts: EntryCounts;
  readonly usingMemory: readonly string[];
}

async function indexAnswers(recorder: Recorder): Promise<IndexAnswers> {
  const entries: ListedEntry[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await recorder.listEntries({ limit: 500, cursor });
    entries.push(...page.entries);
    cursor = page.next_cursor;
  }
  const memories = [...new Set(entries.map(({ id }) => `memory-${id.length}`))];
  const lists = memories.map((memory) => recorder.listInteractions({ memory, limit: 500 }));
  const usingMemory = (await Promise.all(lists)).flatMap(({ interactions }) => interactions.map(({ id }) => id));
  return { entries, counts: await recorder.count(), usingMemory };
}
