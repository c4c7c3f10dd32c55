// Checks of references: which entries they count for, with and without them, newest first, and after erasing.
import { expect } from "vitest";
import type {
  EntryIndex,
  EntryRow,
  Reference,
  ReferenceCondition,
  RowFilter,
  RowKey,
} from "../../../src/index/port.js";
import { fill, fillAll } from "./index-filling.js";
import { chunk, expectedKeys, lacking, memory, newRow } from "./index-samples.js";
import { seededRandom } from "./seeded-random.js";
import type { Check } from "./suite.js";

export const indexReferenceChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "a response's references count for its interaction, in any batch",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: [newRow(1, { references: [memory("m0")] }), newRow(2)], through: 2 });
      const response = { kind: "response", about: 1, references: [memory("m1"), chunk("c1")] };
      await fill(index, { rows: [newRow(3, response)], through: 3 });
      expect(await having(index, memory("m0"))).toEqual([1]);
      expect(await having(index, memory("m1"))).toEqual([1]);
      expect(await having(index, chunk("c1"))).toEqual([1]);
      expect(await having(index, memory("m0"), chunk("c1"))).toEqual([1]);
      expect(await positions(index, { kinds: ["response"], references: [memory("m1")] })).toEqual([]);
      expect(await having(index, memory("c1"))).toEqual([]);
      expect(await having(index, lacking(memory("m1")))).toEqual([3, 2]);
    },
  },
  {
    behaviour: "the filters memory and chunk are aliases of references",
    run: async ({ open }) => {
      const index = await open();
      const rows = [newRow(1, { references: [memory("a"), chunk("b")] }), newRow(2, { references: [memory("a")] })];
      await fill(index, { rows, through: 2 });
      expect(await positions(index, { references: [memory("a")] })).toEqual([2, 1]);
      expect(await positions(index, { references: [memory("a"), chunk("b")] })).toEqual([1]);
      expect(await positions(index, { references: [memory("a"), lacking(chunk("b"))] })).toEqual([2]);
    },
  },
  {
    behaviour: "a reference that an entry and another about it both name selects the entry once",
    run: async ({ open }) => {
      const index = await open();
      const both = { references: [memory("m"), memory("m"), chunk("m")] };
      await fill(index, { rows: [newRow(1, both), newRow(2, { ...both, kind: "response", about: 1 })], through: 2 });
      await fill(index, { rows: [newRow(3, { ...both, kind: "response", about: 1 })], through: 3 });
      expect(await having(index, memory("m"))).toEqual([1]);
    },
  },
  {
    behaviour: "an entry lacks a reference that nothing names, or that only others have",
    run: async ({ open }) => {
      const index = await open();
      const asked = { what: "is", reference: "asked" } as const;
      const answered = { what: "is", reference: "answered" } as const;
      const rows = [
        newRow(1, { references: [asked] }),
        newRow(2, { references: [asked] }),
        newRow(3, { kind: "response", about: 1, references: [answered] }),
        newRow(4, { kind: "error" }),
      ];
      await fill(index, { rows, through: 4 });
      expect(await having(index, asked, lacking(answered))).toEqual([2]);
      expect(await having(index, lacking(asked))).toEqual([4, 3]);
      expect(await having(index, lacking(memory("nobody's")))).toEqual([4, 3, 2, 1]);
      expect(await having(index, memory("nobody's"), lacking(asked))).toEqual([]);
      expect(await having(index, asked, lacking(asked))).toEqual([]);
    },
  },
  {
    behaviour:
      "entries with a reference come newest first, the higher position where times are equal, whichever entry names it",
    run: async ({ open }) => {
      const index = await open();
      const references = [memory("m")];
      const times = [50, 10, 50, -20, 10, 50, 90];
      const rows = times.map((created_ms, at) =>
        newRow(at + 1, { created_ms, ...(at % 2 === 0 ? { references } : {}) }),
      );
      await fill(index, { rows, through: 7 });
      const sayers = [2, 4, 6].map((about, at) => newRow(8 + at, { about, references, created_ms: 1_000 }));
      await fill(index, { rows: sayers, through: 10 });
      expect(await having(index, memory("m"))).toEqual([7, 6, 3, 1, 5, 2, 4]);
      const page = { filter: { references: [memory("m")] }, limit: 3 };
      const keys = await index.list({ ...page, after: { created_ms: 50, position: 3 } });
      expect(keys.map(({ position }) => position)).toEqual([1, 5, 2]);
      expect(await positions(index, { references: [memory("m")], since_ms: 10, until_ms: 50 })).toEqual([
        6, 3, 1, 5, 2,
      ]);
    },
  },
  ...[1, 60, 400].map(
    (size): Check<EntryIndex> => ({
      behaviour: `what most entries refer to, some and few, is listed alike, in batches of ${size} and after erasing`,
      run: async ({ open }) => {
        const index = await open();
        const rows = runningRows(size === 1 ? 120 : 1_200);
        await fillAll(index, rows, size);
        for (const filter of REFERENCE_FILTERS) await expectPages(index, rows, filter);
        const isErased = ({ position, references }: EntryRow): boolean =>
          position % 5 === 0 || references.some(({ reference }) => reference === "half");
        const erased = rows.filter(isErased).map(({ position }) => position);
        await fill(index, { rows: [], erased, through: rows.length + 1 });
        const left = rows.filter((row) => !isErased(row));
        for (const filter of REFERENCE_FILTERS) await expectPages(index, left, filter);
        expect(await having(index, chunk("half"))).toEqual([]);
      },
    }),
  ),
  {
    behaviour: "a rare reference is found among many entries, and so is a rare label among many with the reference",
    run: async ({ open }) => {
      const index = await open();
      const rows = Array.from({ length: 3_000 }, (_, at) =>
        newRow(at + 1, {
          project: at % 1_000 === 7 ? "rare" : "common",
          references: [memory("common"), ...(at % 900 === 5 ? [memory("rare")] : [])],
        }),
      );
      await fill(index, { rows, through: 3_000 });
      expect(await positions(index, { project: "common", references: [memory("rare")] })).toEqual([
        2_706, 1_806, 906, 6,
      ]);
      expect(await positions(index, { project: "rare", references: [memory("common")] })).toEqual([2_008, 1_008, 8]);
      expect(await positions(index, { project: "rare", references: [memory("rare")] })).toEqual([]);
      expect(await having(index, memory("common"), memory("rare"))).toEqual([2_706, 1_806, 906, 6]);
      expect(await positions(index, { project: "common", references: [lacking(memory("common"))] })).toEqual([]);
    },
  },
  {
    behaviour: "an entry may refer to very many things, and name each of them twice",
    run: async ({ open }) => {
      const index = await open();
      const many = Array.from({ length: 20_000 }, (_, at) => chunk(`c-${at % 10_000}`));
      await fill(index, { rows: [newRow(1, { references: many }), newRow(2)], through: 2 });
      expect(await having(index, chunk("c-0"), chunk("c-9999"))).toEqual([1]);
      await fill(index, { rows: [], erased: [1], through: 3 });
      expect(await having(index, chunk("c-9999"))).toEqual([]);
    },
  },
  {
    behaviour: "references are compared exactly, NUL and lone surrogates too",
    run: async ({ open }) => {
      const index = await open();
      const used = [
        "m",
        "M",
        "",
        "m\0",
        "m\0n",
        "\ud800",
        "\udfff",
        "\ufffd",
        "🙂",
        "5",
        "5.0",
        "\u0001m",
        '\u0001"m"',
      ];
      const rows = used.map((name, at) => newRow(at + 1, { references: [memory(name), chunk(name)] }));
      await fill(index, { rows, through: used.length });
      for (const [at, name] of used.entries()) {
        expect(await having(index, memory(name)), JSON.stringify(name)).toEqual([at + 1]);
        expect(await having(index, chunk(name)), JSON.stringify(name)).toEqual([at + 1]);
      }
    },
  },
  {
    behaviour: "the references of an erased entry no longer count for the entry it was about",
    run: async ({ open }) => {
      const index = await open();
      const asked = newRow(1, { references: [memory("kept"), memory("both")] });
      const said = { kind: "response", about: 1, references: [memory("gone"), memory("both"), chunk("gone")] };
      await fill(index, { rows: [asked, newRow(2, said), newRow(3, said)], through: 3 });
      await fill(index, { rows: [], erased: [2], through: 4 });
      expect(await having(index, memory("gone"))).toEqual([1]);
      await fill(index, { rows: [], erased: [3], through: 5 });
      expect(await having(index, memory("kept"))).toEqual([1]);
      expect(await having(index, memory("both"))).toEqual([1]);
      expect(await having(index, memory("gone"))).toEqual([]);
      expect(await having(index, chunk("gone"))).toEqual([]);
      expect(await having(index, lacking(chunk("gone")))).toEqual([1]);
    },
  },
  {
    behaviour: "references about an entry that is erased, or never had a row, count for nothing",
    run: async ({ open }) => {
      const index = await open();
      const rows = [newRow(1, { references: [memory("own")] }), newRow(2), saying(3, 1, memory("m"))];
      await fill(index, { rows: [...rows, saying(4, 2, memory("m"))], through: 4 });
      await fill(index, { rows: [], erased: [1], through: 5 });
      await fill(index, { rows: [saying(6, 1, memory("m")), saying(7, 99, memory("m"))], through: 7 });
      expect(await having(index, memory("m"))).toEqual([2]);
      expect(await having(index, memory("own"))).toEqual([]);
      const kept = await index.rowsAt([3, 4, 6, 7]);
      expect(kept.map(({ about, references }) => [about, references.length])).toEqual([
        ...[
          [1, 0],
          [2, 1],
          [1, 0],
          [99, 0],
        ],
      ]);
      await fill(index, { rows: [], erased: [3, 4, 6, 7], through: 8 });
      expect(await having(index, memory("m"))).toEqual([]);
      expect(await having(index, lacking(memory("m")))).toEqual([2]);
    },
  },
];

