// Checks of what an engine keeps for verifying a log: what hashes cover, which claims lead where, what was erased by what.
import { expect } from "vitest";
import type { CopiedEntry, EntryLog, LogEntry } from "../../../src/log/port.js";
import { chainHash, commitmentOf, GENESIS_HASH } from "../../../src/model/chain.js";
import { claimKey } from "../../../src/model/claims.js";
import { hexOf } from "../../../src/model/hex.js";
import { appendOne, chained, legible, newEntries, newEntry, readAll } from "./log-entries.js";
import type { Check } from "./suite.js";

const LOG_ID = "00000000-0000-4000-8000-000000000002";

export const logEvidenceChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "an entry's recorded_by is kept with it, and its hash covers it",
    run: async ({ open }) => {
      const log = await open();
      const entries = ["", "key-1", "a.b:c_d"].map((recorded_by) => newEntry(`by-${recorded_by}`, { recorded_by }));
      await log.append([entries]);
      expect((await readAll(log)).map(legible)).toEqual(chained(entries).map(legible));
      const texts = [...(await log.readBodies({ after: 0, limit: 3 })), ...(await log.getBodies([2]))];
      expect(texts.map((text) => text?.recorded_by)).toEqual(["", "key-1", "a.b:c_d", "key-1"]);
    },
  },
  {
    behaviour: "a copy whose claims do not match its hashes is refused as a whole",
    run: async ({ open }) => {
      const log = await open();
      const [first, second] = copied(newEntries("entry", 2)) as [CopiedEntry, CopiedEntry];
      for (const claims of [[], ["id:other"], [...second.claims, "completes:planted"]]) {
        expect(await log.restore({ log_id: LOG_ID, entries: [first, { ...second, claims }] })).toBe(false);
      }
      expect((await log.head()).position).toBe(0);
    },
  },
  {
    behaviour: "entries of the first format are restored unchanged, and those of the second follow them",
    run: async ({ open }) => {
      const log = await open();
      const older = olderCopies(newEntries("older", 3));
      expect(await log.restore({ log_id: LOG_ID, entries: older })).toBe(true);
      await appendOne(log, newEntry("newer", { recorded_by: "key-1" }));
      const stored = await readAll(log);
      expect(stored.slice(0, 3).map(legible)).toEqual(older.map(legible));
      expect(stored.map(({ recorded_by }) => recorded_by)).toEqual([undefined, undefined, undefined, "key-1"]);
      expect(stored.map(({ claims_digest }) => claims_digest === undefined)).toEqual([true, true, true, false]);
      expect((await log.getBodies([1]))[0]).not.toMatchObject({ recorded_by: expect.any(String) });
    },
  },
  {
    behaviour: "an entry of the first format is refused behind one of the second",
    run: async ({ open, openOther }) => {
      const [present] = copied([newEntry("present")]) as [CopiedEntry];
      const [older] = olderCopies([newEntry("older")], { position: 1, hash: present.hash }) as [CopiedEntry];
      const log = await open();
      expect(await log.restore({ log_id: LOG_ID, entries: [present, older] })).toBe(false);
      expect((await log.head()).position).toBe(0);
      const other = await openOther();
      expect(await other.restore({ log_id: LOG_ID, entries: [present] })).toBe(true);
      expect(await other.restore({ log_id: LOG_ID, entries: [older] })).toBe(false);
      expect((await other.head()).position).toBe(1);
    },
  },
  {
    behaviour: "claims are listed by position, whether their entries were erased or not",
    run: async ({ open }) => {
      const log = await open();
      await log.append([[newEntry("a", { claims: ["completes:i"] }), newEntry("b"), newEntry("c")]]);
      await appendOne(log, redactionOf("r", [1]));
      const keysOf = async (after: number, through: number): Promise<object> => {
        const kept = await log.keptClaims({ after, through });
        const texts = [...kept].map(([at, claims]) => [at, claims.map((claim) => hexOf(claimKey(claim))).toSorted()]);
        return Object.fromEntries(texts);
      };
      const keys = (...claims: readonly string[]) => claims.map((claim) => hexOf(claimKey(claim))).toSorted();
      expect(await keysOf(0, 2)).toEqual({ 1: keys("id:a", "completes:i"), 2: keys("id:b") });
      expect(await keysOf(2, 9)).toEqual({ 3: keys("id:c"), 4: keys("id:r") });
    },
  },
  {
    behaviour: "erased entries are listed with the first redaction that named them, in order and in pages",
    run: async ({ open }) => {
      const log = await open();
      expect(await log.erasures({ after: 0, limit: 10 })).toEqual([]);
      await log.append([[...newEntries("entry", 5), redactionOf("first", [4, 2]), redactionOf("second", [5, 2, 9])]]);
      const noted = [
        { position: 2, redaction: 6 },
        { position: 4, redaction: 6 },
        { position: 5, redaction: 7 },
      ];
      expect(await log.erasures({ after: 0, limit: 10 })).toEqual(noted);
      expect(await log.erasures({ after: 2, limit: 1 })).toEqual(noted.slice(1, 2));
    },
  },
  {
    behaviour: "the log's own entries keep their bodies even if a redaction names them, and are not listed as erased",
    run: async ({ open }) => {
      const log = await open();
      const audit = newEntry("audit", { kind: "audit" });
      await log.append([[newEntry("entry"), audit, redactionOf("first", []), redactionOf("second", [1, 2, 3])]]);
      expect((await readAll(log)).map(({ body }) => body !== undefined)).toEqual([false, true, true, true]);
      expect(await log.erasures({ after: 0, limit: 10 })).toEqual([{ position: 1, redaction: 4 }]);
    },
  },
  {
    behaviour: "an untouched log has all its triggers, and no others",
    run: async ({ open }) => {
      const log = await open();
      await log.append([newEntries("entry", 3)]);
      expect(await log.guards()).toEqual({ missing: [], foreign: [] });
      expect(await log.findOrphan()).toBeUndefined();
    },
  },
];

function copied(entries: readonly LogEntry[]): readonly CopiedEntry[] {
  return chained(entries).map((stored, index) => ({ ...stored, claims: entries[index]?.claims ?? [] }));
}

/** The same entries as a log of the first format has them. */
function olderCopies(
  entries: readonly LogEntry[],
  start: { readonly position: number; readonly hash: Uint8Array } = { position: 0, hash: GENESIS_HASH },
): readonly CopiedEntry[] {
  let { position, hash: previous } = start;
  return entries.map(({ recorded_by: _, ...entry }) => {
    position += 1;
    const commitment = commitmentOf(entry.salt, entry.body);
    const hash = chainHash({ ...entry, commitment, previous, position });
    previous = hash;
    return { ...entry, position, commitment, hash };
  });
}

function redactionOf(id: string, positions: readonly number[]): LogEntry {
  return newEntry(id, { kind: "redaction", body: Buffer.from(JSON.stringify({ id, positions })) });
}
