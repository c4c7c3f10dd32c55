// Finds entries that may contain all needles, newest first: from signatures if these leave few, otherwise by scanning
// the list for as long as that is likely to be faster.

import { type CandidateQuery, type NewestCandidates, newestFirst, type RowKey } from "../../../index/port.js";
import { itemAt } from "../../../model/item-at.js";
import { amongStatement } from "../index-filter.js";
import { listKeys } from "../list-plan.js";
import type { Statements } from "../statements.js";
import { BlockPlaces, blocksIn, blocksWithAll, hasAny, keepCommon } from "./blocks.js";
import type { TextBuffer } from "./buffer.js";
import type { SegmentCache } from "./segment-cache.js";
import { isMerged, readSlice, type Segment, sliceKey } from "./segments.js";
import { slicesOf, windowsOf } from "./signature.js";

interface Parts {
  readonly sql: Statements;
  readonly probe: TextProbe;
  /** Signatures cover entries through this position; later ones, through that of the rows, may contain anything. */
  readonly through: number;
  readonly rows_through: number;
  readonly query: CandidateQuery;
  /** Up to this many candidates count as few; also the rows scanned before deciding whether to scan more. */
  readonly few: number;
}

interface Listed {
  /** The scan started below this position. */
  readonly top: number;
  readonly found: readonly RowKey[];
  readonly last: RowKey | undefined;
  readonly looked: number;
  readonly isAll: boolean;
}

export class CandidateSearch {
  readonly #parts: Parts;
  readonly #sinceMs: number;
  readonly #untilMs: number;
  /** Ranges that overlap the requested times, newest first. */
  readonly #ranges: readonly SearchedRange[];

