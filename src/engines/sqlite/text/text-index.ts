// The text index on SQLite: collects texts as signatures, writes and merges segments, and finds candidates.

import type { CandidateQuery, NewestCandidates, NewestQuery, RowKey, TextBatch } from "../../../index/port.js";
import { timesOfKind } from "../../../index/row-filter.js";
import { BUSY_TIMEOUT_MS } from "../connections.js";
import type { Database } from "../driver.js";
import { codeOf } from "../faults.js";
import { listKeys } from "../list-plan.js";
import type { Statements } from "../statements.js";
import { type SegmentSize, TextBuffer } from "./buffer.js";
import { CandidateSearch, TextProbe } from "./candidates.js";
import { fullFrom, Merging } from "./merging.js";
import { scrubSegments } from "./scrubbing.js";
import { SegmentCache, tablesVersionOf } from "./segment-cache.js";
import { hasUnmerged, insertMerged, insertUnmerged, type SegmentTexts, type Slices, toSlices } from "./segments.js";

export interface TextIndexOptions {
  /**
   * The buffer is written at this many blocks or entries: other processes have no buffer and must scan these entries.
   * Eight slices of this many blocks fill a page.
   */
  readonly segment: SegmentSize;
  /** Up to this many candidates are resolved directly; with more, the newest rows are scanned first. */
  readonly few: number;
}

const DEFAULTS: TextIndexOptions = { segment: { blocks: 3_968, entries: 4_096 }, few: 256 };

/** The positions of the rows to write, as JSON, and their oldest and newest time. */
interface WrittenRows {
  readonly positions: string;
  readonly min_ms: number | null;
  readonly max_ms: number | null;
}

interface Prepared {
  readonly rows: WrittenRows;
  readonly texts: SegmentTexts;
  /** Undefined for an unmerged segment. */
  readonly slices: Slices | undefined;
}

/** Deferrable work waits no longer than this for another program, which may be rewriting the whole file. */
const LOCK_WAIT_MS = 50;

export class TextIndex {
  readonly #db: Database;
  readonly #sql: Statements;
  readonly #options: TextIndexOptions;
  readonly #cache: SegmentCache;
  readonly #merging: Merging;
  #buffer: TextBuffer | undefined;
  #probe: { readonly name: string; readonly buffer: TextBuffer | undefined; readonly probe: TextProbe } | undefined;

  constructor(db: Database, sql: Statements, options: Partial<TextIndexOptions> = {}) {
    this.#db = db;
    this.#sql = sql;
    this.#options = { ...DEFAULTS, ...options };
    this.#cache = new SegmentCache(sql);
    this.#merging = new Merging({ sql, cache: this.#cache, blocks_max: this.#options.segment.blocks });
  }

  checkpoint(): number {
    return this.#checkpointOf("text");
  }

