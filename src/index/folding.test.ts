// Folding: documents that a batch changes, and those that lose rows, read page by page and only where something is left.
import { beforeEach, expect, test } from "vitest";
import { fill } from "../../test/support/fill-index.js";
import { MemoryIndex } from "../engines/memory/index.js";
import { foldBatch } from "./folding.js";
import type { EntryRow } from "./port.js";
import { SESSIONS } from "./session-fold.js";

class WatchedIndex extends MemoryIndex {
  readonly asked: number[] = [];
  override rowsAt(positions: readonly number[]) {
    this.asked.push(positions.length);
    return super.rowsAt(positions);
  }
}

let index: WatchedIndex;

beforeEach(() => {
  index = new WatchedIndex();
});

test("a batch puts each session that it touches once, and reads no rows", async () => {
  await fill(index, { rows: [row(1, "a"), row(2, "b")], through: 2 });
  const { put, removed } = await foldBatch({ index, rows: [row(3, "a"), row(4, "c"), row(5, "a"), row(6, "")] });
  expect(put?.map(({ collection, key, sort }) => [collection, key, sort])).toEqual([
    [SESSIONS, "a", 5],
    [SESSIONS, "c", 4],
    // One document has the outlines of all sessions in its range of positions.
    ["outlines", "0", 0],
  ]);
  expect(removed).toEqual([]);
  expect(index.asked).toEqual([]);
});

test("folding does not change the index, so a skipped batch leaves no trace", async () => {
  await fill(index, { rows: [row(1, "a")], through: 1 });
  const before = await index.getDocuments({ collection: SESSIONS, keys: ["a"] });
  const copy = structuredClone(before);
  await foldBatch({ index, rows: [row(2, "a")], erased: [1] });
  expect(before).toEqual(copy);
  expect(await index.getDocuments({ collection: SESSIONS, keys: ["a"] })).toEqual(copy);
});

test("a long session that loses an entry is read in pages, one that loses all is not read at all", async () => {
  const rows = Array.from({ length: 5_200 }, (_, at) => row(at + 1, at < 5_000 ? "long" : "short"));
  await fill(index, { rows, through: 5_200 });
  const erased = [17, ...Array.from({ length: 200 }, (_, at) => 5_001 + at)];
  const { put, removed } = await foldBatch({ index, rows: [], erased });
  const sessions = put?.filter(({ collection }) => collection === SESSIONS);
  expect(sessions?.map(({ key, body }) => [key, body.by_kind])).toEqual([["long", { error: 4_999 }]]);
  // The range that has both of them is folded again, and one of its neighbours is gone.
  expect(removed).toEqual([
    { collection: SESSIONS, key: "short" },
    { collection: "outlines", key: "40" },
  ]);
  expect(Math.max(...index.asked)).toBeLessThanOrEqual(1_000);
  const ranges = [0, 39].map((block) => Math.min(block * 128 + 127, 5_000) - Math.max(block * 128, 1) + 1);
  expect(index.asked.reduce((sum, count) => sum + count)).toBe(201 + 4_999 + (ranges[0] ?? 0) - 1 + (ranges[1] ?? 0));
});

test("positions that have no row take nothing with them", async () => {
  await fill(index, { rows: [row(1, "a")], through: 1 });
  expect(await foldBatch({ index, rows: [], erased: [7, 8, 7] })).toEqual({ put: [], removed: [] });
});

function row(position: number, session_id: string): EntryRow {
  const labels = { session_id, project: "", client: "" };
  return { position, kind: "error", created_ms: position, ...labels, references: [] };
}
