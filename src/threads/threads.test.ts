// The threads behind a recorder: faults keep their code across, a thread that cannot open says so, closing is final.
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { folderOfTest, folderOnDisk } from "../../test/support/temporary-folder.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import { AlteredNote } from "../log/altered-note.js";
import type { LogEntry } from "../log/port.js";
import { Fault } from "../model/fault.js";
import { Thread, ThreadedReading, threadFile, toFailure } from "./thread.js";
import { ThreadedLog } from "./threaded-log.js";

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

test("a log that cannot be opened rejects with its fault, and makes no thread that could be left behind", async () => {
  const made = threadsMade();
  const path = join(folderOfTest(), "log.db");
  mkdirSync(path);
  await expect(ThreadedLog.start({ path, mode: "create" })).rejects.toMatchObject({
    name: "Fault",
    code: "store_not_writable",
    hint: expect.any(String),
  });
  await expect(ThreadedLog.start({ path: join(path, "none.db"), mode: "write" })).rejects.toMatchObject({
    code: "store_missing",
  });
  expect(made()).toBe(0);
});

test("entries appended after a large batch are placed after it, and other work continues meanwhile", async () => {
  const log = await ThreadedLog.start({ path: join(folderOfTest(), "log.db"), mode: "create" });
  onTestFinished(() => log.close());
  await log.append(["a", "b"].map((id) => [newEntry(id)]));
  const large = { ...newEntry("large-0"), body: Buffer.from(JSON.stringify({ id: "x", error: "e".repeat(2_000) })) };
  const unit = Array.from({ length: 20_000 }, (_, nth) => ({ ...large, claims: [`id:large-${nth}`] }));
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 1);
  const [much, little] = await Promise.all([
    log.append([unit]),
    log.append([[newEntry("little")], [newEntry("less")]]),
  ]);
  clearInterval(counting);
  expect(much).toMatchObject([{ placed: { 0: { position: 3 }, length: 20_000 } }]);
  expect(little).toMatchObject([{ placed: [{ position: 20_003 }] }, { placed: [{ position: 20_004 }] }]);
  expect(turns).toBeGreaterThan(1);
});

describe("a closed log", () => {
  const range = { after: 0, limit: 1 };
  test.each<[call: string, (log: ThreadedLog) => Promise<unknown>]>([
    ["head", (log) => log.head()],
    ["append of one", (log) => log.append([[newEntry("a")]])],
    ["append of several", (log) => log.append(["a", "b"].map((id) => [newEntry(id)]))],
    ["restore", (log) => log.restore({ log_id: "l", entries: [] })],
    ["read", (log) => log.read(range)],
    ["get", (log) => log.get([1])],
    ["readBodies", (log) => log.readBodies(range)],
    ["getBodies", (log) => log.getBodies([1])],
    ["find", (log) => log.find(["id:a"])],
    ["keptClaims", (log) => log.keptClaims({ after: 0, through: 1 })],
    ["stray", (log) => log.findOrphan()],
  ])("refuses %s", async (_, call) => {
    const log = await ThreadedLog.start({ path: join(folderOfTest(), "log.db"), mode: "create" });
    await log.append([[newEntry("before")]]);
    await log.close();
    await expect(call(log)).rejects.toMatchObject({ name: "Fault" });
  });

  test("may be closed again", async () => {
    const log = await ThreadedLog.start({ path: join(folderOfTest(), "log.db"), mode: "create" });
    await log.close();
    await expect(log.close()).resolves.toBeUndefined();
  });
});

test("the write-ahead log is carried over while entries are written, and does not grow with them", async () => {
  const path = join(folderOnDisk(), "log.db");
  const log = await ThreadedLog.start({ path, mode: "create" });
  let walBytesMax = 0;
  for (let nth = 0; nth < 800; nth += 1) {
    await log.append([[{ ...newEntry(`e-${nth}`), body: Buffer.alloc(100_000) }]]);
    if (nth % 20 === 0) walBytesMax = Math.max(walBytesMax, statSync(`${path}-wal`).size);
  }
  expect(walBytesMax).toBeLessThan(40_000_000);
  await log.close();
  expect(statSync(path).size).toBeGreaterThan(80_000_000);
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
});

