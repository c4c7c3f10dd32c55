// Checks of documents: each by its key, their order and labels, exactly as they were put, and together with the rows.

import { expect } from "vitest";
import type { ChangeQuery, DocumentQuery, EntryIndex, IndexDocument } from "../../../src/index/port.js";
import { itemAt } from "../../../src/model/item-at.js";
import { fill } from "./index-filling.js";
import { newDocument, newRow } from "./index-samples.js";
import { seededRandom } from "./seeded-random.js";
import type { Check } from "./suite.js";

const ODD_TEXTS = [
  "a",
  "A",
  "",
  "a ",
  "á",
  "a\u0301",
  "%",
  "_",
  "'",
  "🙂",
  "\uffee",
  "a\0b",
  "\u0001a",
  "\ud800",
  "null",
];

export const indexDocumentChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "an index without documents finds none, by any query",
    run: async ({ open }) => {
      const index = await open();
      expect(await index.getDocuments({ collection: "made", keys: ["a"] })).toEqual([]);
      expect(await list(index, {})).toEqual([]);
      expect(await index.countDocuments("made")).toBe(0);
    },
  },
  {
    behaviour: "documents are found by their keys, each in its own collection",
    run: async ({ open }) => {
      const index = await open();
      const other = newDocument("a", 9, { collection: "other", body: { other: true } });
      await put(index, newDocument("a", 1), newDocument("b", 2), other);
      const found = await index.getDocuments({ collection: "made", keys: ["b", "nobody's", "a", "b"] });
      expect(found.toSorted(bySort)).toEqual([newDocument("a", 1), newDocument("b", 2)]);
      expect(await index.getDocuments({ collection: "other", keys: ["a", "b"] })).toEqual([other]);
      expect(await index.getDocuments({ collection: "made", keys: [] })).toEqual([]);
      expect([await index.countDocuments("made"), await index.countDocuments("other")]).toEqual([2, 1]);
    },
  },
  {
    behaviour: "a document that is put again replaces the previous one, with its sort and its labels",
    run: async ({ open }) => {
      const index = await open();
      await put(index, newDocument("a", 1, { labels: ["red", "old"] }), newDocument("b", 2, { labels: ["red"] }));
      const [moved, told] = [newDocument("a", 3, { labels: ["red", "new"] }), newDocument("b", 2, { body: { b: 2 } })];
      await put(index, moved, told);
      expect(await list(index, {})).toEqual([moved, told]);
      expect(await keys(index, { labels: ["red"] })).toEqual(["a"]);
      expect(await keys(index, { labels: ["old"] })).toEqual([]);
      expect(await keys(index, { labels: ["new"] })).toEqual(["a"]);
      expect(await index.countDocuments("made")).toBe(2);
    },
  },
  {
    behaviour: "a removed document is in no answer, and removing a missing one changes nothing",
    run: async ({ open }) => {
      const index = await open();
      await put(index, newDocument("a", 1, { labels: ["red"] }), newDocument("b", 2, { labels: ["red"] }));
      const removed = ["a", "nobody's"].map((key) => ({ collection: "made", key }));
      await fill(index, { rows: [], through: 2, removed: [...removed, { collection: "other", key: "b" }] });
      expect(await keys(index, {})).toEqual(["b"]);
      expect(await keys(index, { labels: ["red"] })).toEqual(["b"]);
      expect(await index.getDocuments({ collection: "made", keys: ["a"] })).toEqual([]);
      expect(await index.countDocuments("made")).toBe(1);
      await put(index, newDocument("a", 1));
      expect(await keys(index, {})).toEqual(["b", "a"]);
    },
  },
  {
    behaviour:
      "documents are listed by sort and, where all else is equal, by the bytes of their keys, in either direction",
    run: async ({ open }) => {
      const index = await open();
      const sorts = [-1e15, -0.5, 0, 0.25, 1, 1, 1, 9_007_199_254_740_991];
      const names = ["z", "y", "x", "w", "\uff5e", "𐀀", "a", "v"];
      await put(index, ...names.map((key, at) => newDocument(key, itemAt(sorts, at))).toReversed());
      const expected = ["z", "y", "x", "w", "a", "\uff5e", "𐀀", "v"];
      expect(await keys(index, { order: "asc" })).toEqual(expected);
      expect(await keys(index, { order: "desc" })).toEqual(expected.toReversed());
      expect((await list(index, { order: "asc" })).map(({ sort }) => sort)).toEqual(sorts);
      expect(await keys(index, { limit: 2 })).toEqual(["v", "𐀀"]);
      expect(await keys(index, { limit: 0 })).toEqual([]);
    },
  },
  {
    behaviour: "where sorts are equal the position decides, before the key does",
    run: async ({ open }) => {
      const index = await open();
      const at = (key: string, position: number) => newDocument(key, 1, { position, labels: ["l"] });
      await put(index, at("a", 30), at("b", 9), at("c", 200), at("d", 30), newDocument("e", 0.5, { position: 999 }));
      expect(await keys(index, {})).toEqual(["c", "d", "a", "b", "e"]);
      expect(await keys(index, { order: "asc" })).toEqual(["e", "b", "a", "d", "c"]);
      for (const labels of [[], ["l"]]) {
        const beyond = (position: number, key?: string) => ({
          sort: 1,
          position,
          ...(key === undefined ? {} : { key }),
        });
        expect((await keys(index, { labels, beyond: beyond(200) })).slice(0, 3)).toEqual(["d", "a", "b"]);
        expect((await keys(index, { labels, beyond: beyond(30) })).slice(0, 1)).toEqual(["b"]);
        expect((await keys(index, { labels, beyond: beyond(30, "d") })).slice(0, 2)).toEqual(["a", "b"]);
        expect(await keys(index, { labels, order: "asc", beyond: beyond(30, "a") })).toEqual(["d", "c"]);
      }
    },
  },
  {
    behaviour: "a list leaves out documents changed after a position; those are listed by position",
    run: async ({ open }) => {
      const index = await open();
      const at = (key: string, sort: number, position: number) => newDocument(key, sort, { position, labels: ["l"] });
      await put(index, at("a", 5, 1), at("b", 4, 7), at("c", 3, 3), at("d", 2, 8), at("e", 1, 8));
      await put(
        index,
        newDocument("other", 1, { collection: "other", position: 50 }),
        newDocument("bare", 0, { position: 9 }),
      );
      const changed = async (beyond: ChangeQuery["beyond"], filter: Partial<ChangeQuery> = {}) =>
        (await index.changedDocuments({ collection: "made", beyond, limit: 100, ...filter })).map(({ key }) => key);
      expect(await keys(index, { through: 7 })).toEqual(["a", "b", "c"]);
      expect(await keys(index, { through: 7, labels: ["l"], beyond: { sort: 5 }, limit: 1 })).toEqual(["b"]);
      expect(await keys(index, { through: 0 })).toEqual([]);
      expect(await changed({ position: 3 })).toEqual(["b", "d", "e", "bare"]);
      expect(await changed({ position: 3 }, { labels: ["l"] })).toEqual(["b", "d", "e"]);
      expect(await changed({ position: 8, key: "d" })).toEqual(["e", "bare"]);
      expect(await changed({ position: 8 })).toEqual(["bare"]);
      expect(await changed({ position: 0 }, { limit: 2 })).toEqual(["a", "c"]);
      await put(index, at("a", 5, 60));
      expect(await changed({ position: 9 })).toEqual(["a"]);
      expect(await keys(index, { through: 59 })).not.toContain("a");
    },
  },
  {
    behaviour: "a list continues strictly after a sort, or after a key of that sort",
    run: async ({ open }) => {
      const index = await open();
      await put(index, ...["a", "b", "c"].map((key) => newDocument(key, 1, { labels: ["l"] })));
      await put(index, newDocument("d", 2, { labels: ["l"] }), newDocument("e", 0, { labels: ["l"] }));
      for (const labels of [[], ["l"]]) {
        expect(await keys(index, { labels, beyond: { sort: 1 } })).toEqual(["e"]);
        expect(await keys(index, { labels, order: "asc", beyond: { sort: 1 } })).toEqual(["d"]);
        expect(await keys(index, { labels, beyond: { sort: 1, position: 1, key: "b" } })).toEqual(["a", "e"]);
        expect(await keys(index, { labels, order: "asc", beyond: { sort: 1, position: 1, key: "b" } })).toEqual([
          "c",
          "d",
        ]);
        expect(await keys(index, { labels, beyond: { sort: 1.5, position: 1, key: "zz" } })).toEqual([
          "c",
          "b",
          "a",
          "e",
        ]);
        expect(await keys(index, { labels, beyond: { sort: -1 } })).toEqual([]);
      }
    },
  },
  ...[1, 3, 100].map(
    (limit): Check<EntryIndex> => ({
      behaviour: `pages of ${limit} documents reach each of them once, with every combination of labels`,
      run: async ({ open }) => {
        const index = await open();
        const documents = mixedDocuments(60);
        await put(index, ...documents);
        for (const order of ["asc", "desc"] as const) {
          for (const labels of [[], ["red"], ["red", "large"], ["large", "red", "new"], ["red", "nowhere"]]) {
            const expected = documents
              .filter((document) => labels.every((label) => document.labels.includes(label)))
              .toSorted((left, right) => bySort(left, right) * (order === "asc" ? 1 : -1));
            expect(await pages(index, { order, labels, limit }), JSON.stringify(labels)).toEqual(expected);
          }
        }
      },
    }),
  ),
  {
    behaviour: "a label of thousands of documents lists like a label of few",
    run: async ({ open }) => {
      const index = await open();
      const documents = Array.from({ length: 2_400 }, (_, at) =>
        newDocument(`key-${at}`, at, {
          labels: ["all", ...(at % 2 === 0 ? ["half"] : []), ...(at < 3 ? ["few"] : [])],
        }),
      );
      await put(index, ...documents);
      const newest = (labels: readonly string[]) => keys(index, { labels, limit: 3 });
      expect(await newest(["all"])).toEqual(["key-2399", "key-2398", "key-2397"]);
      expect(await newest(["half", "all"])).toEqual(["key-2398", "key-2396", "key-2394"]);
      expect(await newest(["all", "few"])).toEqual(["key-2", "key-1", "key-0"]);
      expect(await newest(["all", "half", "few"])).toEqual(["key-2", "key-0"]);
      expect(await keys(index, { labels: ["half"], limit: 2, beyond: { sort: 1_000 } })).toEqual([
        "key-998",
        "key-996",
      ]);
    },
  },
  {
    behaviour: "keys and labels are compared exactly, and returned unchanged",
    run: async ({ open }) => {
      const index = await open();
      const documents = ODD_TEXTS.map((text, at) => newDocument(text, at, { labels: [text, `only ${text}`] }));
      await put(index, ...documents);
      for (const [at, text] of ODD_TEXTS.entries()) {
        const found = await index.getDocuments({ collection: "made", keys: [text] });
        expect(found, JSON.stringify(text)).toEqual([documents[at]]);
        expect(await list(index, { labels: [text] }), JSON.stringify(text)).toEqual([documents[at]]);
        expect(await list(index, { labels: [`only ${text}`, text] })).toEqual([documents[at]]);
      }
      const beyond = { sort: 3, position: 1, key: "a " };
      expect(await list(index, { order: "asc", beyond })).toEqual(documents.slice(4));
    },
  },
  {
    behaviour: "a body of any JSON is returned unchanged",
    run: async ({ open }) => {
      const index = await open();
      const text = '{"__proto__":{"a":[1,1.5,-0.1e-7,null,true,{}]},"\\u0000":"\\ud800 \\u0000 🙂","":"","b":[[]]}';
      const body = JSON.parse(text);
      await put(index, newDocument("a", 1, { body }));
      const [found] = await index.getDocuments({ collection: "made", keys: ["a"] });
      expect(JSON.stringify(found?.body)).toBe(JSON.stringify(body));
      const long = { text: "word ".repeat(200_000) };
      await put(index, newDocument("a", 1, { body: long }));
      expect((await list(index, {}))[0]?.body).toEqual(long);
    },
  },
  {
    behaviour: "a batch changes documents together with rows and checkpoint",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: [newRow(1)], through: 1, put: [newDocument("a", 1)] });
      const after = await index.revision();
      const batch = { rows: [newRow(2)], erased: [1], through: 2, put: [newDocument("b", 2)] };
      const racing = { rows: [newRow(2), newRow(3)], through: 3, put: [newDocument("c", 3)] };
      const removed = [{ collection: "made", key: "a" }];
      await Promise.all([index.apply({ after, ...batch, removed }), index.apply({ after, ...racing })]);
      const rows = (await index.list({ filter: {}, limit: 9 })).map(({ position }) => position);
      const state = { rows, keys: await keys(index, {}), checkpoint: await index.checkpoint() };
      expect([
        { rows: [2], keys: ["b"], checkpoint: 2 },
        { rows: [3, 2, 1], keys: ["c", "a"], checkpoint: 3 },
      ]).toContainEqual(state);
    },
  },
  {
    behaviour: "erasing rows and purging change no document but those that the batch names",
    run: async ({ open }) => {
      const index = await open();
      const documents = mixedDocuments(20);
      await put(index, ...documents);
      const [first, second] = documents as readonly [IndexDocument, IndexDocument];
      const changed = { ...second, labels: ["told again"], body: {} };
      await fill(index, { rows: [], erased: [1], through: 3, put: [changed], removed: [first] });
      await index.purge?.();
      const left = [changed, ...documents.slice(2)];
      expect(await list(index, { order: "asc" })).toEqual(left.toSorted(bySort));
    },
  },
  {
    behaviour: "a reset removes the documents",
    run: async ({ open }) => {
      const index = await open();
      await put(index, newDocument("a", 1, { labels: ["l"] }));
      await index.reset();
      expect([await list(index, {}), await list(index, { labels: ["l"] })]).toEqual([[], []]);
      expect(await index.countDocuments("made")).toBe(0);
      await put(index, newDocument("b", 1, { labels: ["l"] }));
      expect(await keys(index, { labels: ["l"] })).toEqual(["b"]);
    },
  },
  {
    behaviour: "documents survive reopening the index",
    needs: "durable",
    run: async ({ open }) => {
      const index = await open();
      await put(index, ...mixedDocuments(10));
      const revision = await index.revision();
      await index.close();
      const again = await open();
      expect(await list(again, { order: "asc" })).toEqual(mixedDocuments(10).toSorted(bySort));
      expect(await again.revision()).toEqual(revision);
    },
  },
  {
    behaviour: "documents put by one instance are read by the others, and an outdated batch of theirs is skipped",
    needs: "shared",
    run: async ({ open }) => {
      const [left, right] = [await open(), await open()];
      const before = await right.revision();
      await put(left, newDocument("a", 1));
      expect(await keys(right, {})).toEqual(["a"]);
      await right.apply({ after: before, rows: [], through: 1, put: [newDocument("late", 2)] });
      expect(await keys(left, {})).toEqual(["a"]);
      await put(right, newDocument("b", 2));
      expect(await keys(left, {})).toEqual(["b", "a"]);
    },
  },
];