  constructor(parts: Parts) {
    this.#parts = parts;
    const { filter, after } = parts.query;
    const newest = after?.created_ms ?? Number.POSITIVE_INFINITY;
    this.#sinceMs = filter.since_ms ?? Number.NEGATIVE_INFINITY;
    this.#untilMs = Math.min(filter.until_ms ?? Number.POSITIVE_INFINITY, newest);
    this.#ranges = parts.probe.ranges
      .filter((range) => range.max_ms >= this.#sinceMs && range.min_ms <= this.#untilMs)
      .sort((left, right) => right.max_ms - left.max_ms);
  }

  run(): readonly RowKey[] {
    const { query, few } = this.#parts;
    const { limit } = query;
    const beyond = this.#beyond(few + 1);
    const { positions, density } = this.#newest(beyond);
    if (positions.length <= few) return this.#keysOf(positions, query.after).slice(0, limit);
    let listed = this.#list(this.#beginning(beyond), few);
    const further = listed.isAll || listed.found.length >= limit ? 0 : this.#rowsWorthListing(listed, density);
    if (further > 0) listed = this.#list(listed, listed.looked + further);
    const { found, last, isAll } = listed;
    return isAll || found.length >= limit ? found : [...found, ...this.#fromRanges(last, limit - found.length)];
  }

  /**
   * Candidates among the newest rows, checking at most the limit; one more shows that there are more. If
   * signatures leave few entries overall, all of those are returned instead.
   */
  among(newest: readonly RowKey[]): NewestCandidates {
    const { query, few } = this.#parts;
    const isAll = newest.length <= query.limit;
    const isNarrowed = query.needles.some((needle) => needle !== "");
    if (!isAll && isNarrowed) {
      const { positions } = this.#newest(this.#beyond(few + 1));
      if (positions.length <= few) return { keys: this.#keysOf(positions, undefined), is_all: true };
    }
    const looked = newest.slice(0, query.limit).map(({ position }) => position);
    const positions = isNarrowed ? looked.filter((position) => this.#mayHold(position)) : looked;
    return { keys: this.#keysOf(positions, undefined), is_all: isAll };
  }

  /** All candidates, or the first ones beyond few; and their share of the entries they are from. */
  #newest(beyond: readonly number[]): { readonly positions: readonly number[]; readonly density: number } {
    const { few } = this.#parts;
    const positions = [...beyond];
    let entries = positions.length;
    for (const range of this.#ranges) {
      if (positions.length > few) break;
      // The scan starts after these.
      if (positions.length === beyond.length && range.found() === undefined) continue;
      for (const position of this.#positionsIn(range)) {
        positions.push(position);
        if (positions.length <= few) continue;
        return { positions, density: positions.length / (entries + position - range.after) };
      }
      entries += range.through - range.after;
    }
    return { positions, density: positions.length / Math.max(entries, 1) };
  }

  /**
   * Starts the scan at the newest range with a candidate, so rows of busy unrelated writers are skipped; the few rows
   * without signatures come first.
   */
  #beginning(beyond: readonly number[]): Listed {
    const { query, few, rows_through } = this.#parts;
    const start = { found: [], last: query.after, looked: 0, isAll: false, top: rows_through };
    const newest = this.#ranges.find((range) => range.found() !== undefined);
    if (newest === undefined || newest.max_ms >= this.#untilMs || beyond.length > few) return start;
    const last = { created_ms: newest.max_ms, position: Number.MAX_SAFE_INTEGER };
    const found = this.#keysOf(beyond, query.after).filter((key) => newestFirst(key, last) < 0);
    return { ...start, found, last, top: newest.through };
  }

  /** Continues the scan until this many rows were checked. */
  #list(from: Listed, most: number): Listed {
    const { query } = this.#parts;
    if (from.found.length >= query.limit) return { ...from, found: from.found.slice(0, query.limit) };
    const found = [...from.found];
    const { top } = from;
    let { last, looked } = from;
    while (looked < most) {
      const wanted = Math.min(Math.max(query.limit, 64, looked), most - looked);
      const place = last === undefined ? {} : { after: last };
      const keys = listKeys(this.#parts.sql, { filter: query.filter, limit: wanted, ...place });
      looked += keys.length;
      for (const key of keys) {
        if (this.#mayHold(key.position)) found.push(key);
        if (found.length >= query.limit) return { found, last: key, looked, isAll: false, top };
      }
      if (keys.length < wanted) return { found, last, looked, isAll: true, top };
      last = keys.at(-1);
    }
    return { found, last, looked, isAll: false, top };
  }

  /**
   * Checking a row and checking a candidate cost about the same. How many of each are needed follows from the density
   * of candidates and of rows that pass the filter.
   */
  #rowsWorthListing({ found, last, looked, top }: Listed, density: number): number {
    const { query, rows_through } = this.#parts;
    const left = query.limit - found.length;
    const passing = Math.min(1, looked / Math.max(1, top - (last?.position ?? 0)));
    const rows = Math.min(left / density, passing * rows_through);
    const [newest] = this.#ranges;
    const atLeast = newest === undefined ? 0 : density * (newest.through - newest.after);
    const entries = Math.min(density * rows_through, Math.max(left / passing, atLeast));
    return rows <= entries ? Math.ceil(2 * rows) : 0;
  }

  /** The rest from whole ranges, newest first. */
  #fromRanges(after: RowKey | undefined, limit: number): readonly RowKey[] {
    let found = this.#keysOf(this.#beyond(), after);
    for (const range of this.#ranges) {
      // Only keys newer than all remaining ranges are final.
      const certain = found[limit - 1];
      if (certain !== undefined && certain.created_ms > range.max_ms) break;
      if (after !== undefined && range.min_ms > after.created_ms) continue;
      const more = this.#keysOf([...this.#positionsIn(range)], after);
      if (more.length > 0) found = [...found.slice(0, limit), ...more].sort(newestFirst);
    }
    return found.slice(0, limit);
  }

  #mayHold(position: number): boolean {
    if (position > this.#parts.through) return true;
    const range = rangeAt(this.#parts.probe.ranges, position);
    return range !== undefined && this.#parts.probe.mayHold(range, position);
  }

  /** Positions of entries that may contain all needles, in order. */
  *#positionsIn(range: SearchedRange): Generator<number, void, undefined> {
    const [telling, ...others] = range.found() ?? [];
    if (telling === undefined) return;
    const places = range.places();
    let last = 0;
    for (const block of blocksIn(telling)) {
      const high = places.high(block);
      for (let position = Math.max(places.low(block), last + 1); position <= high; position += 1) {
        const [first, end] = others.length === 0 ? [0, -1] : (places.blocksOf(position) ?? [0, -1]);
        if (others.every((blocks) => hasAny(blocks, first, end))) yield position;
      }
      last = high;
    }
  }

  /** Positions of rows without signatures. */
  #beyond(limit = -1): readonly number[] {
    const { through, rows_through } = this.#parts;
    if (rows_through <= through) return [];
    const newest_ms = Math.min(this.#untilMs, Number.MAX_SAFE_INTEGER);
    // The plus keeps SQLite from walking all older rows by time.
    const sql = "SELECT position FROM rows WHERE position > ? AND +created_ms <= ? LIMIT ?";
    const rows = this.#parts.sql.all<{ readonly position: number }>(sql, through, newest_ms, limit);
    return rows.map((row) => row.position);
  }

  /** Keys of matching rows, newest first, strictly after the given one. */
  #keysOf(positions: readonly number[], after: RowKey | undefined): readonly RowKey[] {
    if (positions.length === 0) return [];
    const { sql, values } = amongStatement(this.#parts.query.filter, positions, "rows.created_ms, rows.position");
    return this.#parts.sql
      .all<RowKey>(sql, ...values)
      .filter((key) => after === undefined || newestFirst(after, key) < 0)
      .sort(newestFirst);
  }
}

function rangeAt(ranges: readonly SearchedRange[], position: number): SearchedRange | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (itemAt(ranges, middle).through < position) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && range.after < position ? range : undefined;
}

/** A range of entries with known signatures: a segment, or the buffer. */
interface SearchedRange {
  readonly after: number;
  readonly through: number;
  readonly min_ms: number;
  readonly max_ms: number;
  readonly blocks: number;
  places(): BlockPlaces;
  /** For each window of the needles its blocks, the most selective first; undefined if one has none. Computed once. */
  found(): readonly Int32Array[] | undefined;
}

/**
 * With at most this many blocks left, or if a slice keeps more than this share of them, only this many further slices
 * are read.
 */
const FEW_BLOCKS = 4;
const STAYS = 0.9;
const SURPLUS_SLICES = 6;

/** A source of slices. */
interface SliceSource {
  /** Blocks that have the bit of a slice; undefined if none has. */
  blocksWith(slice: number): Int32Array | undefined;
  /** Keeps the blocks that have it, and returns their number. */
  keepWith(kept: Int32Array, slice: number): number;
}

export class TextProbe {
  readonly #sql: Statements;
  readonly #cache: SegmentCache;
  /** The slices of each window, the most selective first as far as known. */
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

  /** Whether an entry of the range may contain all needles. */
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
    // Only the rows have the times of these entries.
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

/** The blocks that have all bits of a window, or enough of them; undefined if there are none. */
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
    // What is left now will mostly stay: checking it costs less than reading all other slices.
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
  // Without counts, longer runs come first: their bits have the lowest numbers.
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
