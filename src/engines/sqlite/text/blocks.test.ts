// Which blocks an entry is in: stored as the first position of each, and read back without loss.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzz } from "../../../../test/support/fuzz.js";
import { BlockPlaces, movedBy, placeOf } from "./blocks.js";

/**
 * Entries with the distance to the previous one, the number of blocks each begins, and whether it starts in a new one.
 */
const entries = fc.array(
  fc.record({ step: fc.integer({ min: 1, max: 3 }), more: fc.nat(3), isNewBlock: fc.boolean() }),
  { minLength: 1, maxLength: 40 },
);

test("an entry is in the blocks it was added to, and a block spans its entries", () => {
  fc.assert(
    fc.property(entries, fc.nat(1_000), fc.nat(5), (given, after, rest) => {
      const firsts: number[] = [];
      const blocksBy = new Map<number, readonly [number, number]>();
      let position = after;
      for (const { step, more, isNewBlock } of given) {
        position += step;
        const offset = position - after;
        if (isNewBlock || firsts.length === 0) firsts.push(placeOf({ offset, isContinued: false }));
        const first = firsts.length - 1;
        for (let nth = 0; nth < more; nth += 1) firsts.push(placeOf({ offset, isContinued: true }));
        blocksBy.set(position, [first, firsts.length - 1]);
      }
      const through = position + rest;
      const places = new BlockPlaces({ after, through }, Uint32Array.from(firsts));
      const earlier = new BlockPlaces({ after: after - 7, through }, movedBy(Uint32Array.from(firsts), 7));
      for (const [at, blocks] of blocksBy) {
        expect(places.blocksOf(at)).toEqual(blocks);
        expect(earlier.blocksOf(at)).toEqual(blocks);
      }
      for (const block of firsts.keys()) {
        const held = [...blocksBy].filter(([, [first, last]]) => first <= block && block <= last).map(([at]) => at);
        expect(places.low(block)).toBe(held[0]);
        expect(places.high(block)).toBeGreaterThanOrEqual(held.at(-1) as number);
        const beyond = [...blocksBy.keys()].find((at) => at > (held.at(-1) as number));
        expect(places.high(block)).toBeLessThan(beyond ?? Number.POSITIVE_INFINITY);
        expect(earlier.low(block)).toBe(places.low(block));
      }
    }),
    fuzz(500),
  );
});

test("an entry before the first one with text is in no block", () => {
  const places = new BlockPlaces(
    { after: 10, through: 20 },
    Uint32Array.of(placeOf({ offset: 3, isContinued: false })),
  );
  expect(places.blocksOf(12)).toBeUndefined();
  expect(places.blocksOf(13)).toEqual([0, 0]);
  expect(places.blocksOf(20)).toEqual([0, 0]);
});