  /**
   * Buffers texts, and writes a segment when the buffer is full. Returns the position after which to continue: if
   * another process got ahead, the buffer is dropped.
   */
  apply(batch: TextBatch): number {
    const begin = { after: this.checkpoint(), tables_version: tablesVersionOf(this.#sql) };
    const buffer = this.#buffer ?? new TextBuffer(begin);
    const isOutrun = buffer.after !== begin.after || buffer.tables_version !== begin.tables_version;
    this.#buffer = isOutrun ? undefined : buffer;
    if (this.#buffer === undefined) return begin.after;
    if ((batch.after ?? 0) > buffer.through) return buffer.through;
    const fresh = batch.texts.filter(({ position }) => position > buffer.through);
    for (const entry of fresh) {
      this.#buffer.add(entry);
      if (this.#buffer.isFull(this.#segmentSize()) && !this.#write(this.#buffer)) break;
    }
    this.#buffer?.reach(batch.through);
    // Merges also while many texts arrive.
    if (fresh.length > 0) this.#merging.step();
    return this.#buffer?.through ?? this.checkpoint();
  }

  /** Writes the buffer, or does one merge; false if nothing is left to do. */
  merge(): boolean {
    return this.#withoutWaiting(() => {
      const buffer = this.#unwritten();
      if (buffer === undefined) return this.#merging.step();
      this.#write(buffer);
      return true;
    });
  }

  /** Drops the buffer; the log still has the texts. */
  forget(): void {
    this.#buffer = undefined;
    this.#cache.forget();
  }

  /** Writes the buffer, so the next program need not index its texts again. */
  close(): void {
    const buffer = this.#unwritten();
    if (buffer === undefined) return;
    try {
      this.#withoutWaiting(() => this.#write(buffer) && this.#merging.step());
    } catch {
      // The log still has the texts, and the next program that opens the file sees the error.
    }
  }

  /** Erases entries from their segments; call it within the transaction that has deleted their rows. */
  erase(positions: ReadonlySet<number>): void {
    scrubSegments(this.#sql, positions);
    this.#cache.changed();
  }

  candidates(query: CandidateQuery): readonly RowKey[] {
    if (query.limit <= 0) return [];
    if (query.needles.every((needle) => needle === "")) return listKeys(this.#sql, query);
    // In one transaction, so a segment written meanwhile is not seen twice or missed.
    return this.#sql.transactions.read(() => this.#searchFor(query).run());
  }

  newestCandidates({ kind, filter, needles, rows_max }: NewestQuery): NewestCandidates {
    return this.#sql.transactions.read(() => {
      const newest = listKeys(this.#sql, { filter: timesOfKind(kind, filter), limit: rows_max + 1 });
      if (newest.length === 0) return { keys: [], is_all: true };
      return this.#searchFor({ filter: { ...filter, kinds: [kind] }, needles, limit: rows_max }).among(newest);
    });
  }

  #searchFor(query: CandidateQuery): CandidateSearch {
    const checkpoint = this.checkpoint();
    const buffer = this.#bufferAfter(checkpoint);
    this.#cache.look();
    const probe = this.#probeFor(query.needles, buffer);
    const covered = { through: buffer?.through ?? checkpoint, rows_through: this.#checkpointOf("rows") };
    return new CandidateSearch({ sql: this.#sql, probe, ...covered, query, few: this.#options.few });
  }

  /** A search requests candidates page by page; the probe is reused between pages. */
  #probeFor(needles: readonly string[], buffer: TextBuffer | undefined): TextProbe {
    const name = JSON.stringify([needles, this.#cache.times_changed, buffer?.through]);
    if (this.#probe?.name === name && this.#probe.buffer === buffer) return this.#probe.probe;
    const probe = new TextProbe({ sql: this.#sql, cache: this.#cache, buffer, needles });
    this.#probe = { name, buffer, probe };
    return probe;
  }

  /** The buffer covers entries past the checkpoint whose texts were added here. */
  #bufferAfter(checkpoint: number): TextBuffer | undefined {
    const buffer = this.#buffer;
    return buffer?.after === checkpoint && buffer.tables_version === tablesVersionOf(this.#sql) ? buffer : undefined;
  }

  /**
   * Writes the buffer as a segment, unless another process was first or the rows are not there yet; then the buffer is
   * dropped and its texts are added again.
   */
  #write(buffer: TextBuffer): boolean {
    // Slow work is done before taking the write lock, and repeated only if entries were erased since.
    const prepared = this.#prepare(buffer, this.#rowsOf(buffer));
    const isWritten = this.#sql.transactions.write(() => {
      const isOurs = this.checkpoint() === buffer.after && tablesVersionOf(this.#sql) === buffer.tables_version;
      if (!isOurs || this.#checkpointOf("rows") < buffer.through) return false;
      const rows = this.#rowsOf(buffer);
      this.#insert(buffer, rows.positions === prepared.rows.positions ? prepared : this.#prepare(buffer, rows));
      return true;
    });
    this.#cache.changed();
    const next = { after: buffer.through, tables_version: buffer.tables_version };
    this.#buffer = isWritten ? new TextBuffer(next) : undefined;
    return isWritten;
  }

  #rowsOf({ after, through }: TextBuffer): WrittenRows {
    const sql = `SELECT json_group_array(position) AS positions, min(created_ms) AS min_ms, max(created_ms) AS max_ms
      FROM rows WHERE position > ? AND position <= ?`;
    return this.#sql.get<WrittenRows>(sql, after, through) as WrittenRows;
  }

  #prepare(buffer: TextBuffer, rows: WrittenRows): Prepared {
    const texts = buffer.toTexts(new Set(JSON.parse(rows.positions) as readonly number[]));
    // Unmerged segments must stay the newest.
    const isMerged = buffer.blocks >= fullFrom(this.#options.segment.blocks) && !hasUnmerged(this.#sql);
    return { rows, texts, slices: isMerged ? toSlices(texts.signatures, buffer.blocks) : undefined };
  }

  #insert({ after, through, blocks }: TextBuffer, { rows, texts, slices }: Prepared): void {
    const { min_ms, max_ms } = rows;
    if (min_ms !== null && max_ms !== null && blocks > 0) {
      const segment = { after, through, min_ms, max_ms };
      if (slices === undefined || hasUnmerged(this.#sql)) insertUnmerged(this.#sql, segment, texts);
      else insertMerged(this.#sql, segment, texts.firsts, slices);
    }
    this.#sql.run("UPDATE checkpoints SET position = ? WHERE name = 'text'", through);
  }

  #segmentSize(): SegmentSize {
    const { blocks, entries } = this.#options.segment;
    return { blocks: fullFrom(blocks), entries };
  }

  #unwritten(): TextBuffer | undefined {
    const buffer = this.#buffer;
    return buffer === undefined || buffer.through === buffer.after ? undefined : buffer;
  }

  /** False if another program holds the lock. */
  #withoutWaiting(work: () => boolean): boolean {
    this.#db.pragma(`busy_timeout = ${LOCK_WAIT_MS}`);
    try {
      return work();
    } catch (error) {
      if (codeOf(error).startsWith("SQLITE_BUSY")) return false;
      throw error;
    } finally {
      this.#db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  #checkpointOf(name: "rows" | "text"): number {
    const sql = "SELECT position FROM checkpoints WHERE name = ?";
    return (this.#sql.get<{ readonly position: number }>(sql, name) as { readonly position: number }).position;
  }
}
