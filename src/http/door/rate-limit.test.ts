// How often one may ask: what a second brings may be used at once, and comes back evenly.
import { expect, test } from "vitest";
import { RateLimit } from "./rate-limit.js";

test("a second's worth passes at once, then one for each share of a second", () => {
  const rate = new RateLimit(10);
  for (let nth = 0; nth < 10; nth += 1) expect(rate.take("a", 0)).toBe(0);
  expect(rate.take("a", 0)).toBe(100);
  expect(rate.take("a", 50)).toBe(50);
  expect(rate.take("a", 100)).toBe(0);
  expect(rate.take("a", 100)).toBe(100);
});

test("nobody saves up more than a second's worth", () => {
  const rate = new RateLimit(2);
  rate.take("a", 0);
  expect([1, 2, 3].map(() => rate.take("a", 60_000))).toEqual([0, 0, 500]);
});

test("one client's haste is not another's", () => {
  const rate = new RateLimit(1);
  expect([rate.take("a", 0), rate.take("a", 0), rate.take("b", 0)]).toEqual([0, 1000, 0]);
});

test("a hundred thousand clients leave no more than a few thousand behind, and are each served", () => {
  const rate = new RateLimit(1);
  for (let nth = 0; nth < 100_000; nth += 1) expect(rate.take(String(nth), nth / 100)).toBe(0);
});

test("no limit is none", () => {
  const rate = new RateLimit(0);
  for (let nth = 0; nth < 1_000; nth += 1) expect(rate.take("a", 0)).toBe(0);
});
