// Checks of restoring: entries of another log at their old places, or not at all.

import { expect } from "vitest";
import type { CopiedEntry, EntryLog, LogEntry } from "../../../src/log/port.js";
import { hexOf } from "../../../src/model/hex.js";
import { itemAt } from "../../../src/model/item-at.js";
import { appendOne, chained, legible, newEntries, newEntry, readAll } from "./log-entries.js";
import type { Check } from "./suite.js";

const LOG_ID = "3f2b0c1e-8f3a-4a55-9a53-0b8d3f6a1c11";

export const logRestoreChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "an empty log becomes the copy of another: positions, times, bodies, hashes, claims and the log's id",
    run: async ({ open }) => {
      const log = await open();
      const entries = newEntries("entry", 5);
      expect(await log.restore({ log_id: LOG_ID, entries: copied(entries) })).toBe(true);
      expect((await readAll(log)).map(legible)).toEqual(chained(entries).map(legible));
      const last = chained(entries).at(-1);
      const { log_id, position, hash } = await log.head();
      expect({ log_id, position, hash: hexOf(hash) }).toEqual({
        log_id: LOG_ID,
        position: 5,
        hash: hexOf(last?.hash as Uint8Array),
      });
      expect(await log.find(entries.map(({ claims }) => itemAt(claims, 0)))).toEqual([1, 2, 3, 4, 5]);
    },
  },
  {
    behaviour: "a copy continues over several calls, and ordinary entries follow it",
    run: async ({ open }) => {
      const log = await open();
      const entries = newEntries("entry", 6);
      const copies = copied(entries);
      for (const part of [copies.slice(0, 2), copies.slice(2, 3), copies.slice(3, 5)]) {
        expect(await log.restore({ log_id: LOG_ID, entries: part })).toBe(true);
      }
      await appendOne(log, itemAt(entries, 5));
      expect((await readAll(log)).map(legible)).toEqual(chained(entries).map(legible));
    },
  },
  {
    behaviour: "entries that do not fit the chain are refused, and nothing changes",
    run: async ({ open }) => {
      const log = await open();
      const { log_id } = await log.head();
      const copies = copied(newEntries("entry", 3));
      const changed = copies.map((copy, at) => (at === 1 ? { ...copy, kind: "decision" } : copy));
      for (const entries of [copies.slice(1), [...copies].reverse(), changed, [copies[0], copies[2]]]) {
        expect(await log.restore({ log_id: LOG_ID, entries: entries as CopiedEntry[] })).toBe(false);
      }
      expect(await log.head()).toMatchObject({ log_id, position: 0 });
    },
  },
  {
    behaviour: "a log with entries of its own does not become the copy of another",
    run: async ({ open }) => {
      const log = await open();
      const own = newEntry("own");
      await appendOne(log, own);
      const { log_id } = await log.head();
      const copies = copied([own, newEntry("foreign")]);
      expect(await log.restore({ log_id: LOG_ID, entries: copies.slice(1) })).toBe(false);
      expect(await log.head()).toMatchObject({ log_id, position: 1 });
      expect(await log.restore({ log_id, entries: copies.slice(1) })).toBe(true);
      expect((await log.head()).position).toBe(2);
    },
  },
  {
    behaviour: "a copy that takes a claim twice is refused as a whole",
    run: async ({ open }) => {
      const log = await open();
      const copies = copied([newEntry("same"), newEntry("same")]);
      expect(await log.restore({ log_id: LOG_ID, entries: copies })).toBe(false);
      expect((await log.head()).position).toBe(0);
    },
  },
  {
    behaviour: "an entry whose body is gone is restored without one",
    run: async ({ open }) => {
      const log = await open();
      const [erased, kept] = copied(newEntries("entry", 2)) as [CopiedEntry, CopiedEntry];
      const { salt: _, body: __, ...left } = erased;
      expect(await log.restore({ log_id: LOG_ID, entries: [left, kept] })).toBe(true);
      const [first, second] = await log.get([1, 2]);
      expect([first?.body, first?.salt, second?.body === undefined]).toEqual([undefined, undefined, false]);
    },
  },
  {
    behaviour: "the claims of an erased entry are copied with it, and stay taken",
    run: async ({ open, openOther }) => {
      const log = await open();
      const gone = newEntry("gone", { claims: ["completes:i"] });
      const uuid = newEntry("01a1e151-5bab-7a32-be7a-92ea2e8602c1");
      await log.append([[gone, uuid, newEntry("kept")]]);
      const body = Buffer.from(JSON.stringify({ id: "r", positions: [1, 2] }));
      await appendOne(log, newEntry("r", { kind: "redaction", body }));
      const claims = await log.keptClaims({ after: 0, through: 9 });
      const other = await openOther();
      const stored = await log.read({ after: 0, limit: 2 });
      const entries = stored.map((entry) => ({ ...entry, claims: claims.get(entry.position) ?? [] }));
      expect(await other.restore({ log_id: LOG_ID, entries })).toBe(true);
      expect(await other.find([...gone.claims, ...uuid.claims, "id:kept"])).toEqual([1, 1, 2, undefined]);
    },
  },
  {
    behaviour: "an instance that was open before sees the copy and its id",
    needs: "shared",
    run: async ({ open }) => {
      const [left, right] = [await open(), await open()];
      expect((await right.head()).position).toBe(0);
      await left.restore({ log_id: LOG_ID, entries: copied(newEntries("entry", 2)) });
      expect(await right.head()).toMatchObject({ log_id: LOG_ID, position: 2 });
      await appendOne(right, newEntry("after"));
      expect((await left.head()).position).toBe(3);
    },
  },
];

function copied(entries: readonly LogEntry[]): readonly CopiedEntry[] {
  return chained(entries).map((stored, index) => ({ ...stored, claims: entries[index]?.claims ?? [] }));
}
