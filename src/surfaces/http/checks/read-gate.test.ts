// The read gate: limited concurrency, a limited queue, and no reads while capture is overloaded.
import { expect, test } from "vitest";
import { ReadGate } from "./read-gate.js";

const limits = { running_max: 2, waiting_max: 1, isPressed: () => false };
const overloaded = { code: "overloaded" };

/** Work that runs until the test ends it. */
function held<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve: (value) => resolve(value) };
}

test("the allowed number run, the next one waits, and one more is refused", async () => {
  const gate = new ReadGate(limits);
  const works = [held<number>(), held<number>()];
  const running = works.map(({ promise }) => gate.pass(() => promise));
  const waiting = gate.pass(() => 3);
  expect([gate.running, gate.waiting]).toEqual([2, 1]);
  await expect(gate.pass(() => 4)).rejects.toMatchObject(overloaded);
  works[0]?.resolve(1);
  expect(await waiting).toBe(3);
  works[1]?.resolve(2);
  expect(await Promise.all(running)).toEqual([1, 2]);
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test("failed work frees its slot", async () => {
  const gate = new ReadGate({ ...limits, running_max: 1 });
  await expect(gate.pass(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await gate.pass(() => "next")).toBe("next");
});

test("while capture is overloaded reads are refused, including queued ones", async () => {
  let isPressed = false;
  const gate = new ReadGate({ running_max: 1, waiting_max: 5, isPressed: () => isPressed });
  const work = held<string>();
  const running = gate.pass(() => work.promise);
  const waiting = gate.pass(() => "too late");
  isPressed = true;
  await expect(gate.pass(() => "new")).rejects.toMatchObject(overloaded);
  const refused = expect(waiting).rejects.toMatchObject(overloaded);
  work.resolve("done");
  expect(await running).toBe("done");
  await refused;
  isPressed = false;
  expect(await gate.pass(() => "again")).toBe("again");
});

test("a read that waits too long times out, a running one keeps its slot, and a late one is not begun", async () => {
  const gate = new ReadGate({ ...limits, running_max: 1, answer_ms: 20 });
  const work = held<string>();
  const begun = gate.pass(() => work.promise);
  let isBegun = false;
  const waiting = gate.pass(() => {
    isBegun = true;
  });
  await expect(begun).rejects.toMatchObject(overloaded);
  await expect(waiting).rejects.toMatchObject(overloaded);
  expect([gate.running, gate.waiting]).toEqual([1, 1]);
  work.resolve("late");
  await expect.poll(() => [gate.running, gate.waiting]).toEqual([0, 0]);
  expect(isBegun).toBe(false);
  expect(await gate.pass(() => "in time")).toBe("in time");
});
