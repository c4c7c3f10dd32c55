// The text index on SQLite: signatures of the texts in segments of their own, and the search for what may hold a needle.
import type Database from "better-sqlite3";
import type { CandidateQuery, RowFilter, RowKey, TextBatch } from "../../../ports/entry-index.js";
import { listKeys } from "../list-ways.js";
import { amongStatement } from "../row-filter.js";
import type { Statements } from "../statements.js";
import { EntriesCache } from "./entries-cache.js";
import { HeldTexts, type SegmentSize } from "./held-texts.js";
import { TextProbe } from "./text-probe.js";
import { eraseFromSegment, insertSegment, listSegments, type Segment, type SegmentEntries } from "./text-segments.js";

export interface TextIndexOptions {
  /**
   * A segment is as large as lets what does not fill one be read directly by every search: some thousand entries, and a
   * few megabytes of text. So many blocks also make slices of which eight fill a page of the file without a gap.
   */
  readonly segment: SegmentSize;
  /**
   * So many rows of the list are looked at one by one before whole segments are: a common word or a narrow filter is done
   * with them, and for a rare word they cost little.
   */
  readonly rows_first: number;
}

const DEFAULTS: TextIndexOptions = { segment: { blocks: 3_968, entries: 4_096 }, rows_first: 256 };

export class TextIndex {
  readonly #db: Database.Database;
  readonly #sql: Statements;
  readonly #options: TextIndexOptions;
  readonly #entries: EntriesCache;
  #held: HeldTexts | undefined;

  constructor(db: Database.Database, sql: Statements, options: Partial<TextIndexOptions> = {}) {
    this.#db = db;
    this.#sql = sql;
    this.#options = { ...DEFAULTS, ...options };
    this.#entries = new EntriesCache(db, sql);
  }

  checkpoint(): number {
    return this.#checkpointOf("text");
  }

