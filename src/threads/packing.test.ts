// Units and outcomes packed for another thread come out as they went in.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import type { AppendOutcome, LogEntry, TakenClaim } from "../log/port.js";
import {
  addressed,
  packInTurns,
  packOutcomes,
  packUnits,
  unpackInTurns,
  unpackOutcomes,
  unpackUnits,
} from "./packing.js";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const entry: fc.Arbitrary<LogEntry> = fc.record({
  kind: fc.constantFrom("error", "interaction"),
  recorded_at: fc.constant("2026-11-15T06:39:37.123Z"),
  recorded_by: fc.constantFrom("", "key-1"),
  salt: bytes(16),
  body: fc.uint8Array({ maxLength: 40 }),
  claims: fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 3 }),
});
const units = fc.array(fc.array(entry, { maxLength: 4 }), { maxLength: 5 });

test("any units survive with the number of their call, empty ones and empty bodies included", async () => {
  await fc.assert(
    fc.asyncProperty(units, fc.integer({ min: 1, max: 2 ** 32 - 1 }), async (given, call) => {
      const packed = packUnits(given);
      expect(await packInTurns(given)).toEqual(packed);
      const unpacked = unpackUnits(structuredClone(addressed(packed, call)));
      expect(unpacked.call).toBe(call);
      expect(unpacked.units.map((unit) => unit.map(legible))).toEqual(given.map((unit) => unit.map(legible)));
    }),
    fuzz(200),
  );
});

test("packing takes a copy, so the caller keeps its bytes", () => {
  const body = Buffer.from("kept");
  const [entryWithBody] = fc.sample(entry, { seed: 1, numRuns: 1 }).map((one) => ({ ...one, body }));
  packUnits([[entryWithBody as LogEntry]]).fill(0);
  expect(body.toString()).toBe("kept");
});

test("any outcomes survive the way back", async () => {
  const taken = fc.record({ item: fc.nat(5), claim: fc.string({ unit: "binary" }), position: fc.nat() });
  const outcome = fc.oneof(
    fc.array(taken, { minLength: 1, maxLength: 3 }).map((claims): readonly TakenClaim[] => claims),
    fc.nat(4),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, { maxLength: 6 }), async (drawn) => {
      let position = 0;
      const outcomes = drawn.map((one): AppendOutcome => {
        if (typeof one !== "number") return { taken: one };
        return {
          placed: Array.from({ length: one }, () => {
            position += 1;
            return { position, hash: Buffer.alloc(32, position) };
          }),
        };
      });
      const received = structuredClone(packOutcomes(outcomes));
      expect(unpackOutcomes(received).map(legibleOutcome)).toEqual(outcomes.map(legibleOutcome));
      expect((await unpackInTurns(received)).map(legibleOutcome)).toEqual(outcomes.map(legibleOutcome));
    }),
    fuzz(200),
  );
});

test.each<[what: string, outcome: AppendOutcome]>([
  ["placed", { placed: Array.from({ length: 300_000 }, (_, nth) => ({ position: nth + 1, hash: Buffer.alloc(32) })) }],
  ["taken", { taken: Array.from({ length: 300_000 }, (_, nth) => ({ item: nth, claim: `id:${nth}`, position: 7 })) }],
])("other work continues while very many are unpacked: %s", async (_, outcome) => {
  const packed = structuredClone(packOutcomes([outcome]));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (turns < 10) setImmediate(count);
  };
  setImmediate(count);
  const [unpacked] = await unpackInTurns(packed);
  expect(turns).toBeGreaterThan(1);
  expect(Object.values(unpacked as AppendOutcome)[0]).toHaveLength(300_000);
});

function legible({ salt, body, ...rest }: LogEntry): object {
  return { ...rest, salt: hexOf(salt), body: hexOf(body) };
}

function legibleOutcome(outcome: AppendOutcome): object {
  if ("taken" in outcome) return outcome;
  return { placed: outcome.placed.map(({ position, hash }) => ({ position, hash: hexOf(hash) })) };
}

function hexOf(bytesGiven: Uint8Array): string {
  return Buffer.from(bytesGiven).toString("hex");
}
