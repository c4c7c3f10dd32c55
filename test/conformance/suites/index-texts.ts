// Checks of the text index: candidates are all that may match, in the order of lists, whatever was applied so far.
import { expect } from "vitest";
import type { EntryIndex, RowFilter, RowKey } from "../../../src/index/port.js";
import { fill } from "./index-filling.js";
import { expectedKeys, filterValues, newRow } from "./index-samples.js";
import {
  allCandidates,
  COUNT,
  candidates,
  expectCandidates,
  expectNewest,
  giveTexts,
  NEEDLES,
  ROWS,
  TEXTS,
  withTexts,
} from "./index-text-samples.js";
import type { Check } from "./suite.js";

export const indexTextChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "an index without texts has a text checkpoint of 0, and everything that passes a filter is a candidate",
    run: async ({ open }) => {
      const index = await open();
      expect(await index.textCheckpoint()).toBe(0);
      expect(await candidates(index, {}, ["a"])).toEqual([]);
      await fill(index, { rows: ROWS, through: COUNT });
      expect(await index.textCheckpoint()).toBe(0);
      expect(await candidates(index, {}, ["nowhere at all"])).toEqual(expectedKeys(ROWS, {}));
      expect(await candidates(index, { project: "" }, ["a"])).toEqual(expectedKeys(ROWS, { project: "" }));
    },
  },
  {
    behaviour: "every entry that holds all needles is a candidate, in every script and with every character",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      for (const needles of NEEDLES) await expectCandidates(index, {}, needles);
    },
  },
  {
    behaviour: "every substring of a text finds its entry, from one character to the whole text",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      for (const { position, texts } of TEXTS.slice(0, 40)) {
        for (const text of texts) {
          const points = Array.from(text);
          for (let length = 1; length <= points.length; length += 1 + Math.floor(length / 3)) {
            const needle = points.slice(0, length).join("");
            const found = await candidates(index, {}, [needle]);
            expect(
              found.map((key) => key.position),
              JSON.stringify(needle),
            ).toContain(position);
          }
        }
      }
    },
  },
  {
    behaviour: "candidates pass the filter, every filter alone and with needles",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      for (const [name, values] of Object.entries(filterValues)) {
        for (const value of values) {
          const filter: RowFilter = value === undefined ? {} : { [name]: value };
          for (const needles of NEEDLES.slice(0, 30)) await expectCandidates(index, filter, needles);
        }
      }
      const filter = { kinds: ["interaction", "message"], project: "Atlas", since_ms: 10_000, until_ms: 50_000 };
      for (const needles of NEEDLES) await expectCandidates(index, filter, needles);
    },
  },
  {
    behaviour: "without needles candidates are the list",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      for (const filter of [{}, { kinds: ["error"] }, { kinds: [] }, { session_id: "s:1" }]) {
        expect(await candidates(index, filter, [])).toEqual(expectedKeys(ROWS, filter));
      }
    },
  },
  {
    behaviour: "the newest candidates of a kind are the candidates among so many of its newest rows, or all there are",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      const times = { since_ms: 10_000, until_ms: 50_000 };
      for (const filter of [{}, { project: "Atlas" }, { session_id: "s:1" }, times, { ...times, project: "" }]) {
        for (const needles of [[], ...NEEDLES.slice(0, 40)]) {
          for (const rows_max of [0, 3, COUNT])
            await expectNewest(index, { kind: "message", filter, needles, rows_max });
        }
      }
      const none = { kind: "gesture", filter: {}, needles: ["a"], rows_max: 5 };
      expect(await index.newestCandidates(none)).toEqual({ keys: [], is_all: true });
    },
  },
  {
    behaviour: "among the newest candidates are entries whose texts are not applied yet",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: COUNT });
      await giveTexts(index, { after: 0, through: 100, step: 100 });
      for (const needles of [["nowhere at all"], ...NEEDLES.slice(0, 20)]) {
        const { keys } = await index.newestCandidates({ kind: "message", filter: {}, needles, rows_max: COUNT });
        const found = new Set(keys.map(({ position }) => position));
        const late = ROWS.filter(({ kind, position }) => kind === "message" && position > 100);
        expect(late.filter(({ position }) => !found.has(position))).toEqual([]);
      }
    },
  },
  ...[1, 3, 50].map(
    (limit): Check<EntryIndex> => ({
      behaviour: `pages of ${limit} candidates reach each of them exactly once`,
      run: async ({ open }) => {
        const index = await withTexts(await open());
        for (const needles of NEEDLES.slice(0, 12)) {
          const whole = await candidates(index, {}, needles);
          const paged: RowKey[] = [];
          while (paged.length <= whole.length) {
            const after = paged.at(-1);
            const page = await index.candidates({
              filter: {},
              needles,
              limit,
              ...(after === undefined ? {} : { after }),
            });
            expect(page.length).toBeLessThanOrEqual(limit);
            if (page.length === 0) break;
            paged.push(...page);
          }
          expect(paged, JSON.stringify(needles)).toEqual(whole);
        }
        expect(await index.candidates({ filter: {}, needles: ["a"], limit: 0 })).toEqual([]);
      },
    }),
  ),
  {
    behaviour: "entries whose texts are not applied yet are candidates for everything",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: COUNT });
      await giveTexts(index, { after: 0, through: 100, step: 100 });
      expect(await index.textCheckpoint()).toBeLessThanOrEqual(100);
      for (const needles of [["nowhere at all"], ...NEEDLES.slice(0, 60)]) {
        const found = new Set((await candidates(index, {}, needles)).map(({ position }) => position));
        for (let position = 101; position <= COUNT; position += 1) expect(found.has(position)).toBe(true);
        await expectCandidates(index, {}, needles);
      }
    },
  },
  {
    behaviour: "texts in many small batches find what one batch finds",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: COUNT });
      await giveTexts(index, { after: 0, through: COUNT, step: 3 });
      for (const needles of NEEDLES.slice(0, 150)) await expectCandidates(index, {}, needles);
    },
  },
  {
    behaviour: "texts applied between rows are found with earlier ones",
    run: async ({ open }) => {
      const index = await open();
      let given = 0;
      for (let through = 40; through <= COUNT; through += 40) {
        await fill(index, { rows: ROWS.slice(through - 40, through), through });
        given = await giveTexts(index, { after: given, through: through - 7, step: 20 });
        for (const needles of NEEDLES.slice(0, 25)) await expectCandidates(index, {}, needles, through);
      }
    },
  },
  {
    behaviour: "texts that were applied before change nothing, and never move the text checkpoint back",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      const checkpoint = await index.textCheckpoint();
      const before = await allCandidates(index);
      await index.applyTexts({ texts: TEXTS.slice(0, 50), through: 50 });
      await index.applyTexts({ texts: TEXTS, through: COUNT });
      expect(await index.textCheckpoint()).toBeGreaterThanOrEqual(checkpoint);
      for (const [at, needles] of NEEDLES.slice(0, 60).entries()) {
        await expectCandidates(index, {}, needles);
        expect((await candidates(index, {}, needles)).length).toBeLessThanOrEqual(before[at]?.length as number);
      }
    },
  },
  {
    behaviour: "texts beyond the text checkpoint are skipped, as after a concurrent reset",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      await index.reset();
      await fill(index, { rows: ROWS, through: COUNT });
      const late = { texts: TEXTS.slice(50), after: 50, through: COUNT };
      expect(await index.applyTexts(late)).toBe(0);
      expect(await index.textCheckpoint()).toBe(0);
      for (const needles of NEEDLES.slice(0, 10)) await expectCandidates(index, {}, needles);
    },
  },
  {
    behaviour: "texts that arrive before their rows, as after a concurrent reset, leave no entry out",
    run: async ({ open }) => {
      const index = await open();
      await index.applyTexts({ texts: TEXTS.slice(0, 50), after: 0, through: 50 });
      await fill(index, { rows: ROWS, through: COUNT });
      for (const needles of NEEDLES.slice(0, 10)) await expectCandidates(index, {}, needles);
    },
  },
  {
    behaviour: "an entry without texts and a missing position do not block indexing",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: [newRow(1), newRow(2), newRow(4)], through: 6 });
      const texts = [
        { position: 1, texts: ["one text", "another"] },
        { position: 2, texts: [] },
      ];
      await index.applyTexts({ texts: [...texts, { position: 4, texts: ["one text"] }], through: 6 });
      const found = (await candidates(index, {}, ["one text"])).map(({ position }) => position);
      expect(found).toEqual(expect.arrayContaining([4, 1]));
    },
  },
  {
    behaviour: "a long text is found by its beginning, its middle and its end",
    run: async ({ open }) => {
      const index = await open();
      const words = Array.from({ length: 20_000 }, (_, at) => `word${at * 7_919}`);
      await fill(index, { rows: [newRow(1), newRow(2)], through: 2 });
      const text = words.join(" ");
      await index.applyTexts({
        texts: [
          { position: 1, texts: [text] },
          { position: 2, texts: ["x"] },
        ],
        through: 2,
      });
      for (const needle of [words[0], words[10_000], words.at(-1), text.slice(50_000, 54_000)]) {
        const found = await candidates(index, {}, [needle as string]);
        expect(found.map(({ position }) => position)).toContain(1);
      }
      const many = await candidates(index, {}, words.slice(0, 1_000));
      expect(many.map(({ position }) => position)).toContain(1);
    },
  },
  {
    behaviour: "a reset removes the texts, and applying restarts",
    run: async ({ open }) => {
      const index = await withTexts(await open());
      await index.reset();
      expect(await index.textCheckpoint()).toBe(0);
      expect(await candidates(index, {}, ["a"])).toEqual([]);
      await fill(index, { rows: ROWS, through: COUNT });
      expect(await candidates(index, {}, ["nowhere at all"])).toEqual(expectedKeys(ROWS, {}));
      const other = TEXTS.map(({ position }) => ({ position, texts: [`fresh ${position};`] }));
      await index.applyTexts({ texts: other, through: COUNT });
      for (const position of [1, 77, COUNT]) {
        const found = await candidates(index, {}, [`fresh ${position};`]);
        expect(found.map((key) => key.position)).toContain(position);
      }
    },
  },
  {
    behaviour: "texts survive reopening the index, and continue from their checkpoint",
    needs: "durable",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: COUNT });
      await giveTexts(index, { after: 0, through: 150, step: 150 });
      const checkpoint = await index.textCheckpoint();
      const again = await open();
      expect(await again.checkpoint()).toBe(COUNT);
      expect(await again.textCheckpoint()).toBe(checkpoint);
      await giveTexts(again, { after: checkpoint, through: COUNT, step: COUNT });
      for (const needles of NEEDLES.slice(0, 100)) await expectCandidates(again, {}, needles);
    },
  },
];
