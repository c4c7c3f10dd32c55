// Checks of reading: after a position, by positions, and within limits of count and bytes.

import { expect } from "vitest";
import type { EntryLog, StoredEntry } from "../../../src/log/port.js";
import { hexOf } from "../../../src/model/hex.js";
import { itemAt } from "../../../src/model/item-at.js";
import { chained, legible, newEntries, newEntry } from "./log-entries.js";
import type { Check } from "./suite.js";

export const logReadChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "reading starts after the position and ends at the limit",
    run: async ({ open }) => {
      const log = await open();
      await log.append([newEntries("entry", 10)]);
      expect(positions(await log.read({ after: 0, limit: 3 }))).toEqual([1, 2, 3]);
      expect(positions(await log.read({ after: 3, limit: 3 }))).toEqual([4, 5, 6]);
      expect(positions(await log.read({ after: 8, limit: 100 }))).toEqual([9, 10]);
      expect(positions(await log.read({ after: 9, limit: 1 }))).toEqual([10]);
    },
  },
  {
    behaviour: "reading an empty log, after the end or with a limit of zero returns nothing",
    run: async ({ open }) => {
      const log = await open();
      expect(await log.read({ after: 0, limit: 10 })).toEqual([]);
      await log.append([newEntries("entry", 2)]);
      expect(await log.read({ after: 2, limit: 10 })).toEqual([]);
      expect(await log.read({ after: 1_000, limit: 10 })).toEqual([]);
      expect(await log.read({ after: 0, limit: 0 })).toEqual([]);
    },
  },
  {
    behaviour: "reading stops with the entry that reaches bytes_max",
    run: async ({ open }) => {
      const log = await open();
      await log.append([
        [10, 10, 10, 10].map((size, index) => newEntry(`entry-${index}`, { body: Buffer.alloc(size) })),
      ]);
      const read = async (bytes_max: number): Promise<readonly number[]> =>
        positions(await log.read({ after: 0, limit: 100, bytes_max }));
      expect(await read(9)).toEqual([1]);
      expect(await read(10)).toEqual([1]);
      expect(await read(11)).toEqual([1, 2]);
      expect(await read(30)).toEqual([1, 2, 3]);
      expect(await read(31)).toEqual([1, 2, 3, 4]);
      expect(await read(1_000)).toEqual([1, 2, 3, 4]);
    },
  },
  {
    behaviour: "an entry larger than bytes_max is read alone, so a reader never stalls",
    run: async ({ open }) => {
      const log = await open();
      const sizes = [100_000, 5, 100_000];
      await log.append([sizes.map((size, index) => newEntry(`entry-${index}`, { body: Buffer.alloc(size) }))]);
      expect(positions(await log.read({ after: 0, limit: 100, bytes_max: 1 }))).toEqual([1]);
      expect(positions(await log.read({ after: 1, limit: 100, bytes_max: 6 }))).toEqual([2, 3]);
      expect(positions(await log.read({ after: 2, limit: 100, bytes_max: 1 }))).toEqual([3]);
    },
  },
  {
    behaviour: "the limit holds even if bytes_max would allow more",
    run: async ({ open }) => {
      const log = await open();
      await log.append([newEntries("entry", 10)]);
      expect(positions(await log.read({ after: 2, limit: 4, bytes_max: 1_000_000 }))).toEqual([3, 4, 5, 6]);
    },
  },
  {
    behaviour: "getting answers in the order asked, with undefined where there is none",
    run: async ({ open }) => {
      const log = await open();
      const entries = newEntries("entry", 4);
      await log.append([entries]);
      const [first, , third, fourth] = chained(entries).map(legible);
      const found = await log.get([4, 99, 1, 0, 3, 4, -1, 5]);
      const nothing = undefined;
      expect(found.map(legible)).toEqual([fourth, nothing, first, nothing, third, fourth, nothing, nothing]);
      expect(await log.get([])).toEqual([]);
    },
  },
  {
    behaviour: "bodies are read as text, with the same positions and limits as whole entries",
    run: async ({ open }) => {
      const log = await open();
      const texts = [
        '{"id":"a"}',
        '{"id":"é😀你","note":"\\u0000\\ud800"}',
        `{"id":"c","text":"${"x".repeat(100_000)}"}`,
      ];
      const entries = texts.map((text, index) => newEntry(`entry-${index}`, { body: Buffer.from(text) }));
      const [outcome] = await log.append([entries]);
      const placed = outcome !== undefined && "placed" in outcome ? outcome.placed : [];
      const bodies = entries.map(({ kind, recorded_at, recorded_by }, index) => ({
        position: index + 1,
        kind,
        recorded_at,
        recorded_by,
        hash: hexOf(placed[index]?.hash ?? Buffer.of()),
        body: texts[index],
      }));
      expect(await log.readBodies({ after: 0, limit: 10 })).toEqual(bodies);
      expect(await log.readBodies({ after: 1, limit: 1 })).toEqual([bodies[1]]);
      expect(await log.readBodies({ after: 0, limit: 10, bytes_max: 1 })).toEqual([bodies[0]]);
      expect(await log.readBodies({ after: 3, limit: 10 })).toEqual([]);
      expect(await log.getBodies([3, 99, 1])).toEqual([bodies[2], undefined, bodies[0]]);
      expect(await log.getBodies([2, 99, 1])).toEqual([bodies[1], undefined, bodies[0]]);
      expect(await log.getBodies([1, 3, 2], 11)).toEqual([bodies[0], bodies[2]]);
      expect(await log.getBodies([1, 2], 1)).toEqual([bodies[0]]);
      expect(await log.getBodies([3, 2, 1], 1)).toEqual([bodies[2]]);
      expect(await log.getBodies([2, 99], 1_000_000)).toEqual([bodies[1], undefined]);
      expect(await log.getBodies([99])).toEqual([undefined]);
      expect(await log.getBodies([])).toEqual([]);
      const positionsOf = async (positions: readonly number[], bytes_max: number): Promise<readonly unknown[]> =>
        (await log.get(positions, bytes_max)).map((stored) => stored?.position);
      expect(await positionsOf([1, 3, 2], 11)).toEqual([1, 3]);
      expect(await positionsOf([3, 2, 1], 1)).toEqual([3]);
      expect(await positionsOf([2, 99], 1_000_000)).toEqual([2, undefined]);
    },
  },
  {
    behaviour: "appended entries are readable by the next call",
    run: async ({ open }) => {
      const log = await open();
      for (const [index, entry] of newEntries("entry", 20).entries()) {
        await log.append([[entry]]);
        const [stored] = await log.get([index + 1]);
        expect(positions(await log.read({ after: index, limit: 10 }))).toEqual([index + 1]);
        expect(Buffer.compare(stored?.body ?? Buffer.of(), entry.body)).toBe(0);
        expect(await log.find([itemAt(entry.claims, 0)])).toEqual([index + 1]);
      }
    },
  },
];

function positions(entries: readonly StoredEntry[]): readonly number[] {
  return entries.map(({ position }) => position);
}
