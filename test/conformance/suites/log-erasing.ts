// Checks of erasing: a redaction takes bodies with it, and nothing else.
import { expect } from "vitest";
import type { CopiedEntry, EntryLog, LogEntry, StoredEntry } from "../../../src/log/port.js";
import { appendOne, chained, legible, newEntries, newEntry, readAll, takenBy } from "./log-entries.js";
import type { Check } from "./suite.js";

const LOG_ID = "0d0a7f51-52f4-4c8e-a8cf-6a1a2d2ee3f1";

export const logErasingChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "a redaction removes salt and body of the entries that it names, and the chain does not change",
    run: async ({ open }) => {
      const log = await open();
      const entries = [...newEntries("entry", 5), redactionOf("redaction", [2, 4])];
      await log.append(entries.map((entry) => [entry]));
      expect((await readAll(log)).map(legible)).toEqual(
        chained(entries)
          .map(without([2, 4]))
          .map(legible),
      );
      expect((await log.get([4]))[0]?.body).toBeUndefined();
      const isErased = (stored: { readonly body?: unknown } | undefined): boolean => stored?.body === undefined;
      expect((await log.getBodies([2, 3])).map(isErased)).toEqual([true, false]);
      expect((await log.getBodies([3, 4, 5])).map(isErased)).toEqual([false, true, false]);
      expect((await log.readBodies({ after: 0, limit: 2 })).map(({ body }) => body === undefined)).toEqual([
        false,
        true,
      ]);
    },
  },
  {
    behaviour: "an erased entry keeps its claims, which stay taken",
    run: async ({ open }) => {
      const log = await open();
      const [gone] = newEntries("entry", 1) as [LogEntry];
      await log.append([[gone], [redactionOf("redaction", [1])]]);
      expect(await log.find(gone.claims)).toEqual([1]);
      const [outcome] = await log.append([[newEntry("entry-0")]]);
      expect(takenBy(outcome)).toMatchObject([{ position: 1 }]);
    },
  },
  {
    behaviour: "a redaction erases no missing entry, no later entry and no redaction",
    run: async ({ open }) => {
      const log = await open();
      await log.append([[newEntry("entry")], [redactionOf("first", [])]]);
      await appendOne(log, redactionOf("second", [2, 3, 4, 99]));
      await appendOne(log, newEntry("later"));
      expect((await readAll(log)).map(({ body }) => body !== undefined)).toEqual([true, true, true, true]);
    },
  },
  {
    behaviour: "the same entries can be named again, with others",
    run: async ({ open }) => {
      const log = await open();
      await log.append([newEntries("entry", 3), [redactionOf("first", [1])], [redactionOf("second", [1, 3, 3])]]);
      expect((await readAll(log)).map(({ body }) => body !== undefined)).toEqual([false, true, false, true, true]);
    },
  },
  {
    behaviour: "a redaction whose unit is refused erases nothing",
    run: async ({ open }) => {
      const log = await open();
      await appendOne(log, newEntry("entry"));
      const [outcome] = await log.append([[redactionOf("redaction", [1]), newEntry("entry")]]);
      expect(takenBy(outcome)).toMatchObject([{ item: 1, position: 1 }]);
      expect((await log.get([1]))[0]?.body).toBeDefined();
    },
  },
  {
    behaviour: "a redaction that is restored erases here too",
    run: async ({ open }) => {
      const log = await open();
      const entries = [...newEntries("entry", 2), redactionOf("redaction", [1])];
      const copies: readonly CopiedEntry[] = chained(entries).map((stored, at) => ({
        ...stored,
        claims: entries[at]?.claims ?? [],
      }));
      expect(await log.restore({ log_id: LOG_ID, entries: copies.slice(0, 2) })).toBe(true);
      expect(await log.restore({ log_id: LOG_ID, entries: copies.slice(2) })).toBe(true);
      expect((await readAll(log)).map(({ body }) => body !== undefined)).toEqual([false, true, true]);
    },
  },
  {
    behaviour: "purging changes nothing that can be read",
    run: async ({ open }) => {
      const log = await open();
      await log.append([newEntries("entry", 20), [redactionOf("redaction", [1, 5, 6, 7, 20])]]);
      const before = (await readAll(log)).map(legible);
      expect(await log.purge()).toBeUndefined();
      expect((await readAll(log)).map(legible)).toEqual(before);
      await appendOne(log, newEntry("after"));
      expect(await log.head()).toMatchObject({ position: 22 });
    },
  },
  {
    behaviour: "the redactions after a position are returned, with the head through which they are complete",
    run: async ({ open }) => {
      const log = await open();
      expect(await log.redactionsAfter(0)).toEqual({ through: 0, positions: [] });
      await log.append([newEntries("entry", 3), [redactionOf("first", [1])], [newEntry("between")]]);
      await appendOne(log, redactionOf("second", [2]));
      expect(await log.redactionsAfter(0)).toEqual({ through: 6, positions: [4, 6] });
      expect(await log.redactionsAfter(4)).toEqual({ through: 6, positions: [6] });
      expect(await log.redactionsAfter(6)).toEqual({ through: 6, positions: [] });
      expect(await log.redactionsAfter(99)).toEqual({ through: 6, positions: [] });
    },
  },
  {
    behaviour: "another instance that was open before reads an erased entry without its body",
    needs: "shared",
    run: async ({ open }) => {
      const [left, right] = [await open(), await open()];
      await appendOne(left, newEntry("entry"));
      expect((await right.get([1]))[0]?.body).toBeDefined();
      await appendOne(left, redactionOf("redaction", [1]));
      expect((await right.get([1]))[0]?.body).toBeUndefined();
    },
  },
];

function redactionOf(id: string, positions: readonly number[]): LogEntry {
  return newEntry(id, { kind: "redaction", body: Buffer.from(JSON.stringify({ id, positions, reason: "asked to" })) });
}

function without(positions: readonly number[]): (stored: StoredEntry) => StoredEntry {
  return (stored) => {
    const { salt: _, body: __, ...left } = stored;
    return positions.includes(stored.position) ? left : stored;
  };
}
