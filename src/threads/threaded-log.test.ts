// The rules for committing inline, each on both sides of its threshold.
import { expect, test } from "vitest";
import type { AppendUnit } from "../log/port.js";
import { InlineCommits } from "./threaded-log.js";

const KiB = 1024;

/** Rules whose clock stands still until the test moves it. */
function rulesAt(startMs: number) {
  const clock = { ms: startMs };
  const inline = new InlineCommits(() => clock.ms);
  const suits = ({ count = 1, bytes = 100, kind = "error" } = {}) => inline.suits(unitsOf(count, kind), bytes);
  return { inline, clock, suits };
}

function unitsOf(count: number, kind: string): readonly AppendUnit[] {
  const bytes = { salt: Buffer.alloc(16), body: Buffer.from("{}") };
  return Array.from({ length: count }, () => [
    { kind, recorded_at: "2026-11-15T06:39:37.123Z", recorded_by: "", ...bytes, claims: [] },
  ]);
}

test("one unit of up to 64 KiB without a redaction is committed inline", () => {
  const { suits } = rulesAt(0);
  expect([suits(), suits({ count: 2 })]).toEqual([true, false]);
  expect([suits({ bytes: 64 * KiB }), suits({ bytes: 64 * KiB + 1 })]).toEqual([true, false]);
  expect(suits({ kind: "redaction" })).toBe(false);
  expect(suits()).toBe(true);
});

test("commits of 2 ms are quick however many there are, and one slow commit is no slow disk", () => {
  const { inline, suits } = rulesAt(0);
  for (let nth = 0; nth < 1_000; nth += 1) inline.noteCommit(2);
  expect(suits()).toBe(true);
  for (let nth = 0; nth < 10; nth += 1) {
    inline.noteCommit(60_000);
    inline.noteCommit(1);
    expect(suits()).toBe(true);
  }
});

test("after two slow commits in a row the thread writes for a second, and the disk is judged afresh after it", () => {
  const { inline, clock, suits } = rulesAt(5_000);
  for (let round = 0; round < 2; round += 1) {
    const startMs = clock.ms;
    inline.noteCommit(2.1);
    expect(suits()).toBe(true);
    inline.noteCommit(2.1);
    expect(suits()).toBe(false);
    clock.ms = startMs + 999;
    expect(suits()).toBe(false);
    clock.ms = startMs + 1_000;
    expect(suits()).toBe(true);
  }
});
