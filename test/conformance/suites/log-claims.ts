// Checks of claims: a key is taken once, in the same transaction as its entry, and a refusal names all that was taken.
import { expect } from "vitest";
import type { EntryLog } from "../../../src/log/port.js";
import { appendOne, newEntries, newEntry, placedBy, positionsOf, readAll, takenBy } from "./log-entries.js";
import type { Check } from "./suite.js";

export const logClaimChecks: readonly Check<EntryLog>[] = [
  {
    behaviour: "a unit with a taken claim is not appended, and the other units of the call are",
    run: async ({ open }) => {
      const log = await open();
      await appendOne(log, newEntry("a"));
      const [before, refused, after] = await log.append([[newEntry("b")], [newEntry("a")], [newEntry("c")]]);
      expect(positionsOf([before, after].flatMap((outcome) => outcome ?? []))).toEqual([2, 3]);
      expect(takenBy(refused)).toEqual([{ item: 0, claim: "id:a", position: 1 }]);
      expect((await log.head()).position).toBe(3);
    },
  },
  {
    behaviour: "a refusal names every taken claim with the item that asked and the position that holds it",
    run: async ({ open }) => {
      const log = await open();
      await log.append([[newEntry("a", { claims: ["completes:x"] }), newEntry("b"), newEntry("c")]]);
      const unit = [
        newEntry("new-1", { claims: ["completes:x"] }),
        newEntry("new-2"),
        newEntry("c", { claims: ["verdict:free"] }),
        newEntry("b", { claims: ["completes:y"] }),
      ];
      const [refused] = await log.append([unit]);
      expect(takenBy(refused)).toEqual([
        { item: 0, claim: "completes:x", position: 1 },
        { item: 2, claim: "id:c", position: 3 },
        { item: 3, claim: "id:b", position: 2 },
      ]);
    },
  },
  {
    behaviour: "a refused unit leaves no entry and none of its free claims behind",
    run: async ({ open }) => {
      const log = await open();
      await appendOne(log, newEntry("a"));
      const [refused] = await log.append([[newEntry("free", { claims: ["completes:free"] }), newEntry("a")]]);
      takenBy(refused);
      expect(await log.find(["id:free", "completes:free"])).toEqual([undefined, undefined]);
      expect(await readAll(log)).toHaveLength(1);
      expect(await appendOne(log, newEntry("free", { claims: ["completes:free"] }))).toMatchObject({ position: 2 });
    },
  },
  {
    behaviour: "a claim that an earlier unit of the same call took is taken",
    run: async ({ open }) => {
      const log = await open();
      const [first, second, third] = await log.append([
        [newEntry("other"), newEntry("a")],
        [newEntry("b"), newEntry("a")],
        [newEntry("b")],
      ]);
      expect(placedBy(first)).toHaveLength(2);
      expect(takenBy(second)).toEqual([{ item: 1, claim: "id:a", position: 2 }]);
      expect(placedBy(third)).toMatchObject([{ position: 3 }]);
    },
  },
  {
    behaviour: "a call in which every unit is refused appends nothing",
    run: async ({ open }) => {
      const log = await open();
      await log.append([newEntries("entry", 3)]);
      const outcomes = await log.append([[newEntry("entry-0")], [newEntry("entry-2")]]);
      expect(outcomes.map((outcome) => takenBy(outcome)[0]?.position)).toEqual([1, 3]);
      expect((await log.head()).position).toBe(3);
    },
  },
  {
    behaviour: "an entry may take several claims, and each is refused to others",
    run: async ({ open }) => {
      const log = await open();
      const claims = ["completes:i", "span:1", "reinforced:m:i"];
      await appendOne(log, newEntry("a", { claims }));
      expect(await log.find(["id:a", ...claims])).toEqual([1, 1, 1, 1]);
      for (const claim of claims) {
        const [refused] = await log.append([[newEntry(`again-${claim.length}`, { claims: [claim] })]]);
        expect(takenBy(refused)).toEqual([{ item: 0, claim, position: 1 }]);
      }
    },
  },
  {
    behaviour: "claims that differ in any field are different claims",
    run: async ({ open }) => {
      const log = await open();
      const uuid = "019a85d2-7c1e-7000-8000-00000000abcd";
      const uuids = [uuid, uuid.toUpperCase(), `${uuid}0`, uuid.replaceAll("-", "")];
      const ids = ["a", "A", "a.", "a:b", "a:B", "á", "a\u0301", "ŭ", "m", "🙂", "a\0", "", ...uuids];
      const entries = ids.map((id) => newEntry(id, { claims: [`completes:${id}`] }));
      expect(positionsOf(await log.append([entries]))).toEqual(ids.map((_, index) => index + 1));
      expect(await log.find(ids.map((id) => `id:${id}`))).toEqual(ids.map((_, index) => index + 1));
      expect(await log.find(ids.map((id) => `completes:${id}`))).toEqual(ids.map((_, index) => index + 1));
    },
  },
  {
    behaviour: "finding answers in the order asked, with undefined for a claim that was not taken",
    run: async ({ open }) => {
      const log = await open();
      expect(await log.find(["id:entry-0"])).toEqual([undefined]);
      await log.append([newEntries("entry", 3)]);
      const found = await log.find(["id:entry-2", "id:nobody", "id:entry-0", "id:entry-2", "entry-1"]);
      expect(found).toEqual([3, undefined, 1, 3, undefined]);
      expect(await log.find([])).toEqual([]);
    },
  },
  {
    behaviour: "of concurrent calls for one claim, one wins and the others get its position",
    run: async ({ open }) => {
      const log = await open();
      const calls = Array.from({ length: 40 }, (_, call) =>
        log.append([[newEntry(`own-${call}`, { claims: ["completes:contested"] })]]),
      );
      const outcomes = (await Promise.all(calls)).flat();
      const placed = outcomes.filter((outcome) => "placed" in outcome);
      expect(positionsOf(placed)).toEqual([1]);
      for (const outcome of outcomes.filter((outcome) => "taken" in outcome)) {
        expect(takenBy(outcome)).toEqual([{ item: 0, claim: "completes:contested", position: 1 }]);
      }
      expect((await log.head()).position).toBe(1);
    },
  },
];
