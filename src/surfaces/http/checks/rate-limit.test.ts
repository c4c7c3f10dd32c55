// Rate limits: a second's requests may come at once, and refill evenly.
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

test("no client saves up more than a second's worth", () => {
  const rate = new RateLimit(2);
  rate.take("a", 0);
  expect([1, 2, 3].map(() => rate.take("a", 60_000))).toEqual([0, 0, 500]);
});

test("one client's requests do not count for another", () => {
  const rate = new RateLimit(1);
  expect([rate.take("a", 0), rate.take("a", 0), rate.take("b", 0)]).toEqual([0, 1000, 0]);
});

test("a hundred thousand clients per second are each served, and at most ten thousand of them are remembered", () => {
  const rate = new RateLimit(1);
  const clients = Array.from({ length: 100_000 }, (_, nth) => String(nth));
  expect(clients.filter((client, nth) => rate.take(client, nth / 1_000) > 0)).toEqual([]);
  // Each remembered client has used its one request. The newest are asked first, since others need a free slot.
  const remembered = clients.reverse().filter((client) => rate.take(client, 100) > 0);
  expect(remembered.length).toBeGreaterThan(5_000);
  expect(remembered.length).toBeLessThanOrEqual(10_000);
});

test("clients idle for a second are dropped first, and the others stay", () => {
  const rate = new RateLimit(2);
  const ask = (name: string, count: number, nowMs: number): number => {
    let waiting = 0;
    for (let nth = 0; nth < count; nth += 1) if (rate.take(`${name} ${nth}`, nowMs) > 0) waiting += 1;
    return waiting;
  };
  ask("idle", 5_000, 0);
  for (let nth = 0; nth < 2; nth += 1) ask("busy", 5_000, 600);
  expect(ask("new", 5_000, 1_000)).toBe(0);
  // Each has regained most of a request; a forgotten client would not have to wait.
  expect(ask("busy", 5_000, 1_000)).toBe(5_000);
});

test("if all have asked within a second, the client known longest is evicted", () => {
  const rate = new RateLimit(1);
  const isRemembered = (client: string): boolean => rate.take(client, 0) > 0;
  for (let nth = 0; nth < 10_000; nth += 1) rate.take(String(nth), 0);
  expect([isRemembered("0"), isRemembered("9999")]).toEqual([true, true]);
  rate.take("one more", 0);
  expect([isRemembered("9999"), isRemembered("one more"), isRemembered("0")]).toEqual([true, true, false]);
});

test("a limit of zero is no limit", () => {
  const rate = new RateLimit(0);
  for (let nth = 0; nth < 1_000; nth += 1) expect(rate.take("a", 0)).toBe(0);
});