test("a checkpoint that cannot be finished is no failure of the append before it, which is stored", async () => {
  const finishing = vi.spyOn(SqliteLog.prototype, "finishCheckpoint").mockImplementation(() => {
    throw new Fault("disk_full", "the disk is full", { hint: "Free some space." });
  });
  onTestFinished(() => finishing.mockRestore());
  const log = await ThreadedLog.start({ path: join(folderOfTest(), "log.db"), mode: "create" });
  onTestFinished(() => log.close());
  let appended = 0;
  while (appended < 1_000 && finishing.mock.calls.length === 0) {
    const [outcome] = await log.append([[{ ...newEntry(`e-${appended}`), body: Buffer.alloc(50_000) }]]);
    appended += 1;
    expect(outcome).toMatchObject({ placed: [{ position: appended }] });
  }
  expect(finishing).toHaveBeenCalled();
  expect(await log.find([`id:e-${appended - 1}`])).toEqual([appended]);
  expect((await log.get([appended]))[0]?.body).toHaveLength(50_000);
});

test("who says that much will come has the thread made at once, and the appends that follow use it", async () => {
  const made = threadsMade();
  const log = await ThreadedLog.start({ path: join(folderOfTest(), "log.db"), mode: "create" });
  onTestFinished(() => log.close());
  log.hintBulk();
  log.hintBulk();
  await vi.waitFor(() => expect(made()).toBe(1));
  expect(await log.append(["a", "b"].map((id) => [newEntry(id)]))).toMatchObject([
    { placed: [{ position: 1 }] },
    { placed: [{ position: 2 }] },
  ]);
  expect(made()).toBe(1);
});

test("the threads that write load no code that is shared with others", () => {
  for (const name of ["log", "checkpoint"] as const) {
    const imported = [...readFileSync(threadFile(name), "utf8").matchAll(/^import .* from "([^"]+)";$/gm)];
    expect(imported.length).toBeGreaterThan(1);
    expect(imported.map(([, from]) => from).filter((from) => from?.startsWith("."))).toEqual([]);
  }
});

test("a thread that dies rejects what was under way, and every later call", async () => {
  const file = new URL(
    "data:text/javascript,import{parentPort as p}from'node:worker_threads';p.on('message',()=>process.exit(3))",
  );
  const thread = new Thread({ file, options: {} });
  const stopped = { name: "Fault", code: "thread_stopped", hint: expect.any(String) };
  const underWay = [thread.call("anything", undefined), thread.call("anything else", undefined)];
  for (const call of underWay) await expect(call).rejects.toMatchObject(stopped);
  for (let nth = 0; nth < 2; nth += 1) {
    await expect(thread.call("anything", undefined)).rejects.toMatchObject(stopped);
  }
  await thread.close();
});

test("reading tries again where its thread could not open the files, with a thread of its own again", async () => {
  const made = threadsMade();
  const folder = folderOfTest();
  const path = join(folder, "log.db");
  const reading = new ThreadedReading({ altered: new AlteredNote().memory, data: folder });
  await expect(reading.ask("count", undefined)).rejects.toMatchObject({ code: "store_missing" });
  const log = await ThreadedLog.start({ path, mode: "create" });
  expect(await reading.ask("count", undefined)).toMatchObject({ entries: 0 });
  expect(made()).toBe(2);
  await reading.close();
  await log.close();
  rmSync(folder, { recursive: true });
});

test("reading that was never asked for anything closes without a thread", async () => {
  const made = threadsMade();
  const reading = new ThreadedReading({ altered: new AlteredNote().memory, data: "nowhere" });
  reading.grown();
  await reading.close();
  expect(made()).toBe(0);
});

/** How many threads this process has made since. */
function threadsMade(): () => number {
  let made = 0;
  const count = (): void => {
    made += 1;
  };
  process.on("worker", count);
  onTestFinished(() => void process.off("worker", count));
  return () => made;
}

function newEntry(id: string): LogEntry {
  const bytes = { salt: Buffer.alloc(16), body: Buffer.from(id) };
  return { kind: "error", recorded_at: "2026-11-15T06:39:37.123Z", recorded_by: "", ...bytes, claims: [`id:${id}`] };
}
