// kill -9 in the middle of the passes over the record, again and again: run to their end, they have done what passes do that
// no one disturbed, each once.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { resultOf, runCli, startCli } from "../e2e/cli-run.js";
import { fuzzSeed, fuzzTimeoutMs, runsOf } from "../support/fuzz.js";
import { folderOfTest } from "../support/temporary-folder.js";

const KILLS = runsOf(2);
const SESSIONS = 80;
const KNOWN = "The staging database of atlas lives on port 5433 behind the gateway";

test(
  `after ${KILLS} kills of each pass the memories equal those of uninterrupted passes (seed ${fuzzSeed})`,
  async () => {
    const random = seededRandom(fuzzSeed);
    const [killed, undisturbed] = [join(folderOfTest(), "killed"), join(folderOfTest(), "undisturbed")];
    for (const data of [killed, undisturbed]) await withRecorder(data, fill);
    const watcher = await openRecorder({ data: killed });
    const sizeNow = async (): Promise<number> => (await watcher.health()).position;
    let cut = 0;
    for (const pass of ["extract", "reinforce"]) {
      for (let round = 0; round < KILLS; round += 1) {
        // Killed once it has written something, wherever it is then; or it is through.
        const enough = (await sizeNow()) + 1 + random() * 40;
        let isThrough = false;
        const child = startCli([pass], { data: killed });
        const ended = resultOf(child).then(() => {
          isThrough = true;
        });
        while (!isThrough && (await sizeNow()) < enough) await sleep(2);
        if (!isThrough) cut += 1;
        child.kill("SIGKILL");
        await ended;
        expect(await watcher.verify()).toMatchObject({ ok: true });
      }
      for (const data of [killed, undisturbed]) expect((await runCli([pass], { data })).status).toBe(0);
    }
    const size = await sizeNow();
    await watcher.close();
    expect(cut, "no pass was killed before its end").toBeGreaterThan(0);
    const whole = await withRecorder(undisturbed, memoriesOf);
    expect(whole).toHaveLength(SESSIONS + 1);
    expect(whole.find(({ content }) => content === KNOWN)).toMatchObject({ confirmed: SESSIONS });
    expect(await withRecorder(killed, memoriesOf)).toEqual(whole);
    expect(await withRecorder(undisturbed, async (recorder) => (await recorder.health()).position)).toBe(size);
  },
  fuzzTimeoutMs,
);

test("a pass that is killed during a model call continues where it was, and repeats no answered call", async () => {
  const folder = folderOfTest();
  const [data, asked, hold] = [join(folder, "store"), join(folder, "asked"), join(folder, "hold")];
  await withRecorder(data, async (recorder) => {
    const said = { kind: "message", project: "atlas", role: "user", created_at: "2026-01-01T00:00:00Z" } as const;
    await recorder.append(
      [1, 2, 3].flatMap((nth) => [
        { ...said, session_id: `s${nth}`, content: `The door number ${nth} is painted green` },
        // Shorter sessions are not read.
        ...Array.from({ length: 20 }, () => ({ ...said, session_id: `s${nth}`, role: "assistant", content: "Done." })),
      ]),
    );
  });
  // It says when it is asked, and lets the third question wait for as long as it is held.
  const held = `while [ -e '${hold}' ] && [ "$(wc -c < '${asked}')" -ge 3 ]; do sleep 0.1; done`;
  const via = `cat > /dev/null; printf x >> '${asked}'; ${held}; echo '{"memories": []}'`;
  for (const file of [asked, hold]) writeFileSync(file, "");
  const questions = (): number => readFileSync(asked).length;
  const child = startCli(["extract", "--yes", "--via", via], { data });
  const ended = resultOf(child);
  while (questions() < 3) await sleep(5);
  child.kill("SIGKILL");
  await ended;
  rmSync(hold);
  expect((await runCli(["extract", "--via", via], { data })).status).toBe(0);
  expect(questions()).toBe(4);
  await withRecorder(data, async (recorder) => {
    const { entries } = await recorder.listEntries({ kind: "audit" });
    const did = (action: string) => entries.filter((entry) => "action" in entry && entry.action === action).length;
    // The one that was under way when it was killed was sent, too.
    expect([did("extraction"), did("extracted")]).toEqual([4, 3]);
    expect(await recorder.verify()).toMatchObject({ ok: true });
  });
});

/** Sessions in which something is to be remembered, and something known is said again. */
async function fill(recorder: Recorder): Promise<void> {
  await recorder.memories.add({ id: "known", content: KNOWN, project: "atlas", type: "project" });
  const turns = Array.from({ length: SESSIONS }, (_, nth): EntryInput => {
    const prompt = `Where is it? ${KNOWN}.`;
    const response = `## Fact: robot${nth} lives in cabinet${nth} of hall${nth}`;
    // Each on a day of its own, since a source proposes no more than a few a day.
    const created_at = new Date(Date.now() + nth * 86_400_000).toISOString();
    return { kind: "interaction", session_id: `s${nth}`, project: "atlas", prompt, response, created_at };
  });
  await recorder.append(turns);
}

async function memoriesOf(recorder: Recorder) {
  const { memories } = await recorder.memories.list({ limit: 500 });
  return memories
    .map(({ content, status, type, given, used, confirmed, confidence }) => {
      return { content, status, type, given, used, confirmed, confidence };
    })
    .toSorted((left, right) => (left.content < right.content ? -1 : 1));
}

async function withRecorder<T>(data: string, work: (recorder: Recorder) => Promise<T>): Promise<T> {
  const recorder = await openRecorder({ data });
  try {
    return await work(recorder);
  } finally {
    await recorder.close();
  }
}
