// What is kept of what was asked about lately.
import { expect, test } from "vitest";
import { LruCache } from "./lru-cache.js";

test("what was used longest ago goes first, and what is used again stays", () => {
  const kept = new LruCache<number>(2);
  kept.set("a", 1);
  kept.set("b", 2);
  kept.set("a", 3);
  kept.set("c", 4);
  expect(["a", "b", "c"].map((name) => kept.get(name))).toEqual([3, undefined, 4]);
  kept.clear();
  expect(kept.get("a")).toBeUndefined();
});
