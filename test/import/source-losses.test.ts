// Files that sessions were read from, and that are gone: noted in the record once, with the session where it was in lists.
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { LostFile, Recorder, Watch } from "../../src/index.js";
import { ManualClock } from "../support/manual-clock.js";
import { recorderAt } from "../support/memory-recorder.js";
import { folderOfTest } from "../support/temporary-folder.js";

function line(uuid: string, session: string): string {
  const message = { role: "user", content: `words of ${uuid}` };
  const at = "2026-05-04T08:00:00.000Z";
  return `${JSON.stringify({ type: "user", uuid, sessionId: session, timestamp: at, cwd: "/srv/shop", message })}\n`;
}

interface Bench {
  readonly recorder: Recorder;
  readonly files: string;
  readonly lost: LostFile[];
  watch(): Promise<Watch>;
  /** Lets the clock run. */
  pass(ms: number): Promise<void>;
}

async function bench(): Promise<Bench> {
  const folder = folderOfTest();
  const [data, files] = [join(folder, "record"), join(folder, "files")];
  for (const path of [data, files]) mkdirSync(path);
  const clock = new ManualClock();
  const watching = { bookmarks: join(data, "watch.db"), watchClock: clock };
  const recorder = await recorderAt(data, { nowMs: Date.now, randomBytes }, watching);
  onTestFinished(() => recorder.close());
  const lost: LostFile[] = [];
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 200) {
      await clock.advance(200);
      await pause(4);
    }
  };
  return {
    ...{ recorder, files, lost, pass },
    async watch() {
      const watch = await recorder.watchFiles(files, { onLost: (one) => lost.push(one) });
      let isDone = false;
      const done = watch.caughtUp().then(() => {
        isDone = true;
      });
      while (!isDone) await pass(200);
      await done;
      return watch;
    },
  };
}

async function infoOf(recorder: Recorder, session_id: string) {
  const summary = await recorder.session(session_id).summary();
  return { metadata: summary?.metadata, last_at: summary?.last_at, entries: summary?.entries };
}

test("a deleted file is noted once, and its session keeps its place in lists", async () => {
  const { recorder, files, lost, watch, pass } = await bench();
  const path = join(files, "one.jsonl");
  writeFileSync(path, line("l1", "one") + line("l2", "one"));
  const watching = await watch();
  const before = await infoOf(recorder, "one");
  rmSync(path);
  await pass(40_000);
  expect(lost).toEqual([{ file: path, how: "deleted", sessions: ["one"] }]);
  const after = await infoOf(recorder, "one");
  expect(after.metadata).toMatchObject({
    source_loss: "deleted",
    source_deleted_at: expect.stringMatching(/Z$/),
    cwd: "/srv/shop",
  });
  expect(after).toMatchObject({ last_at: before.last_at, entries: (before.entries ?? 0) + 1 });
  await pass(70_000);
  await watching.close();
  await (await watch()).close();
  expect(lost).toHaveLength(1);
  expect((await infoOf(recorder, "one")).entries).toBe(after.entries);
});

test("what went while nobody watched is noted at the next start; a file that was moved is not", async () => {
  const { recorder, files, lost, watch, pass } = await bench();
  for (const name of ["gone", "moved"]) writeFileSync(join(files, `${name}.jsonl`), line(`l-${name}`, name));
  await (await watch()).close();
  rmSync(join(files, "gone.jsonl"));
  mkdirSync(join(files, "archive"));
  renameSync(join(files, "moved.jsonl"), join(files, "archive", "moved.jsonl"));
  const watching = await watch();
  await pass(40_000);
  await watching.close();
  expect(lost.map(({ sessions }) => sessions)).toEqual([["gone"]]);
  expect((await infoOf(recorder, "moved")).metadata).not.toHaveProperty("source_deleted_at");
});

test("a file that is replaced or renamed while it is watched is not lost; one that became shorter is", async () => {
  const { recorder, files, lost, watch, pass } = await bench();
  const path = join(files, "one.jsonl");
  writeFileSync(path, line("l1", "one") + line("l2", "one"));
  const watching = await watch();
  writeFileSync(`${path}.new`, line("l1", "one") + line("l2", "one") + line("l3", "one"));
  renameSync(`${path}.new`, path);
  await pass(10_000);
  renameSync(path, join(files, "two.jsonl"));
  await pass(40_000);
  expect(lost).toEqual([]);
  appendFileSync(join(files, "two.jsonl"), line("l4", "one"));
  await pass(5_000);
  truncateSync(join(files, "two.jsonl"), line("l1", "one").length);
  await pass(5_000);
  await watching.close();
  expect(lost).toEqual([{ file: join(files, "two.jsonl"), how: "shortened", sessions: ["one"] }]);
  expect((await infoOf(recorder, "one")).metadata).toMatchObject({ source_loss: "shortened" });
});

test("a session that was forgotten does not begin again, and a folder that is away as a whole loses nothing", async () => {
  const { recorder, files, lost, watch, pass } = await bench();
  for (const name of ["forgotten", "kept"]) writeFileSync(join(files, `${name}.jsonl`), line(`l-${name}`, name));
  const watching = await watch();
  await recorder.forget({ session_id: "forgotten", reason: "test" });
  await pass(40_000);
  rmSync(join(files, "forgotten.jsonl"));
  await pass(40_000);
  expect(await recorder.session("forgotten").summary()).toBeUndefined();
  renameSync(files, `${files}-away`);
  await pass(40_000);
  await watching.close();
  expect(lost).toEqual([]);
});
