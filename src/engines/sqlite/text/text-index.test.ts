// The text index on SQLite: no match is missed, in the order of lists, with any writer and any interruption.

import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fill } from "../../../../test/support/fill-index.js";
import { slowFuzz } from "../../../../test/support/fuzz.js";
import { folderOfTest } from "../../../../test/support/temporary-folder.js";
import { slicesOfTexts, textBlocks } from "../../../../test/support/text-blocks.js";
import type { EntryRow, EntryTexts } from "../../../index/port.js";
import { itemAt } from "../../../model/item-at.js";
import { MemoryIndex } from "../../memory/index.js";
import { Database } from "../driver.js";
import { SqliteIndex } from "../index.js";
import { Statements } from "../statements.js";
import { SLICES } from "./signature.js";
import type { TextIndexOptions } from "./text-index.js";

const SMALL: TextIndexOptions = { segment: { blocks: 3, entries: 7 }, few: 4 };

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom("error", "err", "the ", "文字", "文", "ж", "é", "🙂", "\ud83d", "\ude42", "0", "", "\0", "~"),
      fc.string({ unit: "binary", maxLength: 6 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));
/** Times with few distinct values in any order, as in imports. */
const entry = fc.record({ created_ms: fc.nat(5), kind: fc.constantFrom("message", "error"), texts: fc.array(text) });

describe("candidates", () => {
  test("include every match, in the order and pages of the in-memory engine, for any texts and times", async () => {
    const needle = fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.integer({ min: 1, max: 50 }));
    const cases = fc.record({
      entries: fc.array(entry, { minLength: 1, maxLength: 40 }),
      needles: fc.array(fc.array(needle, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 8 }),
      batch: fc.integer({ min: 1, max: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ entries, needles, batch }) => {
        const indexes = [openIndex(SMALL), new MemoryIndex()] as const;
        for (const index of indexes) await fillWith(index, entries, batch);
        for (const wanted of needles) {
          const cut = wanted.flatMap((places) => cutFrom(entries, places) ?? []);
          if (cut.length > 0) await expectAllOf(indexes, cut);
        }
      }),
      slowFuzz(60),
    );
  });

  test("of older entries cost no more than among the newest", async () => {
    const index = openIndex({ segment: { blocks: 64, entries: 500 }, few: 32 });
    const said = (at: number): string => (at < 2_000 ? `timeout ${at}` : `nothing of the kind ${at}`);
    const entries = Array.from({ length: 5_000 }, (_, at) => ({ created_ms: at, kind: "error", texts: [said(at)] }));
    await fill(index, { rows: rowsOf(entries), through: entries.length });
    const withTexts = entries.length - 20;
    for (let given = 0; given < withTexts; ) {
      const through = Math.min(given + 128, withTexts);
      given = await index.applyTexts({ texts: textsOf(entries).slice(given, through), through });
    }
    const looking = vi.spyOn(Statements.prototype, "all");
    onTestFinished(() => looking.mockRestore());
    const positions = await positionsWith(index, "timeout", 30);
    // Entries without signatures may contain anything.
    const newest = (from: number, count: number): readonly number[] =>
      Array.from({ length: count }, (_, n) => from - n);
    expect(positions).toEqual([...newest(5_000, 20), ...newest(2_000, 10)]);
    const looked = looking.mock.results.reduce((rows, { value }) => rows + (value as readonly unknown[]).length, 0);
    expect(looked).toBeLessThan(250);
  });

  test("of a long needle are found across blocks, also in a text of 16 MiB", async () => {
    const index = openIndex();
    const long = Array.from({ length: 3_000_000 }, (_, at) => ((at * 7_919) % 1_679_616).toString(36)).join(" ");
    const texts = [long.slice(0, 16 * 1024 * 1024), "x".repeat(1_000_000), "", "short"];
    await fillWith(
      index,
      texts.map((one) => ({ created_ms: 1, kind: "message", texts: [one] })),
      4,
    );
    expect(await index.textCheckpoint()).toBeGreaterThanOrEqual(1);
    for (const [start, length] of [
      [0, 5_000],
      [8_000_001, 300],
      [16_700_000, 33],
    ] as const) {
      const needle = itemAt(texts, 0).slice(start, start + length);
      const found = await index.candidates({ filter: {}, needles: [needle], limit: 10 });
      expect(found.map(({ position }) => position)).toContain(1);
    }
  }, 180_000);
});

