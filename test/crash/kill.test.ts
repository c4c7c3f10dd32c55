// kill -9 in the middle of concurrent writes, again and again on one store: what was acknowledged is there afterwards.
import { join } from "node:path";
import { expect, test } from "vitest";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { fuzzSeed, fuzzTimeoutMs, runsOf } from "../support/fuzz.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { auditStore } from "./audit.js";
import { Writer } from "./programs.js";

const ROUNDS = runsOf(8);
const CALLERS = 64;

test(
  `after ${ROUNDS} kills of 64 concurrent callers everything acknowledged is there, whole and verified (seed ${fuzzSeed})`,
  async () => {
    const random = seededRandom(fuzzSeed);
    const data = join(folderOfTest(), "store");
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const writer = new Writer({ data, name: `r${round}`, callers: CALLERS, rounds: 1_000_000 });
      // Some are killed while they still open the store, the very first while it makes it.
      if (round % 4 === 0) await pause(random() * 250);
      else {
        await writer.started;
        await pause(random() * 120);
      }
      expect(await writer.kill(), "the writer ended by itself").toMatchObject({ signal: "SIGKILL" });
      acknowledged.push(...writer.acknowledged);
      await auditStore(data, acknowledged);
    }
    expect(acknowledged.length).toBeGreaterThan(100);
  },
  fuzzTimeoutMs,
);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
