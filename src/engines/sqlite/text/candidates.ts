// The search for entries that may hold all needles, newest first: from the signatures where these leave few, else from the
// list, row by row, for as long as that promises to be quicker.

import { newestFirst } from "../../../index/port/rows.js";
import type { CandidateQuery, NewestCandidates, RowKey } from "../../../index/port.js";
import { itemAt } from "../../../model/item-at.js";
import { listKeys } from "../list-ways.js";
import { amongStatement } from "../row-filter.js";
import type { Statements } from "../statements.js";
import { blocksIn, hasAny } from "./block-bits.js";
import type { SearchedRange, TextProbe } from "./text-probe.js";

interface Parts {
  readonly sql: Statements;
  readonly probe: TextProbe;
  /** The position through which signatures are known; what lies beyond, through that of the rows, may hold anything. */
  readonly through: number;
  readonly rows_through: number;
  readonly query: CandidateQuery;
  /** Few candidates are no more than this, and so many rows are looked at before it is asked whether more make sense. */
  readonly few: number;
}

interface Listed {
  /** The list was begun below this position. */
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
  /** Those that may hold something of the times asked for, newest first. */
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
   * Those among the newest rows, of which no more than the limit are looked at: one more says that there are more. Where
   * the signatures leave few of all entries, these are looked at instead, and none is left out.
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

  /** All candidates, or the first that are more than few; and which part of the entries among which they were they are. */
  #newest(beyond: readonly number[]): { readonly positions: readonly number[]; readonly density: number } {
    const { few } = this.#parts;
    const positions = [...beyond];
    let entries = positions.length;
    for (const range of this.#ranges) {
      if (positions.length > few) break;
      // The list is begun behind these.
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
   * Where the list is begun: at the newest range that holds a candidate. Beside writers who speak of other things their rows
   * would be looked at in vain; of those without signatures the few that there are go before.
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

  /** Goes on with the list, row by row, until so many were looked at. */
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
   * A row of the list and an entry that the signatures leave cost about the same to look at. How many of the one or of the
   * other it takes follows from how dense candidates are, and how dense rows that pass the filter.
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

  /** The same from whole ranges, newest first. */
  #fromRanges(after: RowKey | undefined, limit: number): readonly RowKey[] {
    let found = this.#keysOf(this.#beyond(), after);
    for (const range of this.#ranges) {
      // Only what is newer than all that is still to come is certain of its place.
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

  /** Positions of entries that may hold all needles, in order. */
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
    // The plus keeps SQLite from walking through all older rows by their time.
    const sql = "SELECT position FROM rows WHERE position > ? AND +created_ms <= ? LIMIT ?";
    const rows = this.#parts.sql.all<{ readonly position: number }>(sql, through, newest_ms, limit);
    return rows.map((row) => row.position);
  }

  /** The keys of those rows that pass the filter, newest first and strictly after one. */
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
