// Random workloads on a recorder in memory and on two that share one PostgreSQL: every answer must be the same.

import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { itemAt } from "../../src/model/item-at.js";
import { fuzzSeed, fuzzTimeoutMs, slowFuzz } from "../support/fuzz.js";
import { memoryRecorder, recorderAt } from "../support/memory-recorder.js";
import { storeAddress } from "../support/postgres.js";
import { repeatableContext } from "../support/write-context.js";
import { answerTo } from "./answers.js";
import { lastSteps, workload } from "./workload.js";

test(
  `memory and PostgreSQL answer every random workload alike, whichever server is asked (seed ${fuzzSeed})`,
  () =>
    fc.assert(
      fc.asyncProperty(workload, async (steps) => {
        const address = await storeAddress(`store_${randomUUID()}`);
        const writeContext = repeatableContext();
        const { recorder: memory } = memoryRecorder();
        const servers = [await recorderAt(address, writeContext), await recorderAt(address, writeContext)];
        try {
          for (const [at, step] of [...steps, ...lastSteps].entries()) {
            const server = itemAt(servers, at % servers.length);
            expect(await answerTo(server, step), `after ${JSON.stringify(step)}`).toStrictEqual(
              await answerTo(memory, step),
            );
          }
        } finally {
          for (const recorder of [...servers, memory]) await recorder.close();
        }
      }),
      slowFuzz(3),
    ),
  fuzzTimeoutMs,
);
