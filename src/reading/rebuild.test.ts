// How patient reads are: what counts as new, what is waited for, and for how long.
import { describe, expect, test } from "vitest";
import { RebuildGrace } from "./rebuild.js";

const options = { behind_max: 10, wait_ms: 1_500, newest: 100 };

function patience(): { readonly patience: RebuildGrace; readonly clock: { nowMs: number } } {
  const clock = { nowMs: 1_000 };
  return { patience: new RebuildGrace(options, () => clock.nowMs), clock };
}

const seen = (checkpoint: number, position: number) => async () => ({ checkpoint, position });

describe("an index that is looked at first", () => {
  test("owes nothing where it has followed the log before, however far it is behind", async () => {
    const { patience: one } = patience();
    const index = {};
    expect(one.knows(index, 400)).toBe(false);
    await one.look(index, 400, seen(410, 9_000));
    expect(one.knows(index, 410)).toBe(true);
    expect(one.isEnough(410)).toBe(true);
  });

  test("owes all that the log holds where it is empty", async () => {
    const { patience: one } = patience();
    await one.look({}, 0, seen(5, 100));
    expect(one.lack(5)).toBe(95);
  });

  test("owes it too where its first step has emptied it, because it was made from another log", async () => {
    const { patience: one } = patience();
    await one.look({}, 400, seen(5, 100));
    expect(one.lack(5)).toBe(95);
  });
});

test("so few missing entries are waited for, and one more is not", async () => {
  const { patience: one } = patience();
  await one.look({}, 0, seen(0, 100));
  expect(one.isEnough(90)).toBe(true);
  expect(one.isEnough(89)).toBe(false);
});

test("an index that has taken the place of another is new, also where somebody else has begun to fill it", async () => {
  const { patience: one } = patience();
  const first = {};
  await one.look(first, 400, seen(400, 400));
  const second = {};
  expect(one.knows(second, 30)).toBe(false);
  await one.look(second, 30, seen(40, 400));
  expect(one.lack(40)).toBe(360);
});

test("an index that goes back was begun again", async () => {
  const { patience: one } = patience();
  const index = {};
  await one.look(index, 400, seen(400, 400));
  expect(one.knows(index, 400)).toBe(true);
  expect(one.knows(index, 399)).toBe(false);
});

test("what is recorded later is no debt", async () => {
  const { patience: one } = patience();
  await one.look({}, 0, seen(0, 100));
  expect(one.lack(100)).toBe(0);
  expect(one.lack(5_000)).toBeLessThan(0);
});

test("waiting ends when its time is over, and not before", async () => {
  const { patience: one, clock } = patience();
  expect(one.restMs()).toBe(0);
  await one.look({}, 0, seen(0, 100));
  expect(one.restMs()).toBe(1_500);
  clock.nowMs += 1_499;
  expect(one.restMs()).toBe(1);
  clock.nowMs += 2;
  expect(one.restMs()).toBe(0);
});

test("of two that look at the same time, the first saw the index as it was", async () => {
  const { patience: one } = patience();
  const index = {};
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = one.look(index, 60, async () => {
    await held;
    return { checkpoint: 60, position: 100 };
  });
  await one.look(index, 0, seen(50, 100));
  release();
  await slow;
  expect(one.lack(50)).toBe(50);
});
