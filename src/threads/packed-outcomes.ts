// Outcomes on their way back from the log's thread: positions as numbers, all hashes in one buffer.
import type { AppendOutcome, TakenClaim } from "../ports/entry-log.js";

const HASH_BYTES = 32;

export interface PackedOutcomes {
  /** For each unit its first position and number of entries, or the claims that were taken. */
  readonly units: readonly (readonly [first: number, count: number] | { readonly taken: readonly TakenClaim[] })[];
  readonly hashes: Uint8Array;
}

export function packOutcomes(outcomes: readonly AppendOutcome[]): PackedOutcomes {
  const placements = outcomes.flatMap((outcome) => ("placed" in outcome ? outcome.placed : []));
  const hashes = new Uint8Array(placements.length * HASH_BYTES);
  for (const [index, placement] of placements.entries()) hashes.set(placement.hash, index * HASH_BYTES);
  const units = outcomes.map((outcome) => {
    if ("taken" in outcome) return outcome;
    return [outcome.placed[0]?.position ?? 0, outcome.placed.length] as const;
  });
  return { units, hashes };
}

export function unpackOutcomes(packed: PackedOutcomes): readonly AppendOutcome[] {
  let used = 0;
  return packed.units.map((unit) => {
    if ("taken" in unit) return unit;
    const [first, count] = unit;
    return {
      placed: Array.from({ length: count }, (_, index) => {
        used += HASH_BYTES;
        return { position: first + index, hash: packed.hashes.subarray(used - HASH_BYTES, used) };
      }),
    };
  });
}
