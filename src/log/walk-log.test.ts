// Walking through a log: every entry once and in order, up to the given end, with other work in between.
import { expect, test } from "vitest";
import { MemoryLog } from "../engines/memory/log.js";
import type { EntryLog } from "./port.js";
import { walkBodies, walkLog } from "./walk-log.js";

async function logOf(count: number): Promise<EntryLog> {
  const log = new MemoryLog();
  await append(log, count);
  return log;
}

async function append(log: EntryLog, count: number): Promise<void> {
  const { position } = await log.head();
  const entries = Array.from({ length: count }, (_, nth) => ({
    kind: "error",
    recorded_at: "2026-11-15T06:39:37.123Z",
    recorded_by: "",
    salt: Buffer.alloc(16),
    body: Buffer.from("{}"),
    claims: [`id:${position + nth}`],
  }));
  await log.append([entries]);
}

async function positionsOf(walk: AsyncIterable<readonly { readonly position: number }[]>): Promise<number[][]> {
  const batches: number[][] = [];
  for await (const batch of walk) batches.push(batch.map(({ position }) => position));
  return batches;
}

test("every entry comes once and in order, in batches of the given size", async () => {
  const log = await logOf(7);
  const expected = [[1, 2, 3], [4, 5, 6], [7]];
  expect(await positionsOf(walkLog(log, { entries_max: 3 }))).toEqual(expected);
  expect(await positionsOf(walkBodies(log, { entries_max: 3 }))).toEqual(expected);
});

test("a batch has no more bytes than the limit, and at least one entry", async () => {
  const log = await logOf(4);
  expect(await positionsOf(walkLog(log, { bytes_max: 4 }))).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(await positionsOf(walkBodies(log, { bytes_max: 1 }))).toEqual([[1], [2], [3], [4]]);
});

test("it begins after one position and ends with another, also in the middle of a batch", async () => {
  const log = await logOf(9);
  expect(await positionsOf(walkLog(log, { after: 2, through: 6, entries_max: 3 }))).toEqual([[3, 4, 5], [6]]);
  expect(await positionsOf(walkLog(log, { after: 6, through: 6 }))).toEqual([]);
});

test("entries appended meanwhile are left out if an end was given, and included if not", async () => {
  for (const [through, last] of [
    [4, 4],
    [undefined, 6],
  ] as const) {
    const log = await logOf(4);
    const seen: number[] = [];
    for await (const batch of walkLog(log, { entries_max: 3, ...(through === undefined ? {} : { through }) })) {
      if (seen.length === 0) await append(log, 2);
      seen.push(...batch.map(({ position }) => position));
    }
    expect(seen.at(-1)).toBe(last);
  }
});

test("it ends if entries are missing", async () => {
  expect(await positionsOf(walkLog(await logOf(2), { through: 100 }))).toEqual([[1, 2]]);
});

test("other work runs between two batches", async () => {
  const log = await logOf(6);
  let turns = 0;
  const turn = setInterval(() => {
    turns += 1;
  }, 0);
  let asked = 0;
  const slow = {
    read: (range: Parameters<EntryLog["read"]>[0]) => {
      asked += 1;
      const until = performance.now() + 3;
      while (performance.now() < until);
      return log.read(range);
    },
  };
  await positionsOf(walkLog(slow, { entries_max: 1 }));
  clearInterval(turn);
  expect(asked).toBe(7);
  expect(turns).toBeGreaterThan(2);
});
