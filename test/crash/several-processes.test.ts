// Several processes on one store at once: no gap, nothing lost, and one that is killed in the middle harms no other.
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { auditStore } from "./audit.js";
import { sessionOf } from "./made-entries.js";
import { startFollower, Writer } from "./programs.js";

test("three writers and a reader share a store from its first moment, and one writer is killed in the middle", async () => {
  const data = join(folderOfTest(), "store");
  const writers = ["a", "b", "c"].map((name) => new Writer({ data, name, callers: 16, rounds: 24 }));
  const doomed = new Writer({ data, name: "doomed", callers: 16, rounds: 1_000_000 });
  const follower = startFollower(data);
  await Promise.all(writers.map((writer) => writer.started));
  await doomed.started;
  expect(await doomed.kill()).toMatchObject({ signal: "SIGKILL" });
  for (const writer of writers) expect(await writer.ended).toEqual({ status: 0, signal: null, stderr: "" });
  const acknowledged = [...writers, doomed].flatMap((writer) => writer.acknowledged);
  const entries = await auditStore(data, acknowledged);
  expect(await follower.stop()).toMatchObject({ status: 0, stderr: "", followed: entries });
  expect(entries).toBeGreaterThanOrEqual(acknowledged.length);
  for (const writer of writers) expect(writer.acknowledged.length).toBeGreaterThanOrEqual(16 * 24);
});

test("a list finds entries acknowledged to another process at once", async () => {
  const data = join(folderOfTest(), "store");
  const writer = new Writer({ data, name: "other", callers: 4, rounds: 1_000_000 });
  await writer.started;
  const recorder = await openRecorder({ data });
  for (let round = 0; round < 40; round += 1) {
    const id = writer.acknowledged.at(-1) as string;
    const { entries } = await recorder.listEntries({ session_id: sessionOf(id) });
    expect(entries.map((entry) => entry.id)).toEqual([id]);
  }
  await recorder.close();
  expect(await writer.kill()).toMatchObject({ signal: "SIGKILL" });
});

test("recorders that are given the same entries at the same time store each once", async () => {
  const data = join(folderOfTest(), "store");
  const recorders = await Promise.all([openRecorder({ data }), openRecorder({ data })]);
  const ids = Array.from({ length: 200 }, (_, nth) => `entry-${nth}`);
  const appended = await Promise.all(
    recorders.flatMap((recorder) => ids.map((id) => recorder.append({ kind: "error", id, error: id }))),
  );
  expect(appended.filter(({ status }) => status === "recorded")).toHaveLength(ids.length);
  const [first] = recorders;
  expect(await first?.count()).toMatchObject({ entries: ids.length });
  expect(await first?.verify()).toMatchObject({ ok: true, entries: ids.length });
  await Promise.all(recorders.map((recorder) => recorder.close()));
});
