// Group commit: callers that wait together are written together, and a failure reaches only the callers it concerns.
import { expect, test } from "vitest";
import { MemoryLog } from "../../engines/memory/log.js";
import { Fault } from "../../model/fault.js";
import type { AppendOutcome, AppendUnit, LogEntry } from "../port.js";
import { GroupCommit } from "./group-commit.js";

/** A log whose appends wait until the test releases them. */
class HeldLog extends MemoryLog {
  readonly calls: (readonly AppendUnit[])[] = [];
  readonly #gates: { readonly open: () => void; readonly fail: (error: Error) => void }[] = [];

  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    this.calls.push(units);
    await new Promise<void>((open, fail) => this.#gates.push({ open, fail }));
    return super.append(units);
  }

  release(): void {
    this.#gates.shift()?.open();
  }

  break(error: Error): void {
    this.#gates.shift()?.fail(error);
  }
}

test("callers of one tick are written in one call, each with its own outcome", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const appended = ["a", "b", "c"].map((id) => commit.append([newEntry(id)]));
  await turn();
  expect(unitsOf(log)).toEqual([3]);
  log.release();
  const outcomes = await Promise.all(appended);
  expect(outcomes.map((outcome) => "placed" in outcome && outcome.placed[0]?.position)).toEqual([1, 2, 3]);
});

test("what arrives while two batches are being written becomes the next batch", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const appended: Promise<AppendOutcome>[] = [];
  for (let nth = 0; nth < 10; nth += 1) {
    appended.push(commit.append([newEntry(`e-${nth}`)]));
    await turn();
  }
  expect(unitsOf(log)).toEqual([1, 1]);
  log.release();
  await appended[0];
  await turn();
  expect(unitsOf(log)).toEqual([1, 1, 8]);
  log.release();
  log.release();
  await Promise.all(appended);
  expect((await log.head()).position).toBe(10);
});

test("a refused unit affects only its own caller", async () => {
  const log = new MemoryLog();
  const commit = new GroupCommit(log);
  await commit.append([newEntry("a")]);
  const outcomes = await Promise.all([commit.append([newEntry("a")]), commit.append([newEntry("b"), newEntry("c")])]);
  expect(outcomes).toMatchObject([
    { taken: [{ item: 0, claim: "id:a", position: 1 }] },
    { placed: [{ position: 2 }, { position: 3 }] },
  ]);
});

test("a batch that fails rejects its callers, and later ones are written", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const doomed = [commit.append([newEntry("a")]), commit.append([newEntry("b")])];
  await turn();
  const spared = commit.append([newEntry("c")]);
  await turn();
  log.break(new Error("disk on fire"));
  log.release();
  for (const outcome of await Promise.allSettled(doomed)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { message: "disk on fire" } });
  }
  expect(await spared).toMatchObject({ placed: [{ position: 1 }] });
  const again = commit.append([newEntry("a")]);
  await turn();
  log.release();
  expect(await again).toMatchObject({ placed: [{ position: 2 }] });
});

test("a batch is limited in entries and bytes, and a caller's unit is never split", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const big = Buffer.alloc(12 * 1024 * 1024);
  const appended = [
    commit.append([newEntry("big-1", big)]),
    commit.append([newEntry("big-2", big)]),
    commit.append(Array.from({ length: 3_000 }, (_, nth) => newEntry(`many-${nth}`))),
    commit.append([newEntry("last")]),
  ];
  for (let round = 0; round < 4; round += 1) {
    await turn();
    log.release();
    await turn();
  }
  await Promise.all(appended);
  expect(log.calls.map((units) => units.map((unit) => unit.length))).toEqual([[1], [1], [3_000], [1]]);
});

test("beyond 256 MiB of waiting text callers are asked to retry, and are accepted again afterwards", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const body = Buffer.alloc(64 * 1024 * 1024);
  const appended = [1, 2, 3, 4].map((nth) => commit.append([newEntry(`big-${nth}`, body)]));
  await expect(commit.append([newEntry("one-more")])).rejects.toMatchObject({
    name: "Fault",
    code: "overloaded",
    hint: expect.stringContaining("not stored"),
  });
  for (let round = 0; round < 4; round += 1) {
    await turn();
    log.release();
    await turn();
  }
  await Promise.all(appended);
  const after = commit.append([newEntry("one-more")]);
  await turn();
  log.release();
  expect(await after).toMatchObject({ placed: [{ position: 5 }] });
});

