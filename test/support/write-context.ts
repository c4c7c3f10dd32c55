// Time and chance that are the same in every run, so two recorders make the same ids, salts and hashes.
import { createHash } from "node:crypto";
import type { WriteContext } from "../../src/log/capture/draft.js";

/** Every call for the time is a millisecond later than the one before. */
export function repeatableContext(seed = 0): WriteContext {
  let nowMs = Date.UTC(2026, 10, 15, 6, 39, 37);
  let calls = 0;
  return {
    nowMs: () => {
      nowMs += 1;
      return nowMs;
    },
    randomBytes: (count) => {
      calls += 1;
      return createHash("sha256").update(`${seed}:${calls}`).digest().subarray(0, count);
    },
  };
}
