// Each rule of who commits an append, on both sides of its threshold.
import { describe, expect, test } from "vitest";
import type { AppendUnit } from "../log/port.js";
import { WriterPolicy } from "./writer-policy.js";

const KiB = 1024;

/** A policy whose clock stands still until the test moves it. */
function policyAt(startMs: number) {
  const clock = { ms: startMs };
  const policy = new WriterPolicy(() => clock.ms);
  return {
    policy,
    clock,
    /** Whether a lone append, of one small entry unless the test says otherwise, is the caller's to commit. */
    isLoneCallers: ({ bytes = 100, kind = "error" } = {}) => policy.isCallers(unitsOf(1, kind), bytes),
  };
}

function unitsOf(count: number, kind = "error"): readonly AppendUnit[] {
  const bytes = { salt: Buffer.alloc(16), body: Buffer.from("{}") };
  return Array.from({ length: count }, () => [
    { kind, recorded_at: "2026-11-15T06:39:37.123Z", recorded_by: "", ...bytes, claims: [] },
  ]);
}

describe("company", () => {
  test("the very first append is the caller's, and so is each that comes alone after it", () => {
    const { isLoneCallers } = policyAt(0);
    expect([1, 2, 3].map(() => isLoneCallers())).toEqual([true, true, true]);
  });

  test("several together are the thread's, and so is the first after them, but not the second", () => {
    const { policy, isLoneCallers } = policyAt(0);
    expect(policy.isCallers(unitsOf(2), 100)).toBe(false);
    expect([isLoneCallers(), isLoneCallers()]).toEqual([false, true]);
  });

  test("what comes while the thread writes is the thread's, and so is the first after it, but not the second", () => {
    const { policy, isLoneCallers } = policyAt(0);
    policy.handOver();
    policy.handOver();
    expect(policy.isThreadIdle).toBe(false);
    expect(isLoneCallers()).toBe(false);
    policy.takeBack();
    expect(policy.isThreadIdle).toBe(false);
    expect([isLoneCallers(), isLoneCallers()]).toEqual([false, false]);
    policy.takeBack();
    expect(policy.isThreadIdle).toBe(true);
    expect([isLoneCallers(), isLoneCallers()]).toEqual([false, true]);
  });
});

describe("what is appended", () => {
  test("64 KiB are the caller's, a byte more is the thread's, and the next small one the caller's again", () => {
    const { isLoneCallers } = policyAt(0);
    expect(isLoneCallers({ bytes: 64 * KiB })).toBe(true);
    expect(isLoneCallers({ bytes: 64 * KiB + 1 })).toBe(false);
    expect(isLoneCallers()).toBe(true);
  });

  test("a redaction is the thread's, however small, and the next entry the caller's again", () => {
    const { isLoneCallers } = policyAt(0);
    expect(isLoneCallers({ kind: "redaction" })).toBe(false);
    expect(isLoneCallers()).toBe(true);
  });
});

describe("the disk", () => {
  test("commits of 2 ms stay the caller's however many there are, and of a little more become the thread's", () => {
    const steady = policyAt(0);
    for (let nth = 0; nth < 1_000; nth += 1) steady.policy.noteCommit(2);
    expect(steady.isLoneCallers()).toBe(true);
    const slow = policyAt(0);
    let quick = 0;
    for (; slow.isLoneCallers() && quick < 1_000; quick += 1) slow.policy.noteCommit(2.1);
    expect(quick).toBeGreaterThan(10);
    expect(quick).toBeLessThan(100);
  });

  test("one hiccup is no slow disk, however long it was", () => {
    const { policy, isLoneCallers } = policyAt(0);
    policy.noteCommit(60_000);
    expect(isLoneCallers()).toBe(true);
  });

  test("a hiccup counts as 12 ms and no more", () => {
    const isCallersAfter = (ms: number, then: number): boolean => {
      const { policy, isLoneCallers } = policyAt(0);
      policy.noteCommit(ms);
      policy.noteCommit(then);
      return isLoneCallers();
    };
    // 12 ms leave an average of 1.2, to which 9.2 ms add just enough for 2.
    for (const ms of [12, 13, 60_000])
      expect([isCallersAfter(ms, 9.19), isCallersAfter(ms, 9.21)]).toEqual([true, false]);
    expect(isCallersAfter(11.9, 9.21)).toBe(true);
  });

  test("two hiccups are a slow disk with two quick commits between them, and none with three", () => {
    const withBetween = (count: number): boolean => {
      const { policy, isLoneCallers } = policyAt(0);
      policy.noteCommit(20);
      for (let nth = 0; nth < count; nth += 1) policy.noteCommit(0);
      policy.noteCommit(20);
      return isLoneCallers();
    };
    expect([withBetween(2), withBetween(3)]).toEqual([false, true]);
  });

  test("a slow disk is the thread's for a second, and judged afresh after it", () => {
    const { policy, clock, isLoneCallers } = policyAt(5_000);
    policy.noteCommit(20);
    policy.noteCommit(20);
    for (const [ms, isCallers] of [
      [5_000, false],
      [5_999, false],
      [6_000, true],
    ] as const) {
      clock.ms = ms;
      expect([ms, isLoneCallers()]).toEqual([ms, isCallers]);
    }
    policy.noteCommit(20);
    expect(isLoneCallers()).toBe(true);
    policy.noteCommit(20);
    expect(isLoneCallers()).toBe(false);
  });
});