function mixedDocuments(count: number): readonly IndexDocument[] {
  const random = seededRandom(count);
  return Array.from({ length: count }, (_, at) => {
    const labels = ["red", "large", "new"].filter(() => random() < 0.6);
    return newDocument(`key-${(at * 7) % count}`, Math.floor(random() * (count / 4)), { labels });
  });
}

/** A batch of documents alone, as if the next entry had changed them. */
async function put(index: EntryIndex, ...documents: readonly IndexDocument[]): Promise<void> {
  await fill(index, { rows: [], through: (await index.checkpoint()) + 1, put: documents });
}

type DocumentFilter = Partial<Omit<DocumentQuery, "collection">>;

function list(index: EntryIndex, filter: DocumentFilter): Promise<readonly IndexDocument[]> {
  return index.listDocuments({ collection: "made", order: "desc", limit: 100, ...filter });
}

async function keys(index: EntryIndex, filter: DocumentFilter): Promise<readonly string[]> {
  return (await list(index, filter)).map(({ key }) => key);
}

async function pages(index: EntryIndex, filter: DocumentFilter): Promise<readonly IndexDocument[]> {
  const found: IndexDocument[] = [];
  for (let turn = 0; turn < 200; turn += 1) {
    const last = found.at(-1);
    const page = await list(index, last === undefined ? filter : { ...filter, beyond: last });
    if (page.length === 0) return found;
    found.push(...page);
  }
  throw new Error("the pages never end");
}

/** Keys of these samples are plain, so their order is that of their bytes. */
function bySort(left: IndexDocument, right: IndexDocument): number {
  return left.sort - right.sort || (left.key < right.key ? -1 : 1);
}
