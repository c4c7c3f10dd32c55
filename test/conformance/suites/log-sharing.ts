// Checks of what outlives an instance, and of several instances on one store.

import { expect } from "vitest";
import type { EntryLog } from "../../../src/log/port.js";
import { hexOf } from "../../../src/model/hex.js";
import { itemAt } from "../../../src/model/item-at.js";
import {
  appendOne,
  chained,
  legible,
  newEntries,
  newEntry,
  placedBy,
  positionsOf,
  readAll,
  takenBy,
} from "./log-entries.js";
import type { Check } from "./suite.js";

export const logSharingChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "appended entries survive reopening the log, and the chain continues",
    needs: "durable",
    run: async ({ open }) => {
      const entries = newEntries("entry", 8);
      const first = await open();
      await first.append([entries.slice(0, 5)]);
      const { log_id } = await first.head();
      await first.close();
      const again = await open();
      expect((await again.head()).log_id).toBe(log_id);
      expect((await readAll(again)).map(legible)).toEqual(chained(entries.slice(0, 5)).map(legible));
      expect(positionsOf(await again.append([entries.slice(5)]))).toEqual([6, 7, 8]);
      expect((await readAll(again)).map(legible)).toEqual(chained(entries).map(legible));
    },
  },
  {
    behaviour: "claims survive reopening the log",
    needs: "durable",
    run: async ({ open }) => {
      const first = await open();
      await appendOne(first, newEntry("a", { claims: ["completes:i"] }));
      await first.close();
      const again = await open();
      expect(await again.find(["id:a", "completes:i", "id:b"])).toEqual([1, 1, undefined]);
      const [refused] = await again.append([[newEntry("b", { claims: ["completes:i"] })]]);
      expect(takenBy(refused)).toEqual([{ item: 0, claim: "completes:i", position: 1 }]);
    },
  },
  {
    behaviour: "the other instance reads appended entries at once",
    needs: "shared",
    run: async ({ open }) => {
      const [left, right] = [await open(), await open()];
      for (const [index, entry] of newEntries("entry", 10).entries()) {
        const [writer, reader] = index % 2 === 0 ? [left, right] : [right, left];
        const { position, hash } = await appendOne(writer, entry);
        expect(position).toBe(index + 1);
        const head = await reader.head();
        expect([head.position, hexOf(head.hash)]).toEqual([position, hexOf(hash)]);
        expect(await reader.find([itemAt(entry.claims, 0)])).toEqual([position]);
        expect((await reader.read({ after: index, limit: 10 })).map((stored) => stored.position)).toEqual([position]);
      }
      expect((await left.head()).log_id).toBe((await right.head()).log_id);
    },
  },
  {
    behaviour: "instances that append at the same time leave no gap and one chain",
    needs: "shared",
    run: async ({ open }) => {
      const logs = [await open(), await open(), await open()];
      const units = Array.from({ length: 90 }, (_, unit) => newEntries(`unit-${unit}`, 1 + (unit % 3)));
      const calls = units.map((unit, index) => itemAt(logs, index % logs.length).append([unit]));
      const outcomes = (await Promise.all(calls)).flat();
      const inOrder = units
        .flatMap((unit, at) => unit.map((entry, item) => ({ entry, ...placedBy(outcomes[at])[item] })))
        .toSorted((left, right) => (left.position as number) - (right.position as number))
        .map(({ entry }) => entry);
      for (const log of logs) expect((await readAll(log)).map(legible)).toEqual(chained(inOrder).map(legible));
    },
  },
  {
    behaviour: "a claim taken through one instance is taken for the others, even with concurrent requests",
    needs: "shared",
    run: async ({ open }) => {
      const logs = [await open(), await open(), await open()];
      const contest = (round: number) =>
        logs.map((log, index) => log.append([[newEntry(`${round}-${index}`, { claims: [`span:${round}`] })]]));
      for (let round = 0; round < 20; round += 1) {
        const outcomes = (await Promise.all(contest(round))).flat();
        const [winner] = positionsOf(outcomes.filter((outcome) => "placed" in outcome));
        expect(winner).toBe(round + 1);
        const losers = outcomes.filter((outcome) => "taken" in outcome);
        expect(losers.map((outcome) => takenBy(outcome)[0]?.position)).toEqual([winner, winner]);
      }
    },
  },
  {
    behaviour: "instances that concurrently open a new store get the same one",
    needs: "shared",
    run: async ({ open }) => {
      const logs = await Promise.all(Array.from({ length: 4 }, () => open()));
      const ids = await Promise.all(logs.map(async (log) => (await log.head()).log_id));
      expect(new Set(ids).size).toBe(1);
      await Promise.all(logs.map((log, index) => appendOne(log, newEntry(`entry-${index}`))));
      for (const log of logs) expect((await log.head()).position).toBe(logs.length);
    },
  },
];