  /**
   * Takes texts and writes a segment whenever one is full. Answers with the position after which texts are to be given
   * next: where another process got ahead, what is held here is dropped, and it goes on from there.
   */
  apply(batch: TextBatch): number {
    const begin = { after: this.checkpoint(), tables_version: this.#tablesVersion() };
    const held = this.#held;
    if (held !== undefined && (held.after !== begin.after || held.tables_version !== begin.tables_version)) {
      this.#held = undefined;
      return begin.after;
    }
    this.#held ??= new HeldTexts(begin, this.#options.segment);
    for (const entry of batch.texts) {
      if (entry.position <= this.#held.through) continue;
      this.#held.add(entry);
      if (!this.#held.isFull) continue;
      if (!this.#write(this.#held)) break;
    }
    this.#held?.reach(batch.through);
    return this.#held?.through ?? this.checkpoint();
  }

  /** Drops what is held, which the log still has. */
  forget(): void {
    this.#held = undefined;
    this.#entries.clear();
  }

  /** Takes entries out of their segments; called within a transaction. */
  erase(positions: ReadonlySet<number>): void {
    for (const segment of listSegments(this.#sql)) {
      const isTouched = [...positions].some((position) => position > segment.after && position <= segment.through);
      if (isTouched) eraseFromSegment(this.#sql, segment, positions);
    }
    this.#entries.clear();
  }

  candidates(query: CandidateQuery): readonly RowKey[] {
    // Within one transaction, so that a segment which is written meanwhile is not seen twice or not at all.
    return this.#sql.transactions.read(() => this.#candidates(query));
  }

  #candidates({ filter, needles, after, limit }: CandidateQuery): readonly RowKey[] {
    if (limit <= 0) return [];
    if (needles.every((needle) => needle === "")) return this.#list({ filter, after, limit });
    const checkpoint = this.checkpoint();
    const held = this.#heldAfter(checkpoint);
    const segments = listSegments(this.#sql);
    this.#entries.check();
    const entriesOf = (segment: number): SegmentEntries => this.#entries.get(segment);
    const probe = new TextProbe({ sql: this.#sql, entriesOf, segments, needles });
    const found: RowKey[] = [];
    let last = after;
    const { rows_first } = this.#options;
    for (let looked = 0; looked < rows_first; ) {
      const wanted = Math.min(Math.max(limit, 64), rows_first - looked);
      const keys = this.#list({ filter, after: last, limit: wanted });
      for (const key of keys) {
        const segment = key.position > checkpoint ? undefined : segmentOf(segments, key.position);
        const isCandidate =
          key.position > checkpoint
            ? (held?.mayHold(key.position, probe.windows) ?? true)
            : segment !== undefined && probe.mayHold(segment, key.position);
        if (isCandidate) found.push(key);
        if (found.length >= limit) return found;
      }
      if (keys.length < wanted) return found;
      looked += keys.length;
      last = keys.at(-1);
    }
    const rest = { filter, after: last, limit: limit - found.length };
    return [...found, ...this.#beyond({ ...rest, checkpoint, segments, probe, held })];
  }

  /** The same from whole segments, newest first, and from the rows that no segment covers. */
  #beyond(query: {
    readonly filter: RowFilter;
    readonly after: RowKey | undefined;
    readonly limit: number;
    readonly checkpoint: number;
    readonly segments: readonly Segment[];
    readonly probe: TextProbe;
    readonly held: HeldTexts | undefined;
  }): readonly RowKey[] {
    const { filter, after, limit } = query;
    const since = filter.since_ms ?? Number.NEGATIVE_INFINITY;
    const until = Math.min(filter.until_ms ?? Number.POSITIVE_INFINITY, after?.created_ms ?? Number.POSITIVE_INFINITY);
    const segments = query.segments
      .filter((segment) => segment.max_ms >= since && segment.min_ms <= until)
      .sort((left, right) => right.max_ms - left.max_ms);
    let found = this.#uncovered(query).toSorted(newestFirst);
    for (const segment of segments) {
      // Only what is newer than all that is still to come is certain of its place.
      const certain = found[limit - 1];
      if (certain !== undefined && certain.created_ms > segment.max_ms) break;
      const hits = query.probe.hits(segment);
      if (hits === undefined) continue;
      const { positions, times_ms } = hits.entries;
      const keys = hits.indexes
        .map((index) => ({ created_ms: times_ms[index] as number, position: positions[index] as number }))
        .filter((key) => key.created_ms >= since && key.created_ms <= until && isAfter(key, after));
      found = [...found.slice(0, limit), ...this.#passing(filter, keys)].sort(newestFirst);
    }
    return found.slice(0, limit);
  }

  /** Rows beyond the text checkpoint. */
  #uncovered(query: {
    readonly filter: RowFilter;
    readonly after: RowKey | undefined;
    readonly limit: number;
    readonly checkpoint: number;
    readonly probe: TextProbe;
    readonly held: HeldTexts | undefined;
  }): readonly RowKey[] {
    const { checkpoint, probe, held } = query;
    const newest_ms = query.after?.created_ms ?? Number.MAX_SAFE_INTEGER;
    // The plus keeps SQLite from walking through all older rows by their time.
    const sql = "SELECT created_ms, position FROM rows WHERE position > ? AND +created_ms <= ?";
    const keys = [...this.#sql.all<RowKey>(sql, held?.through ?? checkpoint, newest_ms)];
    if (held !== undefined) {
      const sqlOfHeld = `SELECT created_ms, position FROM json_each(?) AS given
        CROSS JOIN rows ON rows.position = given.value`;
      keys.push(...this.#sql.all<RowKey>(sqlOfHeld, JSON.stringify(held.positionsThatMayHold(probe.windows))));
    }
    return this.#passing(
      query.filter,
      keys.filter((key) => isAfter(key, query.after)),
    );
  }

  /** Entries beyond the checkpoint whose texts were given here are told apart by what is held of them. */
  #heldAfter(checkpoint: number): HeldTexts | undefined {
    const held = this.#held;
    return held?.after === checkpoint && held.tables_version === this.#tablesVersion() ? held : undefined;
  }

  /** Keys whose rows pass the filter; without one, what is erased later passes as well, and has no text to be found. */
  #passing(filter: RowFilter, keys: readonly RowKey[]): readonly RowKey[] {
    if (keys.length === 0 || Object.values(filter).every((value) => value === undefined)) return keys;
    const { sql, values } = amongStatement(
      filter,
      keys.map(({ position }) => position),
    );
    const rows = this.#sql.all<{ readonly position: number }>(sql, ...values);
    const passing = new Set(rows.map(({ position }) => position));
    return keys.filter(({ position }) => passing.has(position));
  }

  #list(query: {
    readonly filter: RowFilter;
    readonly after: RowKey | undefined;
    readonly limit: number;
  }): readonly RowKey[] {
    const { after, ...rest } = query;
    return listKeys(this.#sql, after === undefined ? rest : { ...rest, after });
  }

  /**
   * Writes what is held as a segment, unless another process was first or the rows are not there yet. What was held is
   * then dropped, and given again.
   */
  #write(held: HeldTexts): boolean {
    this.#held = undefined;
    const isWritten = this.#sql.transactions.write(() => {
      const isOurs = this.checkpoint() === held.after && this.#tablesVersion() === held.tables_version;
      if (!isOurs || this.#checkpointOf("rows") < held.through) return false;
      this.#insert(held);
      return true;
    });
    const next = { after: held.through, tables_version: held.tables_version };
    if (isWritten) this.#held = new HeldTexts(next, this.#options.segment);
    return isWritten;
  }

  #insert(held: HeldTexts): void {
    const { after, through } = held;
    const sql = "SELECT position, created_ms FROM rows WHERE position > ? AND position <= ?";
    const rows = this.#sql.all<RowKey>(sql, after, through);
    const entries = held.entries(new Map(rows.map(({ position, created_ms }) => [position, created_ms])));
    if (entries.positions.length > 0) {
      const next = "SELECT coalesce(max(segment), 0) + 1 AS segment FROM text_segments";
      const { segment } = this.#sql.get<{ readonly segment: number }>(next) as { readonly segment: number };
      const min_ms = entries.times_ms.reduce((least, time) => Math.min(least, time));
      const max_ms = entries.times_ms.reduce((most, time) => Math.max(most, time));
      insertSegment(this.#sql, { segment, after, through, min_ms, max_ms }, entries, held.signatures);
    }
    this.#sql.run("UPDATE checkpoints SET position = ? WHERE name = 'text'", through);
  }

  #checkpointOf(name: "rows" | "text"): number {
    const sql = "SELECT position FROM checkpoints WHERE name = ?";
    return (this.#sql.get<{ readonly position: number }>(sql, name) as { readonly position: number }).position;
  }

  /** Changes whenever tables are made or put in place of others, by whichever process. */
  #tablesVersion(): number {
    return this.#db.pragma("schema_version", { simple: true }) as number;
  }
}

function segmentOf(segments: readonly Segment[], position: number): Segment | undefined {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segments[middle] as Segment).through < position) low = middle + 1;
    else high = middle;
  }
  const segment = segments[low];
  return segment !== undefined && segment.after < position ? segment : undefined;
}

function newestFirst(left: RowKey, right: RowKey): number {
  return right.created_ms - left.created_ms || right.position - left.position;
}

function isAfter(key: RowKey, after: RowKey | undefined): boolean {
  return after === undefined || newestFirst(key, after) > 0;
}
