// Which segments are merged when; a merged one has everything its parts had.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../../../test/support/fuzz.js";
import { itemAt } from "../../../model/item-at.js";
import { BlockPlaces, blocksWithAll, countBits } from "./blocks.js";
import { TextBuffer } from "./buffer.js";
import { fullFrom, mergeTexts, planMerge } from "./merging.js";
import type { Segment } from "./segments.js";
import { FULL, SIGNATURE_WORDS, slicesOf, windowsOf } from "./signature.js";

const BLOCKS_MAX = 3_968;

describe("the plan", () => {
  test("leaves a few alone, and merges the oldest once they have enough blocks", () => {
    expect(planned([])).toBeUndefined();
    expect(planned([3_000, 200, 5])).toBeUndefined();
    expect(planned([3_000, 900, 5])).toBeUndefined();
    expect(planned([3_000, 900, 50, 5])).toEqual({ into: "merged", blocks: [3_000, 900, 50] });
    expect(planned([BLOCKS_MAX, 5])).toEqual({ into: "merged", blocks: [BLOCKS_MAX] });
    expect(planned([20_000])).toEqual({ into: "merged", blocks: [20_000] });
  });

  test("merges sixteen of a size, only the newest", () => {
    const small = Array.from({ length: 16 }, () => 2);
    const middle = Array.from({ length: 16 }, () => 60);
    expect(planned([300, 20, ...small])).toEqual({ into: "unmerged", blocks: small });
    expect(planned([300, 20, ...small.slice(1)])).toBeUndefined();
    expect(planned([300, ...middle, 1, 1])).toEqual({ into: "unmerged", blocks: [...middle, 1, 1] });
    expect(planned([...middle, 300, 1, 1])).toBeUndefined();
  });

  test("terminates, and leaves few segments and few blocks, for any input", () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 4_000 })), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(sizes, (given) => {
        let unmerged: readonly Segment[] = [];
        for (const blocks of given) {
          unmerged = [...unmerged, segmentOf(blocks)];
          for (let plan = planMerge(unmerged, BLOCKS_MAX); plan !== undefined; plan = planMerge(unmerged, BLOCKS_MAX)) {
            const { into, segments } = plan;
            const from = unmerged.indexOf(itemAt(segments, 0));
            expect(unmerged.slice(from, from + segments.length)).toEqual(segments);
            const sum = segments.reduce((total, segment) => total + segment.blocks, 0);
            const one = into === "merged" ? [] : [segmentOf(sum)];
            unmerged = [...unmerged.slice(0, from), ...one, ...unmerged.slice(from + segments.length)];
          }
          expect(unmerged.length).toBeLessThan(3 * 16);
          const blocks_left = unmerged.reduce((total, segment) => total + segment.blocks, 0);
          expect(blocks_left).toBeLessThan(fullFrom(BLOCKS_MAX));
        }
      }),
      fuzz(50),
    );
  });
});

describe("texts that are merged", () => {
  const word = fc.string({ unit: fc.constantFrom(..."abcdefghijklmnop 0123456789жд文字"), maxLength: 200 });
  const entry = fc.record({ step: fc.integer({ min: 1, max: 3 }), texts: fc.array(word, { maxLength: 3 }) });
  const parts = fc.array(fc.array(entry, { maxLength: 12 }), { minLength: 1, maxLength: 6 });

  test("are found as before, in no more blocks, none of them overfull", () => {
    fc.assert(
      fc.property(parts, (given) => {
        const texts = new Map<number, readonly string[]>();
        const held: TextBuffer[] = [];
        let position = 100;
        for (const entries of given) {
          const part = new TextBuffer({ after: position, tables_version: 1 });
          for (const { step, texts: own } of entries) {
            position += step;
            texts.set(position, own);
            part.add({ position, texts: own });
          }
          if (part.blocks > 0) held.push(part);
        }
        if (held.length === 0) return;
        const merged = mergeTexts(held);
        const { after } = itemAt(held, 0);
        const places = new BlockPlaces({ after, through: position }, merged.firsts);
        expect(merged.signatures.length).toBe(merged.firsts.length * SIGNATURE_WORDS);
        expect(merged.firsts.length).toBeLessThanOrEqual(held.reduce((sum, part) => sum + part.blocks, 0));
        for (const [at, own] of texts) {
          for (const text of own.filter((one) => one !== "")) {
            const [first, last] = places.blocksOf(at) as readonly [number, number];
            const within = merged.signatures.subarray(first * SIGNATURE_WORDS, (last + 1) * SIGNATURE_WORDS);
            for (const window of windowsOf(text)) expect(blocksWithAll(within, slicesOf(window))).toBeDefined();
          }
        }
        const counts = Array.from(merged.firsts, (_, block) =>
          countBits(merged.signatures.subarray(block * SIGNATURE_WORDS, (block + 1) * SIGNATURE_WORDS)),
        );
        // A block that was written on its own may have a few more bits, those of its last unit.
        expect(Math.max(...counts)).toBeLessThanOrEqual(FULL + 10);
      }),
      fuzz(200),
    );
  });

  test("one by one take no more blocks than at once", () => {
    const texts = Array.from({ length: 200 }, (_, nth) => `entry ${nth * 7_919} says ${(nth * 104_729).toString(36)}`);
    const atOnce = new TextBuffer({ after: 0, tables_version: 1 });
    const oneByOne = texts.map((text, nth) => {
      atOnce.add({ position: nth + 1, texts: [text] });
      const one = new TextBuffer({ after: nth, tables_version: 1 });
      one.add({ position: nth + 1, texts: [text] });
      return one;
    });
    expect(mergeTexts(oneByOne).firsts.length).toBeLessThanOrEqual(atOnce.blocks + 1);
  });
});

function planned(sizes: readonly number[]): { readonly into: string; readonly blocks: readonly number[] } | undefined {
  const plan = planMerge(sizes.map(segmentOf), BLOCKS_MAX);
  return plan && { into: plan.into, blocks: plan.segments.map(({ blocks }) => blocks) };
}

function segmentOf(blocks: number): Segment {
  const times = { min_ms: 0, max_ms: 0 };
  return { segment: 1, after: 0, through: 1, ...times, blocks, is_merged: 0, revision: 0 };
}
