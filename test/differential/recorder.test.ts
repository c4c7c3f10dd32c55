// Random workloads on a recorder in memory and on one on SQLite: every answer must be the same, hashes included.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzzSeed, fuzzTimeoutMs, slowFuzz } from "../support/fuzz.js";
import { memoryRecorder, recorderAt } from "../support/memory-recorder.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { repeatableContext } from "../support/write-context.js";
import { answerTo } from "./answers.js";
import { lastSteps, type Step, workload } from "./workload.js";

const folder = folderOfFile();

/** Holds a store on SQLite, closed and opened again before the steps for which that is said, against one in memory. */
async function answersAlike(steps: readonly Step[], isReopenedBefore: (at: number) => boolean): Promise<void> {
  const data = mkdtempSync(join(folder, "store-"));
  const writeContext = repeatableContext();
  const { recorder: memory } = memoryRecorder();
  let sqlite = await recorderAt(data, writeContext);
  try {
    for (const [at, step] of [...steps, ...lastSteps].entries()) {
      if (isReopenedBefore(at)) {
        await sqlite.close();
        sqlite = await recorderAt(data, writeContext);
      }
      expect(await answerTo(sqlite, step), `after ${JSON.stringify(step)}`).toStrictEqual(await answerTo(memory, step));
    }
  } finally {
    await sqlite.close();
    await memory.close();
    rmSync(data, { recursive: true });
  }
}

test(
  `memory and SQLite answer every random workload alike (seed ${fuzzSeed})`,
  () =>
    fc.assert(
      fc.asyncProperty(workload, (steps) => answersAlike(steps, () => false)),
      slowFuzz(12),
    ),
  fuzzTimeoutMs,
);

test(
  `a store that is closed and opened again between steps answers as one that stayed open (seed ${fuzzSeed})`,
  () =>
    fc.assert(
      fc.asyncProperty(workload, fc.array(fc.nat(7), { minLength: 8, maxLength: 8 }), (steps, pauses) =>
        answersAlike(steps, (at) => pauses[at % pauses.length] === 0),
      ),
      slowFuzz(2),
    ),
  fuzzTimeoutMs,
);
