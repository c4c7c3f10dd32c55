// The text index on SQLite: takes texts as signatures, merges what it has written, and finds what may hold a
// needle.
import type Database from "better-sqlite3";
import type { CandidateQuery, NewestCandidates, NewestQuery, RowKey, TextBatch } from "../../../index/port.js";
import { timesOfKind } from "../../../index/row-filter.js";
import { BUSY_TIMEOUT_MS } from "../file.js";
import { listKeys } from "../list-ways.js";
import type { Statements } from "../statements.js";
import { CandidateSearch } from "./candidates.js";
import { fullFrom } from "./merge-plan.js";
import { Merging } from "./merging.js";
import { scrubSegments } from "./scrubbing.js";
import { SegmentCache, tablesVersionOf } from "./segment-cache.js";
import { hasUnmerged, insertMerged, insertUnmerged, type SegmentTexts } from "./segments.js";
import { type Slices, toSlices } from "./slices.js";
import { type SegmentSize, TextBuffer } from "./text-buffer.js";
import { TextProbe } from "./text-probe.js";

export interface TextIndexOptions {
  /**
   * The buffer is written when it has so many blocks, or so many entries: a program that has no buffer has to look
   * through them itself. Eight slices of so many blocks fill a page of the file.
   */
  readonly segment: SegmentSize;
  /** Few candidates are resolved one by one; where there are more, the newest rows are looked at first. */
  readonly few: number;
}

const DEFAULTS: TextIndexOptions = { segment: { blocks: 3_968, entries: 4_096 }, few: 256 };

/** The rows of the entries that are written, in JSON, and when the oldest and the newest were created. */
interface WrittenRows {
  readonly positions: string;
  readonly min_ms: number | null;
  readonly max_ms: number | null;
}

interface Prepared {
  readonly rows: WrittenRows;
  readonly texts: SegmentTexts;
  /** Left out where the segment is to be an unmerged one. */
  readonly slices: Slices | undefined;
}

/** What can be done later waits no longer than this for another program, which may be rewriting the whole file. */
const LOCK_WAIT_MS = 50;

export class TextIndex {
  readonly #db: Database.Database;
  readonly #sql: Statements;
  readonly #options: TextIndexOptions;
  readonly #cache: SegmentCache;
  readonly #merging: Merging;
  #buffer: TextBuffer | undefined;
  #probe: { readonly name: string; readonly buffer: TextBuffer | undefined; readonly probe: TextProbe } | undefined;

  constructor(db: Database.Database, sql: Statements, options: Partial<TextIndexOptions> = {}) {
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
   * Takes texts, and writes a segment whenever enough is buffered. Answers with the position after which texts are to be given
   * next: where another process got ahead, the buffer is dropped, and it goes on from there.
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
    // While many texts come, it is not left to a time when none do.
    if (fresh.length > 0) this.#merging.step();
    return this.#buffer?.through ?? this.checkpoint();
  }

  /** Writes the buffer, or else does one merge; false when nothing is left to do. */
  merge(): boolean {
    return this.#withoutWaiting(() => {
      const buffer = this.#unwritten();
      if (buffer === undefined) return this.#merging.step();
      this.#write(buffer);
      return true;
    });
  }

  /** Drops the buffer, whose texts the log still has. */
  forget(): void {
    this.#buffer = undefined;
    this.#cache.forget();
  }

  /** Writes the buffer, so that the next program need not be given it again. */
  close(): void {
    const buffer = this.#unwritten();
    if (buffer === undefined) return;
    try {
      this.#withoutWaiting(() => this.#write(buffer) && this.#merging.step());
    } catch {
      // The log still has it, and whatever is wrong with the file is met by whoever opens it next.
    }
  }

  /** Takes entries out of their segments; called within the transaction that has taken out their rows. */
  erase(positions: ReadonlySet<number>): void {
    scrubSegments(this.#sql, positions);
    this.#cache.changed();
  }

  candidates(query: CandidateQuery): readonly RowKey[] {
    if (query.limit <= 0) return [];
    if (query.needles.every((needle) => needle === "")) return listKeys(this.#sql, query);
    // Within one transaction, so that a segment which is written meanwhile is not seen twice or not at all.
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

  /** A search asks for its candidates page by page, and what is found out for one holds for the next. */
  #probeFor(needles: readonly string[], buffer: TextBuffer | undefined): TextProbe {
    const name = JSON.stringify([needles, this.#cache.times_changed, buffer?.through]);
    if (this.#probe?.name === name && this.#probe.buffer === buffer) return this.#probe.probe;
    const probe = new TextProbe({ sql: this.#sql, cache: this.#cache, buffer, needles });
    this.#probe = { name, buffer, probe };
    return probe;
  }

  /** Entries beyond the checkpoint whose texts were given here are told apart by the buffer. */
  #bufferAfter(checkpoint: number): TextBuffer | undefined {
    const buffer = this.#buffer;
    return buffer?.after === checkpoint && buffer.tables_version === tablesVersionOf(this.#sql) ? buffer : undefined;
  }

  /**
   * Writes the buffer as a segment, unless another process was first or the rows are not there yet. What it held is
   * then dropped, and given again.
   */
  #write(buffer: TextBuffer): boolean {
    // What takes long is done before others are kept from writing, and again only where they have erased something since.
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
    // Unmerged segments stay the newest.
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

  /** False where another program keeps the file locked. */
  #withoutWaiting(work: () => boolean): boolean {
    this.#db.pragma(`busy_timeout = ${LOCK_WAIT_MS}`);
    try {
      return work();
    } catch (error) {
      if (isBusy(error)) return false;
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

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && String((error as Error & { readonly code?: unknown }).code).startsWith("SQLITE_BUSY")
  );
}
