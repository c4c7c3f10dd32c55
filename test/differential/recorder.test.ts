// Random workloads on a recorder in memory and on one on SQLite: every answer must be the same, hashes included.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { Recorder } from "../../src/index.js";
import { LocalReading, ThreadedReading } from "../../src/threads/reading.js";
import { ThreadedLog } from "../../src/threads/threaded-log.js";
import { fuzzSeed, fuzzTimeoutMs, slowFuzz } from "../support/fuzz.js";
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
        const memory = memoryRecorder();
        const sqlite = await sqliteRecorder(data);
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
        const memory = memoryRecorder();
        let sqlite = await sqliteRecorder(data, surroundings);
        try {
          for (const [at, step] of [...steps, ...lastSteps].entries()) {
            if (pauses[at % pauses.length] === 0) {
              await sqlite.close();
              sqlite = await sqliteRecorder(data, surroundings);
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

function memoryRecorder(): Recorder {
  const log = new MemoryLog();
  const reading = new LocalReading({ log, index: new MemoryIndex() });
  return new Recorder({ log, reading, surroundings: repeatableSurroundings() });
}

async function sqliteRecorder(data: string, surroundings = repeatableSurroundings()): Promise<Recorder> {
  const path = join(data, "log.db");
  const log = await ThreadedLog.open({ path, mode: "create" });
  const reading = new ThreadedReading({ log_path: path, index_path: join(data, "index.db") });
  return new Recorder({ log, reading, surroundings });
}
