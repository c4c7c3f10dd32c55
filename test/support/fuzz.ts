// How many random cases a test tries, and from which seed: the same third of them in every normal run, others on demand.
//
// HANSARD_FUZZ_RUNS multiplies all cases and draws a new seed; HANSARD_FUZZ_SEED repeats a run that failed.
import { randomInt } from "node:crypto";
import type { Parameters } from "fast-check";

const SEED = 20_261_115;
const SHRINK_MS_MAX = 30_000;

export const isFuzzing = setting("HANSARD_FUZZ_RUNS") !== undefined;

export const fuzzSeed = setting("HANSARD_FUZZ_SEED") ?? (isFuzzing ? randomInt(2 ** 31) : SEED);

/** A normal run shows that a property still holds; what finds new cases is `npm run fuzz`. */
const NORMAL_SHARE = 1 / 3;

/** The parameters for fast-check: a third of `runs` in a normal run, HANSARD_FUZZ_RUNS times `runs` on demand. */
export function fuzz<T = unknown>(runs: number): Parameters<T> {
  return { seed: fuzzSeed, numRuns: isFuzzing ? runsOf(runs) : Math.ceil(runs * NORMAL_SHARE) };
}

/** As `fuzz`, for cases that are slow: shrinking a failure is bounded, so it is reported at all. */
export function slowFuzz<T = unknown>(runs: number): Parameters<T> {
  return { ...fuzz(runs), ...(isFuzzing ? {} : { interruptAfterTimeLimit: SHRINK_MS_MAX }) };
}

/** How often something is tried that is not cheap, and that every run tries in full. */
export function runsOf(runs: number): number {
  return runs * (setting("HANSARD_FUZZ_RUNS") ?? 1);
}

/** Long enough for the normal run, and for as long as it takes when more was asked for. */
export const fuzzTimeoutMs = isFuzzing ? 24 * 3_600_000 : 120_000;

function setting(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} must be a whole number from 1, not ${text}`);
  return value;
}
