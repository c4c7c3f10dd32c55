// The threads behind a recorder: faults keep their code across, a thread that cannot open says so, closing is final.
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { folderOfTest } from "../../test/support/temporary-folder.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import { Fault } from "../model/fault.js";
import type { LogEntry } from "../ports/entry-log.js";
import { Thread, toFailure } from "./calls.js";
import { ThreadedLog } from "./threaded-log.js";
import { ThreadedReading } from "./threaded-reading.js";

describe("an error that crosses a thread", () => {
  test("keeps code and hint where it is a fault", () => {
    const fault = new Fault("disk_full", "the disk is full", { hint: "free some space" });
    expect(toFailure(fault)).toMatchObject({ code: "disk_full", message: "the disk is full", hint: "free some space" });
  });

  test("keeps its message and where it happened otherwise", () => {
    const failure = toFailure(new TypeError("not iterable"));
    expect(failure).toMatchObject({ code: "", message: "not iterable" });
    expect(failure.stack).toContain("threads.test");
    expect(toFailure("a text")).toMatchObject({ message: "a text" });
  });
});

test("a log that cannot be opened rejects with its fault, and leaves no thread behind", async () => {
  const path = join(folderOfTest(), "log.db");
  mkdirSync(path);
  await expect(ThreadedLog.open({ path, mode: "create" })).rejects.toMatchObject({
    name: "Fault",
    code: "store_not_writable",
    hint: expect.any(String),
  });
  await expect(ThreadedLog.open({ path: join(path, "none.db"), mode: "write" })).rejects.toMatchObject({
    code: "store_missing",
  });
});

test("a closed log refuses every call, and may be closed again", async () => {
  const log = await ThreadedLog.open({ path: join(folderOfTest(), "log.db"), mode: "create" });
  await log.close();
  await log.close();
  const units = ["a", "b"].map((id) => [newEntry(id)]);
  for (const call of [() => log.head(), () => log.append(units), () => log.find(["id:a"]), () => log.get([1])]) {
    await expect(call()).rejects.toMatchObject({ name: "Fault" });
  }
});

test("the write-ahead log is carried over while entries are written, and does not grow with them", async () => {
  const path = join(folderOfTest(), "log.db");
  const log = await ThreadedLog.open({ path, mode: "create" });
  let walBytesMax = 0;
  for (let nth = 0; nth < 800; nth += 1) {
    await log.append([[{ ...newEntry(`e-${nth}`), body: Buffer.alloc(100_000) }]]);
    if (nth % 20 === 0) walBytesMax = Math.max(walBytesMax, statSync(`${path}-wal`).size);
  }
  expect(walBytesMax).toBeLessThan(40_000_000);
  await log.close();
  expect(statSync(path).size).toBeGreaterThan(80_000_000);
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test("a checkpoint that cannot be finished is no failure of the append before it, which is stored", async () => {
  const finishing = vi.spyOn(SqliteLog.prototype, "finishCheckpoint").mockImplementation(() => {
    throw new Fault("disk_full", "the disk is full", { hint: "Free some space." });
  });
  onTestFinished(() => finishing.mockRestore());
  const log = await ThreadedLog.open({ path: join(folderOfTest(), "log.db"), mode: "create" });
  onTestFinished(() => log.close());
  for (let nth = 0; nth < 1_000 && finishing.mock.calls.length === 0; nth += 1) {
    const [outcome] = await log.append([[{ ...newEntry(`e-${nth}`), body: Buffer.alloc(50_000) }]]);
    expect(outcome).toMatchObject({ placed: [{ position: nth + 1 }] });
  }
  expect(finishing).toHaveBeenCalled();
});

test("a thread that dies rejects what was under way, and every later call", async () => {
  const file = new URL(
    "data:text/javascript,import{parentPort as p}from'node:worker_threads';p.on('message',()=>process.exit(3))",
  );
  const thread = new Thread({ file, options: {} });
  const stopped = { name: "Fault", code: "thread_stopped", hint: expect.any(String) };
  await expect(thread.call("anything", undefined)).rejects.toMatchObject(stopped);
  await expect(thread.call("anything", undefined)).rejects.toMatchObject(stopped);
  await thread.close();
});

test("reading tries again where its thread could not open the files", async () => {
  const folder = folderOfTest();
  const path = join(folder, "log.db");
  const reading = new ThreadedReading({ data: folder });
  await expect(reading.ask("count")).rejects.toMatchObject({ code: "store_missing" });
  const log = await ThreadedLog.open({ path, mode: "create" });
  expect(await reading.ask("count")).toMatchObject({ entries: 0 });
  await reading.close();
  await log.close();
  rmSync(folder, { recursive: true });
});

test("reading that was never asked for anything closes without a thread", async () => {
  const reading = new ThreadedReading({ data: "nowhere" });
  reading.grown();
  await reading.close();
});

function newEntry(id: string): LogEntry {
  const bytes = { salt: Buffer.alloc(16), body: Buffer.from(id) };
  return { kind: "error", recorded_at: "2026-11-15T06:39:37.123Z", ...bytes, claims: [`id:${id}`] };
}
