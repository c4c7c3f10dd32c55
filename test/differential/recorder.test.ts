// Random workloads on a recorder in memory and on one on SQLite: every answer must be the same, hashes included.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzzSeed, fuzzTimeoutMs, slowFuzz } from "../support/fuzz.js";
import { memoryRecorder, recorderAt } from "../support/memory-recorder.js";
import { repeatableSurroundings } from "../support/surroundings.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { answerTo } from "./answers.js";
import { type Step, workload } from "./workload.js";

const folder = folderOfFile();

const lastSteps: readonly Step[] = [
  { does: "listEntries", options: { limit: 7 } },
  { does: "listInteractions", options: { limit: 500 } },
  { does: "count" },
  { does: "verify" },
];

test(
  `memory and SQLite answer every random workload alike (seed ${fuzzSeed})`,
  () =>
    fc.assert(
      fc.asyncProperty(workload, async (steps) => {
        const data = mkdtempSync(join(folder, "store-"));
        const { recorder: memory } = memoryRecorder();
        const sqlite = await recorderAt(data, repeatableSurroundings());
        try {
          for (const step of [...steps, ...lastSteps]) {
            expect(await answerTo(sqlite, step), `after ${JSON.stringify(step)}`).toStrictEqual(
              await answerTo(memory, step),
            );
          }
        } finally {
          await sqlite.close();
          await memory.close();
          rmSync(data, { recursive: true });
        }
      }),
      slowFuzz(12),
    ),
  fuzzTimeoutMs,
);

test(
  `a store that is closed and opened again between steps answers as one that stayed open (seed ${fuzzSeed})`,
  () =>
    fc.assert(
      fc.asyncProperty(workload, fc.array(fc.nat(7), { minLength: 8, maxLength: 8 }), async (steps, pauses) => {
        const data = mkdtempSync(join(folder, "store-"));
        const surroundings = repeatableSurroundings();
        const { recorder: memory } = memoryRecorder();
        let sqlite = await recorderAt(data, surroundings);
        try {
          for (const [at, step] of [...steps, ...lastSteps].entries()) {
            if (pauses[at % pauses.length] === 0) {
              await sqlite.close();
              sqlite = await recorderAt(data, surroundings);
            }
            expect(await answerTo(sqlite, step), `after ${JSON.stringify(step)}`).toStrictEqual(
              await answerTo(memory, step),
            );
          }
        } finally {
          await sqlite.close();
          await memory.close();
          rmSync(data, { recursive: true });
        }
      }),
      slowFuzz(2),
    ),
  fuzzTimeoutMs,
);
