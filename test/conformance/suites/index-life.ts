// Checks of filling an index: each row once, whatever the batches, and the same answers after a rebuild.
import { expect } from "vitest";
import type { EntryIndex, EntryRow, IndexDocument, IndexSource, RowCounts, RowKey } from "../../../src/index/port.js";
import { SESSIONS } from "../../../src/index/session-fold.js";
import { fill, fillAll } from "./index-filling.js";
import { expectedCounts, expectedKeys, filterCombinations, mixedRows, newDocument, newRow } from "./index-samples.js";
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
    behaviour: "applying moves the checkpoint to `through`, even if the last entries have no row",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: [newRow(1), newRow(3)], through: 3 });
      expect(await index.checkpoint()).toBe(3);
      await fill(index, { rows: [newRow(4)], through: 9 });
      expect(await index.checkpoint()).toBe(9);
      await fill(index, { rows: [], through: 12 });
      expect(await index.checkpoint()).toBe(12);
      expect((await answersOf(index)).keys.map(({ position }) => position)).toEqual([4, 3, 1]);
    },
  },
  {
    behaviour: "a batch that was applied before is skipped",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(40, 1);
      const start = await index.revision();
      expect(await index.apply({ after: start, rows, through: 40 })).toBe(true);
      const before = await answersOf(index);
      expect(await index.apply({ after: start, rows, through: 40 })).toBe(false);
      await index.apply({ after: start, rows: rows.slice(0, 10), through: 10 });
      expect(await index.checkpoint()).toBe(40);
      expect(await answersOf(index)).toEqual(before);
    },
  },
  {
    behaviour: "a batch computed from another state is skipped as a whole",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(40, 2);
      const after = await index.revision();
      await fill(index, { rows: rows.slice(0, 25), through: 25, put: [newDocument("kept", 1)] });
      const changes = { put: [newDocument("other", 2)], removed: [newDocument("kept", 1)], erased: [1, 2] };
      for (const position of [0, 10, 24, 26, 40]) {
        const batch = { after: { ...after, position }, rows: rows.slice(position), through: 41, ...changes };
        expect(await index.apply(batch), `after ${position}`).toBe(false);
        expect(await index.checkpoint(), `after ${position}`).toBe(25);
      }
      expect(await answersOf(index)).toEqual(expectedAnswers(rows.slice(0, 25)));
      expect(await documentsOf(index)).toEqual([newDocument("kept", 1)]);
    },
  },
  {
    behaviour: "a batch computed before a reset is skipped, at any position of the new index",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(40, 3);
      await fill(index, { rows: rows.slice(0, 25), through: 25 });
      const before = await index.revision();
      await index.reset();
      const batch = { rows: rows.slice(25), through: 40, put: [newDocument("of old", 1)] };
      await index.apply({ after: before, ...batch });
      expect(await index.checkpoint()).toBe(0);
      await fill(index, { rows: rows.slice(0, 25), through: 25 });
      expect((await index.revision()).position).toBe(before.position);
      await index.apply({ after: before, ...batch });
      expect(await index.checkpoint()).toBe(25);
      await fill(index, { rows: rows.slice(25), through: 40 });
      expect(await answersOf(index)).toEqual(expectedAnswers(rows));
      expect(await documentsOf(index)).toEqual([]);
    },
  },
  {
    behaviour: "it remembers its source as of its checkpoint, until it is reset",
    run: async ({ open }) => {
      const index = await open();
      expect(await index.source()).toBeUndefined();
      const [first, second] = [
        { log_id: "log", position: 1, hash: "aa" },
        { log_id: "log", position: 2, hash: "bb" },
      ];
      const start = await index.revision();
      await fill(index, { rows: [newRow(1)], through: 1, source: first });
      expect(await index.source()).toEqual(first);
      await fill(index, { rows: [newRow(2)], through: 2, source: second });
      await index.apply({ after: start, rows: [newRow(1)], through: 1, source: first });
      expect(await index.source()).toEqual(second);
      await index.reset();
      expect(await index.source()).toBeUndefined();
    },
  },
  {
    behaviour: "every log head that it was built from is remembered across resets, until it is settled",
    run: async ({ open }) => {
      const index = await open();
      expect(await index.rememberedHeads()).toEqual([]);
      const [first, second, third] = [
        { log_id: "log", position: 2, hash: "bb" },
        { log_id: "other", position: 1, hash: "cc" },
        { log_id: "other", position: 3, hash: "dd" },
      ];
      await fill(index, { rows: [newRow(1)], through: 1, source: { log_id: "log", position: 1, hash: "aa" } });
      await fill(index, { rows: [newRow(2)], through: 2, source: first });
      expect(await headsOf(index)).toEqual([first]);
      await index.reset();
      expect(await headsOf(index)).toEqual([first]);
      await fill(index, { rows: [newRow(1)], through: 1, source: second });
      await index.reset();
      await fill(index, { rows: [newRow(3)], through: 3, source: third });
      expect(await headsOf(index)).toEqual([first, second, third]);
      await index.forgetHeads([second]);
      expect(await headsOf(index)).toEqual([first, third]);
      await index.forgetHeads([first, second, third]);
      expect(await headsOf(index)).toEqual([third]);
      expect(await index.source()).toEqual(third);
    },
  },
  {
    behaviour: "counts are by kind and project, and name the first and the last time",
    run: async ({ open }) => {
      const index = await open();
      const rows = [
        newRow(1, { created_ms: -5, project: "b", session_id: "s" }),
        newRow(2, { created_ms: 900, project: "b", kind: "error" }),
        newRow(3, { created_ms: 20, project: "a", session_id: "t" }),
        newRow(4, { created_ms: 20, session_id: "s" }),
      ];
      await fill(index, { rows, through: 4 });
      expect(await index.count()).toEqual({
        entries: 4,
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
        await fill(index, { rows: rows.slice(applied, applied + 12), through: applied + 12 });
        expect(await index.count()).toEqual(expectedCounts(rows.slice(0, applied + 12)));
      }
    },
  },
  {
    behaviour: "the size of the batches makes no difference",
    run: async ({ open, openOther }) => {
      const rows = mixedRows(120, 4);
      const [whole, piecemeal] = [await open(), await openOther()];
      await fill(whole, { rows, through: rows.length });
      await fillAll(piecemeal, rows, 7);
      expect(await everyAnswerOf(piecemeal)).toEqual(await everyAnswerOf(whole));
    },
  },
  {
    behaviour: "a reset removes everything, and applying restarts at position 1",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: mixedRows(50, 5), through: 50 });
      await index.reset();
      expect(await index.checkpoint()).toBe(0);
      expect(await answersOf(index)).toEqual({ keys: [], counts: expectedCounts([]) });
      expect(await index.list({ filter: { references: [{ what: "memory", reference: "m1" }] }, limit: 10 })).toEqual(
        [],
      );
      const others = mixedRows(30, 6);
      await fill(index, { rows: others, through: 30 });
      expect(await answersOf(index)).toEqual(expectedAnswers(others));
    },
  },
  {
    behaviour: "after a rebuild it gives the same answers",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(120, 7);
      await fillAll(index, rows, 11);
      const live = await everyAnswerOf(index);
      await index.reset();
      await fillAll(index, rows, 50);
      expect(await everyAnswerOf(index)).toEqual(live);
      expect(await index.checkpoint()).toBe(rows.length);
    },
  },
  {
    behaviour: "batches applied at the same time count once",
    run: async ({ open }) => {
      const index = await open();
      const rows = mixedRows(50, 8);
      const after = await index.revision();
      await Promise.all([1, 2, 3, 4].map(() => index.apply({ after, rows, through: rows.length })));
      expect(await answersOf(index)).toEqual(expectedAnswers(rows));
    },
  },
  {
    behaviour: "applied rows survive reopening the index",
    needs: "durable",
    run: async ({ open }) => {
      const rows = mixedRows(50, 9);
      const source = { log_id: "log", position: 30, hash: "aa" };
      const first = await open();
      await fill(first, { rows: rows.slice(0, 30), through: 30, source });
      await first.close();
      const again = await open();
      expect(await again.checkpoint()).toBe(30);
      expect(await again.source()).toEqual(source);
      await fill(again, { rows: rows.slice(30), through: 50 });
      expect(await answersOf(again)).toEqual(expectedAnswers(rows));
    },
  },
  {
    behaviour: "instances that fill one index concurrently apply each row once",
    needs: "shared",
    run: async ({ open }) => {
      const rows = mixedRows(60, 10);
      const [left, right] = [await open(), await open()];
      await fill(left, { rows: rows.slice(0, 25), through: 25 });
      expect(await right.checkpoint()).toBe(25);
      await Promise.all([fillAll(left, rows, 7), fillAll(right, rows, 11)]);
      for (const index of [left, right]) {
        expect(await index.checkpoint()).toBe(rows.length);
        expect(await answersOf(index)).toEqual(expectedAnswers(rows));
      }
    },
  },
  {
    behaviour: "a reset through one instance is seen by the others, which continue without reopening",
    needs: "shared",
    run: async ({ open }) => {
      const [left, right] = [await open(), await open()];
      const rows = mixedRows(30, 11);
      await fill(left, { rows, through: 30 });
      expect(await answersOf(right)).toEqual(expectedAnswers(rows));
      await left.reset();
      expect(await right.checkpoint()).toBe(0);
      await fill(right, { rows: rows.slice(0, 20), through: 20 });
      expect(await answersOf(left)).toEqual(expectedAnswers(rows.slice(0, 20)));
    },
  },
];

interface Answers {
  readonly keys: readonly RowKey[];
  readonly counts: RowCounts;
}

async function answersOf(index: EntryIndex): Promise<Answers> {
  return { keys: await index.list({ filter: {}, limit: 1_000 }), counts: await index.count() };
}

function expectedAnswers(rows: readonly EntryRow[]): Answers {
  return { keys: expectedKeys(rows, {}), counts: expectedCounts(rows) };
}

async function headsOf(index: EntryIndex): Promise<readonly IndexSource[]> {
  return (await index.rememberedHeads()).toSorted((left, right) => (left.hash < right.hash ? -1 : 1));
}

async function documentsOf(index: EntryIndex): Promise<readonly IndexDocument[]> {
  return index.listDocuments({ collection: "made", order: "asc", limit: 100 });
}

async function everyAnswerOf(index: EntryIndex): Promise<readonly unknown[]> {
  const sessions = await index.listDocuments({ collection: SESSIONS, order: "desc", limit: 1_000 });
  const lists: unknown[] = [await index.count(), sessions];
  for (const filter of filterCombinations()) lists.push(await index.list({ filter, limit: 1_000 }));
  return lists;
}