describe("texts", () => {
  test("added by two instances at the same time are all found, and no segments overlap", async () => {
    const path = join(folderOfTest(), "index.db");
    const [left, right] = [openIndex(SMALL, path), openIndex(SMALL, path)] as const;
    const entries = Array.from({ length: 60 }, (_, at) => ({
      created_ms: at,
      kind: "message",
      texts: [`word-${at}-${at * 31}`],
    }));
    await fill(left, { rows: rowsOf(entries), through: entries.length });
    const given = { left: 0, right: 0 };
    for (let turn = 0; given.left < 60 || given.right < 60; turn += 1) {
      const side = turn % 3 === 0 ? "left" : "right";
      const through = Math.min(given[side] + 5, 60);
      const index = side === "left" ? left : right;
      given[side] = await index.applyTexts({ texts: textsOf(entries).slice(given[side], through), through });
      if (turn > 200) throw new Error("the instances never come to an end");
    }
    expect(await left.textCheckpoint()).toBe(await right.textCheckpoint());
    expect(await left.textCheckpoint()).toBeGreaterThan(50);
    for (const [at, { texts }] of entries.entries()) {
      const found = await right.candidates({ filter: {}, needles: texts, limit: 100 });
      const positions = found.map(({ position }) => position);
      expect(positions).toContain(at + 1);
      expect(new Set(positions).size).toBe(positions.length);
    }
  });

  test("that are buffered when the index is closed are written, and found after the next open", async () => {
    const path = join(folderOfTest(), "index.db");
    const entries = Array.from({ length: 10 }, (_, at) => ({ created_ms: at, kind: "error", texts: [`word-${at}`] }));
    const first = openIndex(SMALL, path);
    await fillWith(first, entries, 10);
    expect(await first.textCheckpoint()).toBe(7);
    await first.close();
    const second = openIndex(SMALL, path);
    expect(await second.textCheckpoint()).toBe(10);
    expect(await positionsWith(second, "word-9")).toContain(10);
    expect(await positionsWith(second, "nowhere")).toEqual([]);
  });

  test("buffered by a killed program are added again, and nothing is lost", async () => {
    const path = join(folderOfTest(), "index.db");
    const entries = Array.from({ length: 10 }, (_, at) => ({ created_ms: at, kind: "error", texts: [`word-${at}`] }));
    await fillWith(openIndex(SMALL, path), entries, 10);
    const second = openIndex(SMALL, path);
    expect(await second.textCheckpoint()).toBe(7);
    expect(await positionsWith(second, "word-9")).toEqual([10, 9, 8]);
    const more = [...entries, ...entries];
    await fill(second, { rows: rowsOf(more).slice(10), through: 20 });
    expect(await second.applyTexts({ texts: textsOf(more).slice(7), after: 7, through: 20 })).toBe(20);
    expect(await second.textCheckpoint()).toBe(14);
    expect(await positionsWith(second, "word-9")).toContain(10);
  });

  test("that do not continue the index are skipped, and requested from its end", async () => {
    const index = openIndex(SMALL);
    const entries = Array.from({ length: 9 }, (_, at) => ({ created_ms: at, kind: "error", texts: [`word-${at}`] }));
    await fill(index, { rows: rowsOf(entries), through: 9 });
    expect(await index.applyTexts({ texts: textsOf(entries).slice(0, 2), after: 0, through: 2 })).toBe(2);
    expect(await index.applyTexts({ texts: textsOf(entries).slice(4), after: 4, through: 9 })).toBe(2);
    expect(await index.applyTexts({ texts: textsOf(entries).slice(2), after: 2, through: 9 })).toBe(9);
    for (let at = 0; at < 9; at += 1) expect(await positionsWith(index, `word-${at}`)).toContain(at + 1);
  });

  test("whose rows are erased while they are buffered leave no trace", async () => {
    const path = join(folderOfTest(), "index.db");
    const index = openIndex({ ...SMALL, segment: { blocks: 9, entries: 99 } }, path);
    const texts = [["kept alpha"], ["secret-xyzzy"], [], ["kept beta"], ["x".repeat(50)]];
    const entries = texts.map((own, at) => ({ created_ms: at, kind: "error", texts: own }));
    await fill(index, { rows: rowsOf(entries), through: 5 });
    await index.applyTexts({ texts: textsOf(entries), through: 5 });
    await fill(index, { rows: [], erased: [2], through: 6 });
    await index.close();
    const blocks = inspect(path, textBlocks);
    const allowed = slicesOfTexts(["kept alpha", "kept beta", "x".repeat(50)]);
    expect(blocks).toHaveLength(1);
    expect(blocks.every(({ bits }) => bits.size === SLICES || [...bits].every((bit) => allowed.has(bit)))).toBe(true);
    const again = openIndex(SMALL, path);
    expect(await positionsWith(again, "kept")).toEqual([5, 4, 3, 1]);
  });

  test("of a replaced file are dropped when the index is reset", async () => {
    const path = join(folderOfTest(), "index.db");
    const [left, right] = [openIndex(SMALL, path), openIndex(SMALL, path)] as const;
    const entries = Array.from({ length: 9 }, (_, at) => ({ created_ms: at, kind: "error", texts: ["before"] }));
    await fill(left, { rows: rowsOf(entries), through: 9 });
    await left.applyTexts({ texts: textsOf(entries).slice(0, 3), through: 3 });
    await right.reset();
    await fill(right, { rows: rowsOf(entries), through: 9 });
    // Its buffer belongs to dropped tables, so it requests everything from the beginning.
    expect(await left.applyTexts({ texts: textsOf(entries).slice(3), through: 9 })).toBe(0);
    expect(await left.applyTexts({ texts: textsOf(entries), through: 9 })).toBe(9);
    expect(await positionsWith(right, "before")).toHaveLength(9);
  });

  test("are found after a parallel rebuild has made other segments, by the same connection", async () => {
    const index = openIndex();
    const entries = Array.from({ length: 9_000 }, (_, at) => ({
      created_ms: at,
      kind: "error",
      texts: [`word-${at}-`],
    }));
    await fillWith(index, entries, 1_000);
    expect(await positionsWith(index, "word-3500-", 9_000)).toContain(3_501);
    const draft = await index.draft();
    const left = entries.map((one, at) => (at < 3_000 ? { ...one, texts: [] } : one));
    await fill(draft.index, { rows: rowsOf(left).slice(3_000), through: 9_000 });
    await draft.index.applyTexts({ texts: textsOf(left).slice(3_000), through: 9_000 });
    expect(await draft.adopt()).toBe("adopted");
    expect(await positionsWith(index, "word-5000-", 9_000)).toContain(5_001);
  });

  test("are never written before their rows, which have their times", async () => {
    const index = openIndex(SMALL);
    const entries = Array.from({ length: 9 }, (_, at) => ({ created_ms: at, kind: "error", texts: ["early"] }));
    await index.applyTexts({ texts: textsOf(entries), through: 9 });
    expect(await index.textCheckpoint()).toBe(0);
    await fillWith(index, entries, 9);
    expect(await positionsWith(index, "early")).toHaveLength(9);
  });
});