const REFERENCE_FILTERS: readonly RowFilter[] = [
  { references: [chunk("most")] },
  { references: [chunk("half")] },
  { references: [chunk("few")] },
  { references: [chunk("most"), lacking(chunk("half"))] },
  { references: [lacking(chunk("most"))] },
  { references: [{ ...chunk("few"), or: [memory("said")] }] },
  { references: [{ ...chunk("half"), or: [chunk("few")] }, chunk("most")], project: ["p1", "p0"] },
  { references: [chunk("most"), chunk("half"), memory("said")], kinds: ["interaction"] },
  { references: [chunk("most")], project: "p1" },
  { references: [chunk("few"), lacking(memory("said"))], project: "p0" },
  { references: [memory("said")], since_ms: 20_000, until_ms: 60_000 },
  { references: [chunk("most")], since_ms: 30_000, until_ms: 50_000 },
];

/** Rows as they come while agents work: mostly in order of time, many at the same, some late, answers among them. */
function runningRows(count: number): readonly EntryRow[] {
  const random = seededRandom(count);
  const stretch = count / 8;
  return Array.from({ length: count }, (_, at) => {
    // Every third stretch was recorded elsewhere before, and brought in late.
    const isLate = Math.floor(at / stretch) % 3 === 2;
    const created_ms = Math.floor((isLate ? at - 2 * stretch : at) / 4) * 400;
    const isAnswer = at > 0 && random() < 0.2;
    const references = [
      ...(random() < 0.9 ? [chunk("most")] : []),
      ...(random() < 0.4 ? [chunk("half")] : []),
      ...(random() < 0.03 ? [chunk("few")] : []),
      ...(isAnswer ? [memory("said")] : []),
    ];
    const about = { kind: "response", about: 1 + Math.floor(random() * at) };
    return newRow(at + 1, { created_ms, project: `p${at % 2}`, references, ...(isAnswer ? about : {}) });
  });
}

async function expectPages(index: EntryIndex, rows: readonly EntryRow[], filter: RowFilter): Promise<void> {
  const expected = expectedKeys(rows, filter);
  expect(await index.list({ filter, limit: 10_000 }), JSON.stringify(filter)).toEqual(expected);
  const limit = Math.max(3, Math.ceil(expected.length / 9));
  const found: RowKey[] = [];
  for (let page = 0; page < 20; page += 1) {
    const after = found.at(-1);
    found.push(...(await index.list({ filter, limit, ...(after === undefined ? {} : { after }) })));
  }
  expect(found, JSON.stringify(filter)).toEqual(expected);
}

function saying(position: number, about: number, reference: Reference): EntryRow {
  return newRow(position, { kind: "feedback", about, references: [reference] });
}

function having(index: EntryIndex, ...references: readonly ReferenceCondition[]): Promise<readonly number[]> {
  return positions(index, { references });
}

async function positions(index: EntryIndex, filter: RowFilter): Promise<readonly number[]> {
  return (await index.list({ filter, limit: 1_000 })).map(({ position }) => position);
}
