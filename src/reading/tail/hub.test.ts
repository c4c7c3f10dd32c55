// The hub: one read serves all who wait, slow tails read for themselves, nothing is kept for those who are away.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type MemoryRecorder, memoryRecorder } from "../../../test/support/memory-recorder.js";
import type { MemoryLog } from "../../engines/memory/log.js";
import type { Entry } from "../../model/entry.js";
import { Fault } from "../../model/fault.js";
import { noMask } from "../../model/mask.js";
import { TailHub } from "./hub.js";
import { LocalTailSource } from "./read-tail.js";
import type { Tail } from "./tail.js";

type Recorder = MemoryRecorder["recorder"];

interface Parts {
  readonly hub: TailHub;
  readonly recorder: Recorder;
  readonly log: MemoryLog;
  readonly source: LocalTailSource;
}

function parts(): Parts {
  const { recorder, log } = memoryRecorder();
  const source = new LocalTailSource(log, noMask);
  const hub = new TailHub({ source, log });
  onTestFinished(() => hub.close());
  return { hub, recorder, log, source };
}

const all = { after: undefined, filter: undefined };

async function append(recorder: Recorder, count: number, error = "e"): Promise<void> {
  await recorder.append(Array.from({ length: count }, () => ({ kind: "error", error })));
}

async function take(tail: Tail, count: number): Promise<readonly number[]> {
  const positions: number[] = [];
  while (positions.length < count) positions.push(((await tail.next()).value as Entry).position);
  return positions;
}

function upTo(last: number, first = 1): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

test("a hundred tails at the end of the log cost one read and one parse of each entry", async () => {
  const { hub, recorder, source } = parts();
  const reads = vi.spyOn(source, "read");
  const tails = Array.from({ length: 100 }, () => hub.open(all));
  const taking = tails.map((tail) => tail.next());
  await Promise.all(tails.map((tail) => tail.started()));
  await append(recorder, 1);
  hub.grown();
  const [first, ...others] = (await Promise.all(taking)).map(({ value }) => value as Entry);
  expect(first).toMatchObject({ position: 1, error: "e" });
  for (const other of others) expect(other).toBe(first);
  expect(Object.isFrozen(first) && Object.isFrozen(first?.extra)).toBe(true);
  expect(reads).toHaveBeenCalledTimes(1);
});

test("entries of other processes are found without a notification, and there is no polling while no tail waits", async () => {
  const { hub, recorder, log } = parts();
  const tail = hub.open(all);
  const next = tail.next();
  await tail.started();
  await append(recorder, 2);
  expect((await next).value).toMatchObject({ position: 1 });
  const heads = vi.spyOn(log, "head");
  await delay(250);
  expect(heads).not.toHaveBeenCalled();
  expect(await take(tail, 1)).toEqual([2]);
});

test("a tail that is read late still gets everything since it was opened", async () => {
  const { hub, recorder } = parts();
  await append(recorder, 3);
  const tail = hub.open(all);
  await append(recorder, 2_000);
  hub.grown();
  expect(await take(tail, 2_000)).toEqual(upTo(2_003, 4));
});

test("a slow tail reads for itself, gets everything, and delays no other", async () => {
  const { hub, recorder } = parts();
  const slow = hub.open(all);
  const fast = hub.open(all);
  const seen: number[] = [];
  const following = (async () => {
    for await (const { position } of fast) if (seen.push(position) === 4_000) break;
  })();
  const first = slow.next();
  for (let batch = 0; batch < 40; batch += 1) {
    await append(recorder, 100, "x".repeat(2_000));
    hub.grown();
    await delay(2);
  }
  await following;
  expect(seen).toEqual(upTo(4_000));
  expect((await first).value).toMatchObject({ position: 1 });
  expect(await take(slow, 3_999)).toEqual(upTo(4_000, 2));
});

test("entries asked for before the last one came are given in order, each once", async () => {
  const { hub, recorder } = parts();
  const tail = hub.open(all);
  const asked = Array.from({ length: 5 }, () => tail.next());
  await tail.started();
  await append(recorder, 4);
  hub.grown();
  const early = (await Promise.all(asked.slice(0, 4))).map(({ value }) => (value as Entry).position);
  expect(early).toEqual(upTo(4));
  await append(recorder, 3);
  hub.grown();
  const later = [...asked.slice(4), tail.next(), tail.next()];
  expect((await Promise.all(later)).map(({ value }) => (value as Entry).position)).toEqual(upTo(7, 5));
});

