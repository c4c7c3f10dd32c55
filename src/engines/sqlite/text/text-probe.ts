// Asks segments of the text index which of their entries may hold all needles of a search.

import type { Statements } from "../statements.js";
import { slicesOf, windowsOf } from "./signature.js";
import { readSlice, type Segment, type SegmentEntries } from "./text-segments.js";

/** Entries of a segment that may hold the needles, by their index in `entries`, in order of position. */
export interface SegmentHits {
  readonly entries: SegmentEntries;
  readonly indexes: readonly number[];
}

/** Few blocks are left when they lie in no more words than this; then so many further slices are looked at. */
const FEW_WORDS = 4;
const SURPLUS_SLICES = 6;

export class TextProbe {
  readonly #sql: Statements;
  readonly #entriesOf: (segment: number) => SegmentEntries;
  readonly #newest: number;
  /** For each window the slices to look at, most telling first as far as is known. */
  readonly #windows: number[][];
  #isOrdered = false;
  readonly #hits = new Map<number, SegmentHits | undefined>();

  constructor(parts: {
    readonly sql: Statements;
    readonly entriesOf: (segment: number) => SegmentEntries;
    readonly segments: readonly Segment[];
    readonly needles: readonly string[];
  }) {
    this.#sql = parts.sql;
    this.#entriesOf = parts.entriesOf;
    this.#newest = parts.segments.at(-1)?.segment ?? 0;
    const windows = new Set(parts.needles.flatMap(windowsOf).filter((window) => window !== ""));
    this.#windows = [...windows].map((window) => [...slicesOf(window)]);
  }

  /** For each window of the needles, its slices. */
  get windows(): readonly (readonly number[])[] {
    return this.#windows;
  }

  /** What the segment may hold; undefined where it is nothing. Each segment is asked once. */
  hits({ segment }: Segment): SegmentHits | undefined {
    if (!this.#hits.has(segment)) this.#hits.set(segment, this.#ask(segment));
    return this.#hits.get(segment);
  }

  mayHold(segment: Segment, position: number): boolean {
    const hits = this.hits(segment);
    if (hits === undefined) return false;
    const { positions } = hits.entries;
    return contains(hits.indexes, position, (index) => positions[index] as number);
  }

  #ask(segment: number): SegmentHits | undefined {
    if (!this.#isOrdered) this.#order();
    const found: Int32Array[] = [];
    for (const slices of this.#windows) {
      const blocks = this.#blocksWith(segment, slices);
      if (blocks === undefined) return undefined;
      found.push(blocks);
    }
    const [rarest, ...others] = found;
    if (rarest === undefined) return undefined;
    const entries = this.#entriesOf(segment);
    const { first_blocks, last_blocks } = entries;
    const indexes = entriesWithin(rarest, entries).filter((index) =>
      others.every((blocks) => hasAny(blocks, first_blocks[index] as number, last_blocks[index] as number)),
    );
    return indexes.length === 0 ? undefined : { entries, indexes };
  }

  /** The blocks that have all bits of a window, or seem to after enough of them; undefined where there is none. */
  #blocksWith(segment: number, slices: readonly number[]): Int32Array | undefined {
    let blocks: Int32Array | undefined;
    let surplus = 0;
    for (const slice of slices) {
      const bits = readSlice(this.#sql, segment, slice);
      if (bits === undefined) return undefined;
      if (blocks === undefined) {
        blocks = bits;
        continue;
      }
      const words = keepCommon(blocks, bits);
      if (words === 0) return undefined;
      // What is left after some more will stay: looking at it costs less than reading all other slices.
      if (words <= FEW_WORDS) surplus += 1;
      if (surplus > SURPLUS_SLICES) break;
    }
    return blocks;
  }

  /**
   * The newest segment tells which bits are rare: with these first, most segments need only a few slices. It is always
   * the same one, so that each page of a search takes the same entries for possible hits.
   */
  #order(): void {
    this.#isOrdered = true;
    const segment = this.#newest;
    for (const slices of this.#windows) {
      const counts = new Map(slices.map((slice) => [slice, countBits(readSlice(this.#sql, segment, slice))]));
      slices.sort((left, right) => (counts.get(left) as number) - (counts.get(right) as number));
    }
    const rarest = (slices: readonly number[]): number => countBits(readSlice(this.#sql, segment, slices[0] as number));
    this.#windows.sort((left, right) => rarest(left) - rarest(right));
  }
}

/** Keeps the bits that both have, and answers with how many words still have any. */
function keepCommon(kept: Int32Array, other: Int32Array): number {
  let words = 0;
  for (let word = 0; word < kept.length; word += 1) {
    const common = (kept[word] as number) & (other[word] as number);
    kept[word] = common;
    if (common !== 0) words += 1;
  }
  return words;
}

/** The entries that have text in one of the blocks. Both lie in order, so that one pass is enough. */
function entriesWithin(blocks: Int32Array, entries: SegmentEntries): readonly number[] {
  const { first_blocks, last_blocks } = entries;
  const indexes: number[] = [];
  let next = 0;
  for (let word = 0; word < blocks.length; word += 1) {
    for (let rest = blocks[word] as number; rest !== 0; rest &= rest - 1) {
      const block = word * 32 + 31 - Math.clz32(rest & -rest);
      while (next < last_blocks.length && (last_blocks[next] as number) < block) next += 1;
      for (; next < first_blocks.length && (first_blocks[next] as number) <= block; next += 1) indexes.push(next);
    }
  }
  return indexes;
}

function hasAny(blocks: Int32Array, first: number, last: number): boolean {
  for (let block = first; block <= last; block += 1) {
    if ((((blocks[block >>> 5] as number) >>> block) & 1) !== 0) return true;
  }
  return false;
}

function countBits(words: Int32Array | undefined): number {
  let count = 0;
  for (const word of words ?? []) {
    for (let rest = word; rest !== 0; rest &= rest - 1) count += 1;
  }
  return count;
}

function contains(indexes: readonly number[], position: number, positionOf: (index: number) => number): boolean {
  let [low, high] = [0, indexes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (positionOf(indexes[middle] as number) < position) low = middle + 1;
    else high = middle;
  }
  return low < indexes.length && positionOf(indexes[low] as number) === position;
}
