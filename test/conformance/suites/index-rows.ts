// Checks of lists: every filter alone and with the others, the order of equal times, and pages that lead to every row.
import { expect } from "vitest";
import type { EntryIndex, RowFilter, RowKey } from "../../../src/index/port.js";
import { fill } from "./index-filling.js";
import {
  chunk,
  expectedKeys,
  filterCombinations,
  filterValues,
  lacking,
  memory,
  mixedRows,
  newRow,
} from "./index-samples.js";
import type { Check } from "./suite.js";

const ROWS = mixedRows(300, 2_026);

export const indexRowChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "lists are newest first, and the higher position comes first where times are equal",
    run: async ({ open }) => {
      const index = await open();
      const times = [50, 10, 50, -20, 10, 50];
      await fill(index, { rows: times.map((created_ms, at) => newRow(at + 1, { created_ms })), through: 6 });
      expect(await positions(index, {})).toEqual([6, 3, 1, 5, 2, 4]);
    },
  },
  {
    behaviour: "a list has at most `limit` rows, none for a limit of zero",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: [newRow(1), newRow(2), newRow(3)], through: 3 });
      expect(await index.list({ filter: {}, limit: 0 })).toEqual([]);
      expect(await index.list({ filter: {}, limit: 2 })).toEqual([
        { created_ms: 3_000, position: 3 },
        { created_ms: 2_000, position: 2 },
      ]);
    },
  },
  ...Object.entries(filterValues).map(
    ([name, values]): Check<EntryIndex> => ({
      behaviour: `the filter ${name} alone selects what it says`,
      run: async ({ open }) => {
        const index = await open();
        await fill(index, { rows: ROWS, through: ROWS.length });
        for (const value of values) {
          const filter: RowFilter = value === undefined ? {} : { [name]: value };
          expect(await index.list({ filter, limit: 1_000 }), JSON.stringify(filter)).toEqual(
            expectedKeys(ROWS, filter),
          );
        }
      },
    }),
  ),
  {
    behaviour: "filters together select what all of them select, in every combination",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: ROWS.length });
      for (const filter of filterCombinations()) {
        const found = await index.list({ filter, limit: 1_000 });
        const expected = expectedKeys(ROWS, filter);
        if (JSON.stringify(found) !== JSON.stringify(expected)) expect(found, JSON.stringify(filter)).toEqual(expected);
      }
    },
  },
  {
    behaviour: "times are inclusive on both ends",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: [1, 2, 3, 4].map((at) => newRow(at)), through: 4 });
      expect(await positions(index, { since_ms: 2_000 })).toEqual([4, 3, 2]);
      expect(await positions(index, { until_ms: 2_000 })).toEqual([2, 1]);
      expect(await positions(index, { since_ms: 2_000, until_ms: 3_000 })).toEqual([3, 2]);
      expect(await positions(index, { since_ms: 2_001, until_ms: 2_999 })).toEqual([]);
      expect(await positions(index, { since_ms: 3_000, until_ms: 2_000 })).toEqual([]);
    },
  },
  {
    behaviour: "labels are compared exactly",
    run: async ({ open }) => {
      const index = await open();
      const labels = ["a", "A", "á", "a\u0301", "a%", "a_", "%", "'", '"', "a b", "a b ", "🙂", "\u202ea", "0", "null"];
      await fill(index, {
        rows: labels.map((label, at) => newRow(at + 1, { session_id: label, project: label, client: label })),
        through: labels.length,
      });
      for (const [at, label] of labels.entries()) {
        for (const name of ["session_id", "project", "client"]) {
          expect(await positions(index, { [name]: label }), `${name} ${label}`).toEqual([at + 1]);
        }
      }
      expect(await positions(index, { project: "b" })).toEqual([]);
    },
  },
  ...[1, 2, 3, 7, 50].map(
    (limit): Check<EntryIndex> => ({
      behaviour: `pages of ${limit} reach each row exactly once, equal times and filters included`,
      run: async ({ open }) => {
        const index = await open();
        await fill(index, { rows: ROWS, through: ROWS.length });
        const filters: readonly RowFilter[] = [
          {},
          { kinds: ["interaction"] },
          { kinds: ["interaction", "message"], project: "" },
          { since_ms: 10_000, until_ms: 30_000 },
          { references: [{ what: "memory", reference: "m1" }] },
          { references: [memory("m1"), lacking(chunk("m1"))] },
          { kinds: ["interaction"], references: [chunk("m2")], session_id: "s:1" },
          { references: [memory("m1"), chunk("m2")], since_ms: 10_000, until_ms: 30_000 },
        ];
        for (const filter of filters) expect(await pages(index, filter, limit)).toEqual(expectedKeys(ROWS, filter));
      },
    }),
  ),
  {
    behaviour: "pages reach everything that was there at the first page, also while rows arrive",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS.slice(0, 200), through: 200 });
      const before = expectedKeys(ROWS.slice(0, 200), {});
      let applied = 200;
      const found = await pages(index, {}, 9, async () => {
        if (applied < ROWS.length) await fill(index, { rows: ROWS.slice(applied, applied + 5), through: applied + 5 });
        applied += 5;
      });
      const positionsFound = found.map(({ position }) => position);
      expect(new Set(positionsFound).size).toBe(found.length);
      expect(found.filter(({ position }) => position <= 200)).toEqual(before);
    },
  },
  {
    behaviour: "rows are returned unchanged, by their positions and in that order",
    run: async ({ open }) => {
      const index = await open();
      const labels = { session_id: "s\u0001", project: "\u0001", client: "\ud800" };
      const odd = [
        newRow(301, { kind: "session_info", facts: JSON.parse('{"title":"\\ud800","__proto__":{"a":"\\u0000"}}') }),
        newRow(302, {
          ...labels,
          references: [memory("\udfff\0"), { what: "tool", reference: "\u0001" }],
          about: 301,
        }),
        newRow(303, { kind: "message", role: "user", created_ms: -5 }),
      ];
      await fill(index, { rows: [...ROWS, ...odd], through: 303 });
      const found = await index.rowsAt([303, 1, 999, 302, 1, 301]);
      expect(found).toEqual([ROWS[0], ...odd]);
      expect(JSON.stringify(found)).toContain('"__proto__":{"a":"\\u0000"}');
      expect(await index.rowsAt(ROWS.map(({ position }) => position))).toEqual(ROWS);
      expect(await index.rowsAt([])).toEqual([]);
      expect((await index.list({ filter: labels, limit: 9 })).map(({ position }) => position)).toEqual([302]);
    },
  },
  {
    behaviour: "a page may start at a key without a row",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: [1, 2, 3].map((at) => newRow(at, { created_ms: 10 * at })), through: 3 });
      const after = async (created_ms: number, position: number): Promise<readonly number[]> =>
        (await index.list({ filter: {}, after: { created_ms, position }, limit: 10 })).map((key) => key.position);
      expect(await after(25, 1)).toEqual([2, 1]);
      expect(await after(20, 3)).toEqual([2, 1]);
      expect(await after(20, 2)).toEqual([1]);
      expect(await after(20, 1)).toEqual([1]);
      expect(await after(1_000, 1_000)).toEqual([3, 2, 1]);
      expect(await after(0, 0)).toEqual([]);
    },
  },
];

async function positions(index: EntryIndex, filter: RowFilter): Promise<readonly number[]> {
  return (await index.list({ filter, limit: 1_000 })).map(({ position }) => position);
}

async function pages(
  index: EntryIndex,
  filter: RowFilter,
  limit: number,
  between: () => Promise<void> = async () => {},
): Promise<readonly RowKey[]> {
  const found: RowKey[] = [];
  for (;;) {
    const after = found.at(-1);
    const page = await index.list({ filter, limit, ...(after === undefined ? {} : { after }) });
    if (page.length === 0) return found;
    found.push(...page);
    // An index that gives a row again would otherwise be paged for ever.
    if (found.length > 2 * ROWS.length) throw new Error("there are more rows on the pages than in the index");
    await between();
  }
}
