// A watcher that is killed and started again while the files that it reads are appended to, rotated, truncated and torn.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { startCli } from "../e2e/cli-run.js";
import { recordsOf } from "../support/fixtures.js";
import { FileWithIds, FileWithoutIds } from "../support/written-files.js";
import { both, type Fault } from "./fault.js";
import type { FireRun } from "./fire-run.js";

const ALIVE_MS_MAX = 1_500;
const LINES_MS_MAX = 30;

export const watcherFaults: readonly Fault[] = [
  { name: "kill -9 of a watcher, files torn and rotated", engines: both, weight: 5, run: killWatcher },
];

async function killWatcher(fire: FireRun): Promise<void> {
  const data = await fire.store();
  const watched = join(fire.folder, "watched");
  const withIds = new FileWithIds(join(watched, "a/ids.jsonl"), fire.random);
  const withoutIds = new FileWithoutIds(join(watched, "b/plain.jsonl"), fire.random);
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      withIds.step();
      withoutIds.step();
      await pause(fire.random() * LINES_MS_MAX);
    }
  })();
  for (let kills = fire.int(1, 3); kills > 0; kills -= 1) {
    const watcher = start(watched, data);
    await pause(300 + fire.random() * ALIVE_MS_MAX);
    watcher.kill("SIGKILL");
    await once(watcher, "exit");
  }
  isOver = true;
  await writing;
  const last = start(watched, data);
  const recorder = await openRecorder({ data });
  try {
    const arrived = async (): Promise<boolean> =>
      (await contentsOf(recorder, "plain")).length >= withoutIds.lines.length &&
      (await contentsOf(recorder, "with-ids")).length >= withIds.lines.length;
    await fire.until(arrived, "every complete line");
    expect(await contentsOf(recorder, "plain")).toEqual(withoutIds.lines);
    expect((await contentsOf(recorder, "with-ids")).toSorted()).toEqual(withIds.lines.toSorted());
    fire.note(withIds.lines.length + withoutIds.lines.length);
  } finally {
    await recorder.close();
  }
  last.kill("SIGTERM");
  expect(await once(last, "exit")).toEqual([0, null]);
}

function start(watched: string, data: string): ChildProcess {
  const child = startCli(["watch", watched, "--json"], { data });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdout?.resume();
  child.stderr?.resume();
  return child;
}

async function contentsOf(recorder: Recorder, session_id: string): Promise<readonly string[]> {
  let text = "";
  for await (const part of recorder.exportEntries({ session_id, kind: "message" })) text += part;
  return recordsOf(text).flatMap((entry) => ("content" in entry ? [String(entry.content)] : []));
}
