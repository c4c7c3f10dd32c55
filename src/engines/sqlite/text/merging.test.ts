// Merging: after any entries, erasures, closing or crashes between merges, by one program or by two, everything is
// still found, and erased text leaves no bit.

import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { fill } from "../../../../test/support/fill-index.js";
import { fuzzTimeoutMs, slowFuzz } from "../../../../test/support/fuzz.js";
import { folderOfTest } from "../../../../test/support/temporary-folder.js";
import { slicesOfTexts, textBlocks } from "../../../../test/support/text-blocks.js";
import { itemAt } from "../../../model/item-at.js";
import { Database } from "../driver.js";
import { SqliteIndex } from "../index.js";
import { Statements } from "../statements.js";
import { isMerged, listSegments } from "./segments.js";
import { SLICES } from "./signature.js";
import type { TextIndexOptions } from "./text-index.js";

/** Small enough for a few texts to become unmerged and merged segments. */
const SIZES: readonly TextIndexOptions[] = [
  { segment: { blocks: 2, entries: 3 }, few: 2 },
  { segment: { blocks: 4, entries: 9 }, few: 500 },
  { segment: { blocks: 40, entries: 50 }, few: 8 },
];

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant("give" as const), count: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 5, arbitrary: fc.record({ act: fc.constant("merge" as const), count: fc.integer({ min: 1, max: 130 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant("erase" as const), which: fc.array(fc.nat(), { maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom("close" as const, "crash" as const, "other" as const) }) },
);

test(
  "everything is found in order, and no erased text is left, whatever happens between steps",
  async () => {
    const cases = fc.tuple(fc.constantFrom(...SIZES), fc.array(step, { minLength: 5, maxLength: 40 }));
    await fc.assert(
      fc.asyncProperty(cases, async ([sizes, steps]) => {
        const store = new MergedStore(sizes);
        try {
          for (const [nth, one] of steps.entries()) {
            if (one.act === "give") await store.give(one.count);
            else if (one.act === "merge") await store.merge(one.count);
            else if (one.act === "erase") await store.erase(one.which);
            else if (one.act === "close") await store.reopen();
            else if (one.act === "crash") store.cutOff();
            else store.takeTheOther();
            await store.expectFound(nth);
          }
          await store.give(1);
          await store.merge(10_000);
          for (let nth = 0; nth < 6; nth += 1) await store.expectFound(nth);
          store.expectNoTrace();
        } finally {
          await store.close();
        }
      }),
      slowFuzz(10),
    );
  },
  fuzzTimeoutMs,
);

test("many texts added one by one become few segments, and these are merged", async () => {
  const store = new MergedStore(itemAt(SIZES, 1));
  onTestFinished(() => store.close());
  for (let nth = 0; nth < 60; nth += 1) {
    await store.give(1);
    await store.merge(2);
  }
  await store.merge(10_000);
  const { segments } = store.contents();
  expect(segments.filter((segment) => !isMerged(segment)).length).toBeLessThan(4);
  expect(segments.some(isMerged)).toBe(true);
  await store.expectFound(0);
  await store.erase([3, 17, 40]);
  store.expectNoTrace();
});

test("a segment loses what is erased between two merges", async () => {
  for (const merges of [1, 2, 3, 5, 8, 11]) {
    const store = new MergedStore(itemAt(SIZES, 0));
    onTestFinished(() => store.close());
    for (let nth = 0; nth < 6; nth += 1) await store.give(2);
    await store.merge(merges);
    await store.erase([0, 5, 7]);
    store.expectNoTrace();
    await store.merge(10_000);
    store.expectNoTrace();
    await store.expectFound(merges);
  }
});

test("if everything is erased, nothing is left", async () => {
  const store = new MergedStore(itemAt(SIZES, 0));
  onTestFinished(() => store.close());
  for (let nth = 0; nth < 8; nth += 1) await store.give(2);
  await store.merge(10_000);
  expect(store.contents().segments.length).toBeGreaterThan(0);
  await store.erase(Array.from({ length: 16 }, (_, at) => at));
  expect(store.contents()).toMatchObject({ segments: [], blocks: [], slices: 0 });
  await store.give(3);
  await store.expectFound(5);
});

interface Known {
  readonly created_ms: number;
  readonly texts: readonly string[];
}

/** An index, opened twice, and its expected content. */
class MergedStore {
  readonly #path = join(folderOfTest(), "index.db");
  readonly #options: TextIndexOptions;
  readonly #opened: SqliteIndex[] = [];
  readonly #entries = new Map<number, Known>();
  #through = 0;
  #index: SqliteIndex;
  #other: SqliteIndex;

  constructor(options: TextIndexOptions) {
    this.#options = options;
    this.#index = this.#open();
    this.#other = this.#open();
  }

  async give(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth += 1) {
      const position = this.#through + 1;
      const created_ms = (position * 7) % 23;
      const texts = textsOf(position);
      this.#entries.set(position, { created_ms, texts });
      const labels = { kind: "error", session_id: "s", project: "", client: "", references: [] };
      await fill(this.#index, { rows: [{ position, created_ms, ...labels }], through: position });
      this.#through = position;
    }
    await this.#giveTexts();
  }

  async merge(steps: number): Promise<void> {
    for (let nth = 0; nth < steps && (await this.#index.mergeTexts()); nth += 1);
  }

  async erase(which: readonly number[]): Promise<void> {
    const live = [...this.#entries.keys()];
    const erased = which.flatMap((nth) => live[nth % Math.max(live.length, 1)] ?? []);
    for (const position of erased) this.#entries.delete(position);
    this.#through += 1;
    await fill(this.#index, { rows: [], erased, through: this.#through });
  }

  async reopen(): Promise<void> {
    await this.#index.close();
    this.#index = this.#open();
  }

  /** Its buffer is lost, as in a killed program. */
  cutOff(): void {
    this.#index = this.#open();
  }

  takeTheOther(): void {
    [this.#index, this.#other] = [this.#other, this.#index];
  }

  async close(): Promise<void> {
    for (const index of this.#opened) await index.close();
  }

  /** Every entry that contains a needle, in the order of lists and page by page, and no erased one. */
  async expectFound(seed: number): Promise<void> {
    const live = [...this.#entries].toSorted(([left, a], [right, b]) => b.created_ms - a.created_ms || right - left);
    const [, some] = live[seed % Math.max(live.length, 1)] ?? [];
    for (const needle of ["shared", `unique-${seed * 3 + 1}-`, some?.texts[0]?.slice(5, 40) ?? "absent"]) {
      for (const index of [this.#index, this.#other]) {
        const found = await pages(index, needle);
        const wanted = live.filter(([, { texts }]) => texts.some((text) => text.includes(needle)));
        expect(found).toEqual(live.map(([position]) => position).filter((position) => found.includes(position)));
        expect(found).toEqual(expect.arrayContaining(wanted.map(([position]) => position)));
      }
    }
  }

  /** Each block has the bits of existing entries and no others, or all bits. */
  expectNoTrace(): void {
    const { blocks } = this.contents();
    for (const { low, high, bits } of blocks) {
      if (bits.size === SLICES) continue;
      const allowed = new Set<number>();
      for (let position = low; position <= high; position += 1) {
        for (const slice of slicesOfTexts(this.#entries.get(position)?.texts ?? [])) allowed.add(slice);
      }
      expect([...bits].filter((slice) => !allowed.has(slice))).toEqual([]);
    }
  }

  contents() {
    const db = new Database(this.#path, { read_only: true });
    try {
      const sql = new Statements(db);
      const { slices } = sql.get<{ readonly slices: number }>("SELECT count(*) AS slices FROM text_slices") as {
        readonly slices: number;
      };
      return { segments: listSegments(sql), blocks: textBlocks(sql), slices };
    } finally {
      db.close();
    }
  }

  async #giveTexts(): Promise<void> {
    for (let after = await this.#index.textCheckpoint(); after < this.#through; ) {
      const through = Math.min(after + 4, this.#through);
      const given = [...this.#entries].filter(([position]) => position > after && position <= through);
      const texts = given.map(([position, one]) => ({ position, texts: one.texts }));
      after = await this.#index.applyTexts({ texts, after, through });
    }
  }

  #open(): SqliteIndex {
    const index = SqliteIndex.open({ path: this.#path, texts: this.#options });
    this.#opened.push(index);
    return index;
  }
}

/** A word that no other entry has, one that all have, and sometimes enough text for several blocks. */
function textsOf(position: number): readonly string[] {
  if (position % 11 === 0) return [];
  const long = Array.from({ length: 900 }, (_, at) => ((position + 1) * (at + 7) * 7_919).toString(36)).join(" ");
  return [`unique-${position}- shared`, ...(position % 4 === 0 ? [long] : [])];
}

async function pages(index: SqliteIndex, needle: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (let after: { created_ms: number; position: number } | undefined; ; ) {
    const place = after === undefined ? {} : { after };
    const page = await index.candidates({ filter: {}, needles: [needle], limit: 7, ...place });
    found.push(...page.map(({ position }) => position));
    if (page.length < 7) return found;
    after = page.at(-1);
  }
}
