// How long reads wait for an index: what counts as new, what is waited for, and for how long.
import { describe, expect, test } from "vitest";
import { RebuildGrace } from "./rebuild.js";

const options = { behind_max: 10, wait_ms: 1_500, newest: 100 };

function newGrace(): { readonly grace: RebuildGrace; readonly clock: { nowMs: number } } {
  const clock = { nowMs: 1_000 };
  return { grace: new RebuildGrace(options, () => clock.nowMs), clock };
}

const seen = (checkpoint: number, position: number) => async () => ({ checkpoint, position });

describe("an index seen for the first time", () => {
  test("is complete if it has indexed the log before, however far it is behind", async () => {
    const { grace } = newGrace();
    const index = {};
    expect(grace.knows(index, 400)).toBe(false);
    await grace.observe(index, 400, seen(410, 9_000));
    expect(grace.knows(index, 410)).toBe(true);
    expect(grace.isEnough(410)).toBe(true);
  });

  test("lacks the whole log if it is empty", async () => {
    const { grace } = newGrace();
    await grace.observe({}, 0, seen(5, 100));
    expect(grace.lack(5)).toBe(95);
  });

  test("lacks it too if its first step has emptied it, because it was built from another log", async () => {
    const { grace } = newGrace();
    await grace.observe({}, 400, seen(5, 100));
    expect(grace.lack(5)).toBe(95);
  });
});

test("reads wait for so few missing entries, but not for one more", async () => {
  const { grace } = newGrace();
  await grace.observe({}, 0, seen(0, 100));
  expect(grace.isEnough(90)).toBe(true);
  expect(grace.isEnough(89)).toBe(false);
});

test("an index that replaced another is new, even if another process has begun to fill it", async () => {
  const { grace } = newGrace();
  const first = {};
  await grace.observe(first, 400, seen(400, 400));
  const second = {};
  expect(grace.knows(second, 30)).toBe(false);
  await grace.observe(second, 30, seen(40, 400));
  expect(grace.lack(40)).toBe(360);
});

test("an index whose position decreases was reset", async () => {
  const { grace } = newGrace();
  const index = {};
  await grace.observe(index, 400, seen(400, 400));
  expect(grace.knows(index, 400)).toBe(true);
  expect(grace.knows(index, 399)).toBe(false);
});

test("entries recorded later are not awaited", async () => {
  const { grace } = newGrace();
  await grace.observe({}, 0, seen(0, 100));
  expect(grace.lack(100)).toBe(0);
  expect(grace.lack(5_000)).toBeLessThan(0);
});

test("waiting ends when its time is over, and not before", async () => {
  const { grace, clock } = newGrace();
  expect(grace.restMs()).toBe(0);
  await grace.observe({}, 0, seen(0, 100));
  expect(grace.restMs()).toBe(1_500);
  clock.nowMs += 1_499;
  expect(grace.restMs()).toBe(1);
  clock.nowMs += 2;
  expect(grace.restMs()).toBe(0);
});

test("of two concurrent reads, the first saw the index as it was", async () => {
  const { grace } = newGrace();
  const index = {};
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = grace.observe(index, 60, async () => {
    await held;
    return { checkpoint: 60, position: 100 };
  });
  await grace.observe(index, 0, seen(50, 100));
  release();
  await slow;
  expect(grace.lack(50)).toBe(50);
});
