// What is kept of what was asked about lately.
import { expect, test } from "vitest";
import { RecentlyUsed } from "./recently-used.js";

test("what was used longest ago goes first, and what is used again stays", () => {
  const kept = new RecentlyUsed<number>(2);
  kept.use("a", 1);
  kept.use("b", 2);
  kept.use("a", 3);
  kept.use("c", 4);
  expect(["a", "b", "c"].map((name) => kept.get(name))).toEqual([3, undefined, 4]);
  kept.clear();
  expect(kept.get("a")).toBeUndefined();
});
