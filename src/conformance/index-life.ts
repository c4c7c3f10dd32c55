// Checks of filling an index: each row once, whatever the batches, and the same answers after building it anew.
import { expect } from "vitest";
import type { EntryCounts, EntryIndex, EntryRow, RowKey } from "../ports/entry-index.js";
import { expectedCounts, expectedKeys, filterCombinations, memory, mixedRows, newRow } from "./index-samples.js";
import type { Check } from "./suite.js";

export const indexLifeChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "an empty index has applied nothing, lists nothing and counts nothing",
    run: async ({ open }) => {
      const index = await open();
      expect(await index.checkpoint()).toBe(0);
      expect(await answersOf(index)).toEqual({ keys: [], counts: expectedCounts([]) });
    },
  },
  {
    behaviour: "applying moves the checkpoint to `through`, also where the last entries have no row",
    run: async ({ open }) => {
      const index = await open();
      await index.apply({ rows: [newRow(1), newRow(3)], through: 3 });
      expect(await index.checkpoint()).toBe(3);
      await index.apply({ rows: [newRow(4)], through: 9 });
      expect(await index.checkpoint()).toBe(9);
      await index.apply({ rows: [], through: 12 });
      expect(await index.checkpoint()).toBe(12);
      expect((await answersOf(index)).keys.map(({ position }) => position)).toEqual([4, 3, 1]);
    },
  },
  {
    behaviour: "a batch that was applied before changes nothing",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(40, 1);
      await index.apply({ rows, through: 40 });
      const before = await answersOf(index);
      await index.apply({ rows, through: 40 });
      await index.apply({ rows: rows.slice(0, 10), through: 10 });
      expect(await index.checkpoint()).toBe(40);
      expect(await answersOf(index)).toEqual(before);
    },
  },
  {
    behaviour: "of a batch that overlaps with what was applied, only the new rows are",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(40, 2);
      await index.apply({ rows: rows.slice(0, 25), through: 25 });
      await index.apply({ rows: rows.slice(10), through: 40 });
      expect(await answersOf(index)).toEqual(expectedAnswers(rows));
    },
  },
  {
    behaviour: "a batch that continues what is no longer there is passed over, because it would leave a gap",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(40, 3);
      await index.apply({ rows: rows.slice(0, 25), after: 0, through: 25 });
      await index.reset();
      await index.apply({ rows: rows.slice(25), after: 25, through: 40 });
      expect(await index.checkpoint()).toBe(0);
      await index.apply({ rows: rows.slice(0, 25), after: 0, through: 25 });
      await index.apply({ rows: rows.slice(20), after: 20, through: 40 });
      expect(await answersOf(index)).toEqual(expectedAnswers(rows));
    },
  },
  {
    behaviour: "a row at or below the checkpoint is passed over, whatever it says now",
    run: async ({ open }) => {
      const index = await open();
      await index.apply({ rows: [newRow(1), newRow(2)], through: 2 });
      const before = await answersOf(index);
      await index.apply({
        rows: [newRow(2, { kind: "error", project: "other", references: [memory("m")] })],
        through: 2,
      });
      expect(await answersOf(index)).toEqual(before);
      expect(await index.list({ filter: { memory: "m" }, limit: 10 })).toEqual([]);
    },
  },
  {
    behaviour: "it remembers what it was made from, as of its checkpoint, until it is reset",
    run: async ({ open }) => {
      const index = await open();
      expect(await index.source()).toBeUndefined();
      const [first, second] = [
        { log_id: "log", position: 1, hash: "aa" },
        { log_id: "log", position: 2, hash: "bb" },
      ];
      await index.apply({ rows: [newRow(1)], through: 1, source: first });
      expect(await index.source()).toEqual(first);
      await index.apply({ rows: [newRow(2)], through: 2, source: second });
      await index.apply({ rows: [newRow(1)], through: 1, source: first });
      expect(await index.source()).toEqual(second);
      await index.reset();
      expect(await index.source()).toBeUndefined();
    },
  },
  {
    behaviour: "counts are by kind, project and session, and name the first and the last time",
    run: async ({ open }) => {
      const index = await open();
      const rows = [
        newRow(1, { created_ms: -5, project: "b", session_id: "s" }),
        newRow(2, { created_ms: 900, project: "b", kind: "error" }),
        newRow(3, { created_ms: 20, project: "a", session_id: "t" }),
        newRow(4, { created_ms: 20, session_id: "s" }),
      ];
      await index.apply({ rows, through: 4 });
      expect(await index.count()).toEqual({
        entries: 4,
        sessions: 2,
        by_kind: { interaction: 3, error: 1 },
        projects: [
          { project: "b", entries: 2 },
          { project: "", entries: 1 },
          { project: "a", entries: 1 },
        ],
        first_ms: -5,
        last_ms: 900,
      });
    },
  },
  {
    behaviour: "counts grow with every batch",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(60, 3);
      for (let applied = 0; applied < rows.length; applied += 12) {
        await index.apply({ rows: rows.slice(applied, applied + 12), through: applied + 12 });
        expect(await index.count()).toEqual(expectedCounts(rows.slice(0, applied + 12)));
      }
    },
  },
  {
    behaviour: "the size of the batches makes no difference",
    run: async ({ open, openOther }) => {
      const rows = mixedRows(120, 4);
      const [whole, piecemeal] = [await open(), await openOther()];
      await whole.apply({ rows, through: rows.length });
      await applyAll(piecemeal, rows, 7);
      expect(await everyAnswerOf(piecemeal)).toEqual(await everyAnswerOf(whole));
    },
  },
  {
    behaviour: "a reset forgets everything, and applying starts again at position 1",
    run: async ({ open }) => {
      const index = await open();
      await index.apply({ rows: mixedRows(50, 5), through: 50 });
      await index.reset();
      expect(await index.checkpoint()).toBe(0);
      expect(await answersOf(index)).toEqual({ keys: [], counts: expectedCounts([]) });
      expect(await index.list({ filter: { memory: "m1" }, limit: 10 })).toEqual([]);
      const others = mixedRows(30, 6);
      await index.apply({ rows: others, through: 30 });
      expect(await answersOf(index)).toEqual(expectedAnswers(others));
    },
  },
  {
    behaviour: "built anew it answers everything as it did live",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(120, 7);
      await applyAll(index, rows, 11);
      const live = await everyAnswerOf(index);
      await index.reset();
      await applyAll(index, rows, 50);
      expect(await everyAnswerOf(index)).toEqual(live);
      expect(await index.checkpoint()).toBe(rows.length);
    },
  },
  {
    behaviour: "batches applied at the same time count once",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(50, 8);
      await Promise.all([1, 2, 3, 4].map(() => index.apply({ rows, through: rows.length })));
      expect(await answersOf(index)).toEqual(expectedAnswers(rows));
    },
  },
  {
    behaviour: "what was applied is there when the index is opened again",
    needs: "durable",
    run: async ({ open }) => {
      const rows = mixedRows(50, 9);
      const source = { log_id: "log", position: 30, hash: "aa" };
      const first = await open();
      await first.apply({ rows: rows.slice(0, 30), through: 30, source });
      await first.close();
      const again = await open();
      expect(await again.checkpoint()).toBe(30);
      expect(await again.source()).toEqual(source);
      await again.apply({ rows, through: 50 });
      expect(await answersOf(again)).toEqual(expectedAnswers(rows));
    },
  },
  {
    behaviour: "instances that fill one index together apply each row once",
    needs: "shared",
    run: async ({ open }) => {
      const rows = mixedRows(60, 10);
      const [left, right] = [await open(), await open()];
      await left.apply({ rows: rows.slice(0, 25), through: 25 });
      expect(await right.checkpoint()).toBe(25);
      await Promise.all([applyAll(left, rows, 7), applyAll(right, rows, 11)]);
      for (const index of [left, right]) {
        expect(await index.checkpoint()).toBe(rows.length);
        expect(await answersOf(index)).toEqual(expectedAnswers(rows));
      }
    },
  },
  {
    behaviour: "a reset through one instance is seen by the others, which go on without being opened again",
    needs: "shared",
    run: async ({ open }) => {
      const [left, right] = [await open(), await open()];
      const rows = mixedRows(30, 11);
      await left.apply({ rows, through: 30 });
      expect(await answersOf(right)).toEqual(expectedAnswers(rows));
      await left.reset();
      expect(await right.checkpoint()).toBe(0);
      await right.apply({ rows: rows.slice(0, 20), through: 20 });
      expect(await answersOf(left)).toEqual(expectedAnswers(rows.slice(0, 20)));
    },
  },
];

interface Answers {
  readonly keys: readonly RowKey[];
  readonly counts: EntryCounts;
}

async function answersOf(index: EntryIndex): Promise<Answers> {
  return { keys: await index.list({ filter: {}, limit: 1_000 }), counts: await index.count() };
}

function expectedAnswers(rows: readonly EntryRow[]): Answers {
  return { keys: expectedKeys(rows, {}), counts: expectedCounts(rows) };
}

async function everyAnswerOf(index: EntryIndex): Promise<readonly unknown[]> {
  const lists: unknown[] = [await index.count()];
  for (const filter of filterCombinations()) lists.push(await index.list({ filter, limit: 1_000 }));
  return lists;
}

async function applyAll(index: EntryIndex, rows: readonly EntryRow[], size: number): Promise<void> {
  for (let applied = 0; applied < rows.length; applied += size) {
    const through = Math.min(applied + size, rows.length);
    await index.apply({ rows: rows.slice(applied, through), through });
  }
}
