// What a filter of rows means: when a row passes, and what two filters are together.
import { describe, expect, test } from "vitest";
import type { EntryRow } from "./port.js";
import { bothHold, columnsOf, conditionsOf, type RowFilter, rowMatches } from "./row-filter.js";

const memory = (reference: string) => ({ what: "memory", reference }) as const;

const row: EntryRow = {
  position: 1,
  kind: "message",
  created_ms: 1_000,
  session_id: "s",
  project: "p",
  client: "",
  references: [memory("m1"), memory("m2")],
  role: "user",
};

test("a row passes a filter that asks for nothing", () => {
  expect(rowMatches(row, {})).toBe(true);
  expect(rowMatches(row, { project: undefined } as unknown as RowFilter)).toBe(true);
});

test.each<[RowFilter, RowFilter]>([
  [{ session_id: "s" }, { session_id: "S" }],
  [{ project: "p" }, { project: "" }],
  [{ client: "" }, { client: "c" }],
  [{ project: ["q", "p"] }, { project: ["q", ""] }],
  [{ client: ["c", ""] }, { client: ["c", "d"] }],
  [
    { references: [{ ...memory("m3"), or: [memory("m2")] }] },
    { references: [{ ...memory("m3"), or: [memory("m4")] }] },
  ],
  [{ kinds: ["error", "message"] }, { kinds: ["error"] }],
  [{ kinds: ["message"] }, { kinds: [] }],
  [{ role: "user" }, { role: "tool" }],
  [{ since_ms: 1_000 }, { since_ms: 1_001 }],
  [{ until_ms: 1_000 }, { until_ms: 999 }],
  [{ references: [memory("m2")] }, { references: [memory("m")] }],
  [{ references: [memory("m1")] }, { references: [{ what: "chunk", reference: "m1" }] }],
  [{ references: [memory("m1"), memory("m2")] }, { references: [memory("m1"), memory("m3")] }],
  [{ references: [{ ...memory("m3"), lacks: true }] }, { references: [{ ...memory("m1"), lacks: true }] }],
])("a row passes %j and not %j", (passed, failed) => {
  expect(rowMatches(row, passed)).toBe(true);
  expect(rowMatches(row, failed)).toBe(false);
  expect(rowMatches(row, { ...passed, ...failed })).toBe(false);
});

test("a column that a row does not have passes nothing, but for a label that is asked for as missing", () => {
  const { project: _p, ...bare } = row;
  expect(rowMatches(bare as EntryRow, { project: "" })).toBe(true);
  expect(rowMatches(bare as EntryRow, { project: "p" })).toBe(false);

  const { role: _, ...error }: EntryRow = row;
  const filter: RowFilter = { role: "user" };
  expect(rowMatches(error, filter)).toBe(false);
});

test("conditions come in one order, whichever way the filter was made", () => {
  const names = (filter: RowFilter): readonly string[] => conditionsOf(filter).map(({ name }) => name);
  expect(names({ until_ms: 2, kinds: [], project: "p" })).toEqual(names({ project: "p", kinds: [], until_ms: 2 }));
  expect(columnsOf(["since_ms", "until_ms", "kinds"])).toEqual(["created_ms", "kind"]);
});

describe("two filters together", () => {
  test.each<[RowFilter, RowFilter, RowFilter]>([
    [{ project: "p" }, { client: "" }, { project: "p", client: "" }],
    [{ project: "p" }, { project: "p" }, { project: "p" }],
    [{ project: "p" }, { project: "q" }, { project: "p", kinds: [] }],
    [{ project: ["p", "q", "r"] }, { project: ["r", "p"] }, { project: ["p", "r"] }],
    [{ project: ["p", "q"] }, { project: "q" }, { project: "q" }],
    [{ project: ["p", "q"] }, { project: ["r"] }, { project: ["p", "q"], kinds: [] }],
    [{ role: "user", kinds: ["message"] }, { role: "tool" }, { role: "user", kinds: [] }],
    [{ kinds: ["error", "message"] }, { kinds: ["message", "raw"] }, { kinds: ["message"] }],
    [
      { since_ms: 1, until_ms: 9 },
      { since_ms: 2, until_ms: 8 },
      { since_ms: 2, until_ms: 8 },
    ],
    [
      { since_ms: 2, until_ms: 8 },
      { since_ms: 1, until_ms: 9 },
      { since_ms: 2, until_ms: 8 },
    ],
    [
      { references: [memory("a")] },
      { references: [memory("b")], role: "user" },
      { references: [memory("a"), memory("b")], role: "user" },
    ],
  ])("%j and %j are %j", (one, other, both) => {
    expect(bothHold(one, other)).toEqual(both);
  });

  test("pass what passes each of them", () => {
    const filters: readonly RowFilter[] = [
      ...[{}, { project: "p" }, { project: "q" }, { kinds: ["message"] }, { kinds: ["error"] }],
      ...[{ since_ms: 1_000 }, { since_ms: 2_000 }, { until_ms: 500 }, { role: "user" }, { role: "tool" }],
    ];
    for (const one of filters) {
      for (const other of filters) {
        expect(rowMatches(row, bothHold(one, other))).toBe(rowMatches(row, one) && rowMatches(row, other));
      }
    }
  });
});