function inspect<T>(path: string, look: (sql: Statements) => T): T {
  const db = new Database(path, { read_only: true });
  try {
    return look(new Statements(db));
  } finally {
    db.close();
  }
}

interface SampleRow {
  readonly created_ms: number;
  readonly kind: string;
  readonly texts: readonly string[];
}

function openIndex(texts?: TextIndexOptions, path = join(folderOfTest(), "index.db")): SqliteIndex {
  const index = SqliteIndex.open({ path, ...(texts === undefined ? {} : { texts }) });
  onTestFinished(() => index.close());
  return index;
}

async function fillWith(index: SqliteIndex | MemoryIndex, entries: readonly SampleRow[], batch: number): Promise<void> {
  await fill(index, { rows: rowsOf(entries), through: entries.length });
  for (let given = 0; given < entries.length; ) {
    const through = Math.min(given + batch, entries.length);
    given = await index.applyTexts({ texts: textsOf(entries).slice(given, through), through });
  }
}

function rowsOf(entries: readonly SampleRow[]): readonly EntryRow[] {
  return entries.map(({ created_ms, kind }, at) => {
    const labels = { session_id: "s", project: at % 2 === 0 ? "p" : "", client: "" };
    return { position: at + 1, created_ms, kind, ...labels, references: [] };
  });
}

function textsOf(entries: readonly SampleRow[]): readonly EntryTexts[] {
  return entries.map(({ texts }, at) => ({ position: at + 1, texts }));
}

/** A part of one of the texts; undefined if there is none. */
function cutFrom(
  entries: readonly SampleRow[],
  [which, one, start, length]: readonly [number, number, number, number],
): string | undefined {
  const { texts } = itemAt(entries, which % entries.length);
  const whole = texts[one % Math.max(texts.length, 1)] ?? "";
  const from = start % Math.max(whole.length, 1);
  return whole === "" ? undefined : whole.slice(from, from + length);
}

async function expectAllOf(
  [index, memory]: readonly [SqliteIndex, MemoryIndex],
  needles: readonly string[],
): Promise<void> {
  for (const filter of [{}, { kinds: ["error"] }, { project: "" }, { since_ms: 2, until_ms: 4 }]) {
    const truth = await memory.candidates({ filter, needles, limit: 1_000 });
    const listed = (await memory.list({ filter, limit: 1_000 })).map(({ position }) => position);
    const found: number[] = [];
    for (let after: { created_ms: number; position: number } | undefined; ; ) {
      const page = await index.candidates({ filter, needles, limit: 3, ...(after === undefined ? {} : { after }) });
      found.push(...page.map(({ position }) => position));
      if (page.length < 3) break;
      after = page.at(-1);
    }
    expect(found).toEqual(listed.filter((position) => found.includes(position)));
    expect(found).toEqual(expect.arrayContaining(truth.map(({ position }) => position)));
  }
}

async function positionsWith(index: SqliteIndex, needle: string, limit = 100): Promise<readonly number[]> {
  return (await index.candidates({ filter: {}, needles: [needle], limit })).map(({ position }) => position);
}
