// What it costs to watch idle files, and how soon a new line is found.

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openRecorder, type Recorder } from "../src/index.js";
import { itemAt } from "../src/model/item-at.js";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";

const FILES = 2_000;
const QUIET_MS = 40_000;

export const watching: Suite = {
  name: "watching",
  about: `${FILES} idle transcripts, then a line in one of them`,
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const watched = join(folder, "watched");
    const files = Array.from({ length: FILES }, (_, at) => join(watched, `project-${at % 40}`, `session-${at}.jsonl`));
    for (const [at, file] of files.entries()) {
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, line(`old-${at}`, `session ${at}`, at));
    }
    const recorder = await openRecorder({ data: join(folder, "store") });
    const events = await quietShare(recorder, { watched, ms: QUIET_MS * scale, poll: false });
    const polling = await quietShare(recorder, { watched, ms: QUIET_MS * scale, poll: true });
    const watch = await recorder.watchFiles(watched);
    await watch.caughtUp();
    const waits: number[] = [];
    for (let round = 0; round < rounds * 4; round += 1) {
      const at = (round * 97) % FILES;
      waits.push(await searchableMs(recorder, itemAt(files, at), `needle${round}x`, at));
    }
    await recorder.close();
    return [
      { name: `${FILES} quiet files, share of one core`, value: events, unit: "%", target: { at_most: 1 } },
      { name: "the same, looked through again and again (--poll)", value: polling, unit: "%" },
      { name: "a complete line until it is found, median", value: median(waits), unit: "ms" },
      { name: "the longest", value: Math.max(...waits), unit: "ms", target: { at_most: 2_000 } },
    ];
  },
};

/** In percent, of this very process, which does nothing else meanwhile. */
async function quietShare(
  recorder: Recorder,
  { watched, ms, poll }: { readonly watched: string; readonly ms: number; readonly poll: boolean },
): Promise<number> {
  const watch = await recorder.watchFiles(watched, { poll });
  await watch.caughtUp();
  // Indexing and the first sweeps are not what quiet files cost.
  await pause(3_000);
  const before = process.cpuUsage();
  const start = performance.now();
  await pause(ms);
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1_000 / (performance.now() - start);
  await watch.close();
  return share * 100;
}

async function searchableMs(recorder: Recorder, file: string, word: string, at: number): Promise<number> {
  appendFileSync(file, line(word, `look for ${word}`, at));
  const start = performance.now();
  for (;;) {
    if ((await recorder.search(word)).results.length > 0) return performance.now() - start;
    await pause(5);
  }
}

function line(uuid: string, text: string, session: number): string {
  const ids = { uuid, sessionId: `session-${session}`, timestamp: "2026-05-04T08:00:00.000Z" };
  return `${JSON.stringify({ type: "user", ...ids, message: { role: "user", content: text } })}\n`;
}
