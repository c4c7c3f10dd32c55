// Asks the text index which blocks may hold all needles of a search.
import { itemAt } from "../../../model/item-at.js";
import type { Statements } from "../statements.js";
import { blocksWithAll, hasAny, keepCommon } from "./block-bits.js";
import { BlockPlaces } from "./block-places.js";
import type { SegmentCache } from "./segment-cache.js";
import { isMerged, readSlice, type Segment, sliceKey } from "./segments.js";
import { slicesOf, windowsOf } from "./signature.js";
import type { TextBuffer } from "./text-buffer.js";

/** Entries in order of position of which signatures are known: those of a segment, or those in the buffer. */
export interface SearchedRange {
  readonly after: number;
  readonly through: number;
  readonly min_ms: number;
  readonly max_ms: number;
  readonly blocks: number;
  places(): BlockPlaces;
  /** For each window of the needles its blocks, most telling first; undefined where one has none. Asked once. */
  found(): readonly Int32Array[] | undefined;
}

/**
 * Where few blocks are left, no more than the first number, or another slice leaves more than this share of them, so many
 * further slices are looked at.
 */
const FEW_BLOCKS = 4;
const STAYS = 0.9;
const SURPLUS_SLICES = 6;

/** Where slices come from. */
interface SliceSource {
  /** The blocks that have the bit of a slice; undefined where none has. */
  blocksWith(slice: number): Int32Array | undefined;
  /** Keeps those that have it, and answers with how many these are. */
  keepWith(kept: Int32Array, slice: number): number;
}

export class TextProbe {
  readonly #sql: Statements;
  readonly #cache: SegmentCache;
  /** For each window the slices to look at, most telling first as far as is known. */
  readonly #windows: readonly (readonly number[])[];
  readonly ranges: readonly SearchedRange[];

  constructor(parts: {
    readonly sql: Statements;
    readonly cache: SegmentCache;
    readonly buffer: TextBuffer | undefined;
    readonly needles: readonly string[];
  }) {
    this.#sql = parts.sql;
    this.#cache = parts.cache;
    this.#windows = toWindows(parts.needles, parts.cache.counts);
    const buffer = parts.buffer === undefined ? [] : [this.#bufferRange(parts.buffer)];
    this.ranges = [...parts.cache.segments.map((segment) => this.#rangeOf(segment)), ...buffer];
  }

  /** Whether an entry of the range may hold all needles. */
  mayHold(range: SearchedRange, position: number): boolean {
    const found = range.found();
    if (found === undefined) return false;
    const [first, last] = range.places().blocksOf(position) ?? [0, -1];
    return found.every((blocks) => hasAny(blocks, first, last));
  }

  #bufferRange(buffer: TextBuffer): SearchedRange {
    const { after, through, blocks } = buffer;
    const places = once(() => new BlockPlaces(buffer, buffer.firsts));
    const found = once(() => everyOf(this.#windows, (slices) => blocksWithAll(buffer.signatures, slices)));
    // When they were created is known of their rows alone.
    return { after, through, min_ms: -Infinity, max_ms: Infinity, blocks, places, found };
  }

  #rangeOf(segment: Segment): SearchedRange {
    const { after, through, min_ms, max_ms, blocks } = segment;
    const places = (): BlockPlaces => this.#cache.places(segment);
    return { after, through, min_ms, max_ms, blocks, places, found: once(() => this.#inSegment(segment)) };
  }

  #inSegment(segment: Segment): readonly Int32Array[] | undefined {
    if (!isMerged(segment)) return this.#in(this.#cache.columns(segment));
    return this.#in(slicesBy((slice) => readSlice(this.#sql, sliceKey(segment.segment, slice))));
  }

  #in(source: SliceSource): readonly Int32Array[] | undefined {
    return everyOf(this.#windows, (slices) => blocksWithWindow(slices, source));
  }
}

/** The blocks that have all bits of a window, or seem to after enough of them; undefined where there is none. */
function blocksWithWindow(slices: readonly number[], source: SliceSource): Int32Array | undefined {
  const [first, ...others] = slices;
  const blocks = first === undefined ? undefined : source.blocksWith(first);
  if (blocks === undefined) return undefined;
  let count = Number.POSITIVE_INFINITY;
  let surplus = 0;
  for (const slice of others) {
    const before = count;
    count = source.keepWith(blocks, slice);
    if (count === 0) return undefined;
    // What is left after some more will stay: looking at it costs less than reading all other slices.
    if (count <= FEW_BLOCKS || count > before * STAYS) surplus += 1;
    if (surplus > SURPLUS_SLICES) break;
  }
  return blocks;
}

function slicesBy(read: (slice: number) => Int32Array | undefined): SliceSource {
  const keepWith = (kept: Int32Array, slice: number): number => {
    const bits = read(slice);
    return bits === undefined ? 0 : keepCommon(kept, bits);
  };
  return { blocksWith: read, keepWith };
}

/** With the rarest bits first, most segments need only a few slices. */
function toWindows(needles: readonly string[], counts: Uint16Array | undefined): readonly (readonly number[])[] {
  const windows = new Set(needles.flatMap(windowsOf).filter((window) => window !== ""));
  // Where nothing is known, longer runs come first: their bits have the lowest numbers.
  const weigh = (slice: number): number => counts?.[slice] ?? slice;
  return [...windows]
    .map((window) => slicesOf(window).toSorted((left, right) => weigh(left) - weigh(right)))
    .sort((left, right) => weigh(itemAt(left, 0)) - weigh(itemAt(right, 0)));
}

function everyOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): readonly R[] | undefined {
  const found: R[] = [];
  for (const item of items) {
    const one = find(item);
    if (one === undefined) return undefined;
    found.push(one);
  }
  return found;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