test("beyond 200,000 waiting entries callers are asked to retry; at half of that, reads should wait", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const unit = (size: number): LogEntry[] => Array.from({ length: size }, () => newEntry("same"));
  const appended = [commit.append(unit(100_000))];
  expect(commit.load).toMatchObject({ entries: 100_000, is_pressed: false });
  appended.push(commit.append(unit(1)));
  expect(commit.load).toMatchObject({ entries: 100_001, is_pressed: true });
  await expect(commit.append(unit(100_000))).rejects.toMatchObject({ code: "overloaded" });
  const settled = Promise.allSettled(appended);
  for (let round = 0; round < 2; round += 1) {
    await turn();
    log.break(new Error("enough"));
    await turn();
  }
  await settled;
  expect(commit.load).toEqual({ entries: 0, bytes: 0, is_pressed: false });
});

test("an observer gets every commit: its size, its duration, and why it failed", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const heard: unknown[] = [];
  commit.watch((report) => heard.push(report));
  const appended = commit.append([newEntry("a"), newEntry("b")]);
  await turn();
  log.release();
  await appended;
  const failed = commit.append([newEntry("c")]);
  await turn();
  log.break(new Fault("disk_full", "full", { hint: "" }));
  await expect(failed).rejects.toThrow("full");
  await turn();
  expect(heard).toMatchObject([{ entries: 2 }, { entries: 1, fault: "disk_full" }]);
  expect(heard[0]).not.toHaveProperty("fault");
});

test("each of many observers gets every commit until it stops observing", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const heard = { first: 0, second: 0 };
  const stop = commit.watch(() => {
    heard.first += 1;
  });
  commit.watch(() => {
    heard.second += 1;
  });
  for (const id of ["a", "b"]) {
    const appended = commit.append([newEntry(id)]);
    await turn();
    log.release();
    await appended;
    await turn();
    stop();
  }
  expect(heard).toEqual({ first: 1, second: 2 });
});

test("listeners learn that the log has grown by placed and restored entries, not by failed ones", async () => {
  const log = new MemoryLog();
  const commit = new GroupCommit(log);
  const told = { first: 0, second: 0 };
  commit.listen(() => {
    told.first += 1;
  });
  commit.listen(() => {
    told.second += 1;
  });
  await commit.append([newEntry("a")]);
  expect(told).toEqual({ first: 1, second: 1 });
  // Its id is taken, so nothing is placed.
  await commit.append([newEntry("a")]);
  expect(told.first).toBe(1);
  const { log_id } = await log.head();
  expect(await commit.restore({ log_id: "another", entries: [] })).toBe(false);
  expect(told.first).toBe(1);
  expect(await commit.restore({ log_id, entries: [] })).toBe(true);
  expect(told).toEqual({ first: 2, second: 2 });
});

test("listeners learn whether something may have been erased", async () => {
  const commit = new GroupCommit(new MemoryLog());
  const told: boolean[] = [];
  commit.listen(({ may_erase }) => told.push(may_erase));
  await commit.append([newEntry("a")]);
  await commit.append([{ ...newEntry("r"), kind: "redaction", body: Buffer.from('{"id":"r","positions":[1]}') }]);
  // Nothing is known of what others have written.
  commit.announce();
  expect(told).toEqual([false, true, true]);
});

test("it is drained once everything queued before has been answered", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  await commit.drained();
  const appended = commit.append([newEntry("a")]);
  let drained = false;
  const draining = commit.drained().then(() => {
    drained = true;
  });
  await turn();
  await turn();
  expect(drained).toBe(false);
  log.release();
  await appended;
  await draining;
  expect(drained).toBe(true);
});

test("it is also drained if the last batch failed", async () => {
  const log = new HeldLog();
  const commit = new GroupCommit(log);
  const appended = commit.append([newEntry("a")]);
  const outcome = appended.catch((error: unknown) => error);
  await turn();
  log.break(new Error("disk on fire"));
  await commit.drained();
  expect(await outcome).toMatchObject({ message: "disk on fire" });
});

function newEntry(id: string, body: Uint8Array = Buffer.from(id)): LogEntry {
  const salt = Buffer.alloc(16);
  return { kind: "error", recorded_at: "2026-11-15T06:39:37.123Z", recorded_by: "", salt, body, claims: [`id:${id}`] };
}

function unitsOf(log: HeldLog): readonly number[] {
  return log.calls.map((units) => units.length);
}

/** Runs everything that is ready to run. */
async function turn(): Promise<void> {
  for (let rounds = 0; rounds < 3; rounds += 1) await new Promise((resolve) => setImmediate(resolve));
}