test("a tail that stays behind gets what the others got, also when it is no longer shared", async () => {
  const { hub, recorder } = parts();
  const [behind, ahead] = [hub.open(all), hub.open(all)];
  const firsts = [behind.next(), ahead.next()];
  await Promise.all([behind.started(), ahead.started()]);
  await append(recorder, 2);
  hub.grown();
  const [first, same] = await Promise.all(firsts);
  expect(first?.value).toBe(same?.value);
  const second = (await ahead.next()).value;
  for (let round = 0; round < 3; round += 1) {
    await append(recorder, 1);
    hub.grown();
    await ahead.next();
  }
  const late = (await behind.next()).value;
  expect(late).toEqual(second);
  expect(late).not.toBe(second);
  expect(Object.isFrozen(late)).toBe(true);
});

test("a new tail does not make the hub read entries that no current tail needs", async () => {
  const { hub, recorder, source } = parts();
  const stalled = hub.open(all);
  const first = take(stalled, 1);
  await append(recorder, 1);
  hub.grown();
  await first;
  await append(recorder, 5_000);
  // The hub's own round for the first one has to be over.
  await delay(5);
  const reads = vi.spyOn(source, "read");
  const fresh = hub.open(all);
  const next = fresh.next();
  await fresh.started();
  await append(recorder, 1);
  hub.grown();
  expect((await next).value).toMatchObject({ position: 5_002 });
  expect(reads).toHaveBeenCalledTimes(1);
  expect(await take(stalled, 5_001)).toEqual(upTo(5_002, 2));
});

test("a position that the log has not reached is waited for", async () => {
  const { hub, recorder } = parts();
  const tail = hub.open({ after: 5, filter: undefined });
  const taking = take(tail, 2);
  for (let nth = 0; nth < 7; nth += 1) {
    await append(recorder, 1);
    hub.grown();
    await delay(5);
  }
  expect(await taking).toEqual([6, 7]);
});

test("a filter lets the others pass and still moves on", async () => {
  const { hub, recorder } = parts();
  const tail = hub.open({ after: 0, filter: { kinds: ["decision"] } });
  const next = tail.next();
  await append(recorder, 500);
  hub.grown();
  await vi.waitFor(() => expect(tail.position).toBe(500), 30_000);
  await recorder.append({ kind: "decision", decision: "d" });
  hub.grown();
  expect((await next).value).toMatchObject({ position: 501, decision: "d" });
});

describe("the end of a tail", () => {
  test("return ends it while the next entry is awaited, and it stays ended", async () => {
    const { hub } = parts();
    const tail = hub.open(all);
    const next = tail.next();
    await tail.started();
    await tail.return();
    expect(await next).toEqual({ value: undefined, done: true });
    expect(await tail.next()).toEqual({ value: undefined, done: true });
  });

  test("leaving a loop ends it", async () => {
    const { hub, recorder, log } = parts();
    await append(recorder, 3);
    for await (const entry of hub.open({ after: 0, filter: undefined })) if (entry.position === 2) break;
    const heads = vi.spyOn(log, "head");
    await delay(150);
    expect(heads).not.toHaveBeenCalled();
  });

  test("closing ends all of them, waiting or not", async () => {
    const { hub, recorder } = parts();
    await append(recorder, 1);
    const waiting = hub.open(all).next();
    const idle = hub.open({ after: 0, filter: undefined });
    await hub.close();
    expect(await waiting).toMatchObject({ done: true });
    expect(await idle.next()).toMatchObject({ done: true });
  });

  test("a log that fails ends them with its fault, and the next tail works again", async () => {
    const { hub, recorder, source, log } = parts();
    const fault = new Fault("store_failed", "the disk is gone", { hint: "Bring it back." });
    const failing = vi.spyOn(source, "read").mockRejectedValueOnce(fault);
    const next = hub.open(all).next();
    const caught = expect(next).rejects.toBe(fault);
    await delay(1);
    await append(recorder, 1);
    hub.grown();
    await caught;
    failing.mockRestore();
    vi.spyOn(log, "head").mockRejectedValueOnce(fault);
    await expect(hub.open(all).next()).rejects.toBe(fault);
    expect(await take(hub.open({ after: 0, filter: undefined }), 1)).toEqual([1]);
  });
});
