// Outcomes on their way back from the log's thread: positions as numbers, all hashes in one buffer.

import type { AppendOutcome, Placement, TakenClaim } from "../log/port.js";
import { makeInSlices, TimeSlice } from "../model/scheduling.js";

const HASH_BYTES = 32;

export interface PackedOutcomes {
  readonly units: readonly PackedOutcome[];
  readonly hashes: Uint8Array;
}

/**
 * The first position of a unit and its number of entries; or item, claim and position of each claim that was taken, all in
 * one row: to clone thousands of objects takes several times as long, and holds up the thread that receives them.
 */
type PackedOutcome = readonly [first: number, count: number] | { readonly taken: readonly (number | string)[] };

const TAKEN_WIDTH = 3;

export function packOutcomes(outcomes: readonly AppendOutcome[]): PackedOutcomes {
  const placements = outcomes.flatMap((outcome) => ("placed" in outcome ? outcome.placed : []));
  const hashes = new Uint8Array(placements.length * HASH_BYTES);
  for (const [index, placement] of placements.entries()) hashes.set(placement.hash, index * HASH_BYTES);
  const units = outcomes.map((outcome): PackedOutcome => {
    if ("placed" in outcome) return [outcome.placed[0]?.position ?? 0, outcome.placed.length];
    return { taken: outcome.taken.flatMap(({ item, claim, position }) => [item, claim, position]) };
  });
  return { units, hashes };
}

export function unpackOutcomes({ units, hashes }: PackedOutcomes): readonly AppendOutcome[] {
  let used = 0;
  return units.map((unit) => {
    if ("taken" in unit) {
      return { taken: Array.from({ length: unit.taken.length / TAKEN_WIDTH }, (_, nth) => takenAt(unit.taken, nth)) };
    }
    const [first, count] = unit;
    const from = used;
    used += count;
    return { placed: Array.from({ length: count }, (_, nth) => placementAt(hashes, from + nth, first + nth)) };
  });
}

/** The same of so many that it would hold everybody else up. */
export async function unpackInTurns({ units, hashes }: PackedOutcomes): Promise<readonly AppendOutcome[]> {
  const turn = new TimeSlice();
  const outcomes: AppendOutcome[] = [];
  let used = 0;
  for (const unit of units) {
    if ("taken" in unit) {
      const count = unit.taken.length / TAKEN_WIDTH;
      outcomes.push({ taken: await makeInSlices(count, (nth) => takenAt(unit.taken, nth), turn) });
      continue;
    }
    const [first, count] = unit;
    const from = used;
    used += count;
    outcomes.push({ placed: await makeInSlices(count, (nth) => placementAt(hashes, from + nth, first + nth), turn) });
  }
  return outcomes;
}

function placementAt(hashes: Uint8Array, nth: number, position: number): Placement {
  return { position, hash: hashes.subarray(nth * HASH_BYTES, (nth + 1) * HASH_BYTES) };
}

function takenAt(taken: readonly (number | string)[], nth: number): TakenClaim {
  const [item, claim, position] = taken.slice(nth * TAKEN_WIDTH, (nth + 1) * TAKEN_WIDTH);
  return { item: item as number, claim: claim as string, position: position as number };
}
