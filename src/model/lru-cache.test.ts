// The cache drops what was used longest ago.
import { expect, test } from "vitest";
import { LruCache } from "./lru-cache.js";

test("the least recently used item is dropped first", () => {
  const kept = new LruCache<number>(2);
  kept.set("a", 1);
  kept.set("b", 2);
  kept.set("a", 3);
  kept.set("c", 4);
  expect(["a", "b", "c"].map((name) => kept.get(name))).toEqual([3, undefined, 4]);
  kept.clear();
  expect(kept.get("a")).toBeUndefined();
});
