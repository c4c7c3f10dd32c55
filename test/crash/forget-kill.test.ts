// kill -9 in the middle of forgetting: all of it or nothing, and what was begun is finished by the next program.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { resultOf, startCli } from "../e2e/cli-run.js";
import { fuzzSeed, fuzzTimeoutMs, runsOf } from "../support/fuzz.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { filesHolding } from "./file-bytes.js";

const ROUNDS = runsOf(8);

test(
  `after ${ROUNDS} kills each session is forgotten whole or not at all, and no byte of the forgotten is left (seed ${fuzzSeed})`,
  async () => {
    const data = folderOfTest();
    const random = seededRandom(fuzzSeed);
    await withRecorder(data, (recorder) => recorder.append(sessions(ROUNDS)));
    let forgotten = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = startCli(["forget", "--session", nameOf(round), "--reason", "asked to", "--yes"], { data });
      const ended = resultOf(child);
      await Promise.race([sleep(100 + random() * 500), ended]);
      child.kill("SIGKILL");
      await ended;
      const left = await withRecorder(data, async (recorder) => {
        expect(await recorder.verify()).toMatchObject({ ok: true });
        const { entries } = await recorder.listEntries({ session_id: nameOf(round), limit: 500 });
        return entries.length;
      });
      expect([0, 100]).toContain(left);
      if (left === 0) forgotten += 1;
      // The store was opened and closed in between, which is when what was left undone is done.
      if (left === 0) expect(filesHolding(data, nameOf(round))).toEqual([]);
    }
    const verified = await withRecorder(data, (recorder) => recorder.verify());
    expect(verified).toMatchObject({ ok: true, erased: forgotten * 100 });
  },
  fuzzTimeoutMs,
);

function nameOf(round: number): string {
  return `KILLMARK${round}END`;
}

function sessions(count: number): readonly EntryInput[] {
  return Array.from({ length: count * 100 }, (_, at) => {
    const session_id = nameOf(at % count);
    const turn = Math.floor(at / count);
    // Some send all that was said before, and so share parts of their bodies.
    if (turn % 10 === 9) {
      const messages = Array.from({ length: turn }, (_, nth) => ({
        role: "user",
        content: `${session_id} ${nth} `.repeat(30),
      }));
      return { kind: "interaction", session_id, prompt: session_id, context_pack: { messages } };
    }
    return { kind: "message", session_id, role: "user", content: `${session_id} ${"word ".repeat(at % 400)}` };
  });
}

async function withRecorder<T>(
  data: string,
  work: (recorder: Awaited<ReturnType<typeof openRecorder>>) => Promise<T>,
): Promise<T> {
  const recorder = await openRecorder({ data });
  try {
    return await work(recorder);
  } finally {
    await recorder.close();
  }
}
