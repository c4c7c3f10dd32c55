// Checks of appending: gapless positions, the chain, whole units, and sizes from nothing to very much.
import { expect } from "vitest";
import type { EntryLog, LogEntry, Placement } from "../../../src/log/port.js";
import { commitmentOf, GENESIS_HASH } from "../../../src/model/chain.js";
import { hexOf } from "../../../src/model/hex.js";
import { appendOne, chained, legible, newEntries, newEntry, placedBy, positionsOf, readAll } from "./log-entries.js";
import type { Check } from "./suite.js";

const MANY = 4_000;
const BIG_BYTES = 16 * 1024 * 1024;

export const logAppendChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "an empty log ends at position 0, with the initial hash of the chain",
    run: async ({ open }) => {
      const { position, hash, log_id } = await (await open()).head();
      expect({ position, hash: hexOf(hash) }).toEqual({ position: 0, hash: hexOf(GENESIS_HASH) });
      expect(log_id).not.toBe("");
    },
  },
  {
    behaviour: "two logs have different ids, and a log keeps its own",
    run: async ({ open, openOther }) => {
      const log = await open();
      const { log_id } = await log.head();
      await appendOne(log, newEntry("a"));
      expect((await log.head()).log_id).toBe(log_id);
      expect((await (await openOther()).head()).log_id).not.toBe(log_id);
    },
  },
  {
    behaviour: "positions start at 1 and have no gap, across units and calls",
    run: async ({ open }) => {
      const log = await open();
      const entries = newEntries("entry", 6);
      expect(positionsOf(await log.append([entries.slice(0, 1), entries.slice(1, 3)]))).toEqual([1, 2, 3]);
      expect(positionsOf(await log.append([entries.slice(3)]))).toEqual([4, 5, 6]);
      expect((await readAll(log)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6]);
    },
  },
  {
    behaviour: "each hash is computed from the previous one, as the chain defines",
    run: async ({ open }) => {
      const log = await open();
      const entries = newEntries("entry", 6);
      const outcomes = [
        ...(await log.append([entries.slice(0, 2), entries.slice(2, 3)])),
        ...(await log.append([entries.slice(3)])),
      ];
      const expected = chained(entries);
      expect((await readAll(log)).map(legible)).toEqual(expected.map(legible));
      const hashes = outcomes.flatMap((outcome) => placedBy(outcome).map(({ hash }) => hexOf(hash)));
      expect(hashes).toEqual(expected.map(({ hash }) => hexOf(hash)));
    },
  },
  {
    behaviour: "the head names the newest entry and its hash",
    run: async ({ open }) => {
      const log = await open();
      for (const entry of newEntries("entry", 3)) {
        const placement = await appendOne(log, entry);
        const { position, hash } = await log.head();
        expect({ position, hash: hexOf(hash) }).toEqual({ ...placement, hash: hexOf(placement.hash) });
      }
    },
  },
  {
    behaviour: "a call without units appends nothing",
    run: async ({ open }) => {
      const log = await open();
      expect(await log.append([])).toEqual([]);
      expect((await log.head()).position).toBe(0);
    },
  },
  {
    behaviour: "a unit without entries places nothing, and the other units are appended",
    run: async ({ open }) => {
      const log = await open();
      const outcomes = await log.append([[], [newEntry("a")], []]);
      expect(outcomes.map((outcome) => placedBy(outcome).map(({ position }) => position))).toEqual([[], [1], []]);
      expect((await log.head()).position).toBe(1);
    },
  },
  {
    behaviour: "the bytes of any body come back unchanged, even of an empty one",
    run: async ({ open }) => {
      const log = await open();
      const bodies = [new Uint8Array(), Uint8Array.from({ length: 256 }, (_, byte) => byte), Buffer.alloc(3)];
      const entries = bodies.map((body, index) => newEntry(`body-${index}`, { body }));
      await log.append([entries]);
      expect((await readAll(log)).map(legible)).toEqual(chained(entries).map(legible));
    },
  },
  {
    behaviour: "kinds and times come back as they were given",
    run: async ({ open }) => {
      const log = await open();
      const entries = [
        newEntry("a", { kind: "memory_reinforced", recorded_at: "0001-01-01T00:00:00.000Z" }),
        newEntry("b", { kind: "raw", recorded_at: "9999-12-31T23:59:59.999Z" }),
      ];
      await log.append([entries]);
      expect((await readAll(log)).map(legible)).toEqual(chained(entries).map(legible));
    },
  },
  {
    behaviour: "a body of 16 MiB is kept whole",
    run: async ({ open }) => {
      const log = await open();
      const body = Buffer.alloc(BIG_BYTES, "every body has its end");
      const big = newEntry("big", { body });
      await log.append([[newEntry("before")], [big], [newEntry("after")]]);
      const [stored] = await log.get([2]);
      expect(stored?.body?.byteLength).toBe(BIG_BYTES);
      expect(Buffer.compare(stored?.body ?? Buffer.of(), body)).toBe(0);
      expect((await log.head()).position).toBe(3);
    },
  },
  {
    behaviour: `a unit of ${MANY} entries is appended whole, each at its place`,
    run: async ({ open }) => {
      const log = await open();
      const entries = newEntries("entry", MANY);
      expect(positionsOf(await log.append([entries]))).toEqual(entries.map((_, index) => index + 1));
      expect((await readAll(log)).map(legible)).toEqual(chained(entries).map(legible));
    },
  },
  {
    behaviour: "calls made at once are each appended whole, without a gap",
    run: async ({ open }) => {
      const log = await open();
      const units = Array.from({ length: 300 }, (_, unit) => newEntries(`unit-${unit}`, 1 + (unit % 4)));
      const outcomes = (await Promise.all(units.map((unit) => log.append([unit])))).flat();
      const stored = await readAll(log);
      expect(stored.map(({ position }) => position)).toEqual(units.flat().map((_, index) => index + 1));
      for (const [at, unit] of units.entries()) {
        const [first] = placedBy(outcomes[at]) as readonly [Placement];
        const found = stored.slice(first.position - 1, first.position - 1 + unit.length);
        expect(found.map(({ commitment }) => hexOf(commitment))).toEqual(unit.map(commitmentHex));
      }
    },
  },
];

function commitmentHex({ salt, body }: LogEntry): string {
  return hexOf(commitmentOf(salt, body));
}
