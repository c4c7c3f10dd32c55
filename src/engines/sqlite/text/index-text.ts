// The text index on SQLite: takes texts as signatures, keeps what it has written in good order, and finds what may hold a
// needle.
import type Database from "better-sqlite3";
import type { CandidateQuery, NewestCandidates, NewestQuery, RowKey, TextBatch } from "../../../index/port.js";
import { timesOfKind } from "../../../index/row-filter.js";
import { BUSY_TIMEOUT_MS } from "../file.js";
import { listKeys } from "../list-ways.js";
import type { Statements } from "../statements.js";
import { CandidateSearch } from "./candidates.js";
import { eraseFromSegments } from "./erasing.js";
import { HeldTexts, type SegmentSize } from "./held-texts.js";
import { KnownSegments, tablesVersionOf } from "./known-segments.js";
import { fullFrom } from "./loose-segments.js";
import { type Slices, toSlices } from "./slices.js";
import { TextProbe } from "./text-probe.js";
import { hasLoose, insertLoose, insertSliced, type SegmentTexts } from "./text-segments.js";
import { Tidying } from "./tidying.js";

export interface TextIndexOptions {
  /**
   * What is held is written when it has so many blocks, or so many entries: a program that holds nothing has to look
   * through them itself. So many blocks also make slices of which eight fill a page of the file without a gap.
   */
  readonly segment: SegmentSize;
  /** The words of a slice in a bundle: so many fill a page of the file. */
  readonly bundle_words: number;
  /** Few candidates are resolved one by one; where there are more, the newest rows are looked at first. */
  readonly few: number;
}

const DEFAULTS: TextIndexOptions = { segment: { blocks: 3_968, entries: 4_096 }, bundle_words: 992, few: 256 };

/** The rows of the entries that are written, in JSON, and when the oldest and the newest were created. */
interface WrittenRows {
  readonly positions: string;
  readonly min_ms: number | null;
  readonly max_ms: number | null;
}

interface Prepared {
  readonly rows: WrittenRows;
  readonly texts: SegmentTexts;
  /** Left out where the segment is to be loose. */
  readonly slices: Slices | undefined;
}

/** What can be done later waits no longer than this for another program, which may be rewriting the whole file. */
const LOCK_WAIT_MS = 50;

export class TextIndex {
  readonly #db: Database.Database;
  readonly #sql: Statements;
  readonly #options: TextIndexOptions;
  readonly #known: KnownSegments;
  readonly #tidying: Tidying;
  #held: HeldTexts | undefined;
  #probe: { readonly name: string; readonly held: HeldTexts | undefined; readonly probe: TextProbe } | undefined;

  constructor(db: Database.Database, sql: Statements, options: Partial<TextIndexOptions> = {}) {
    this.#db = db;
    this.#sql = sql;
    this.#options = { ...DEFAULTS, ...options };
    this.#known = new KnownSegments(sql);
    const { segment, bundle_words } = this.#options;
    this.#tidying = new Tidying({ sql, known: this.#known, blocks_max: segment.blocks, bundle_words });
  }

  checkpoint(): number {
    return this.#checkpointOf("text");
  }

  /**
   * Takes texts, and writes a segment whenever enough is held. Answers with the position after which texts are to be given
   * next: where another process got ahead, what is held here is dropped, and it goes on from there.
   */
  apply(batch: TextBatch): number {
    const begin = { after: this.checkpoint(), tables_version: tablesVersionOf(this.#sql) };
    const held = this.#held ?? new HeldTexts(begin);
    const isOutrun = held.after !== begin.after || held.tables_version !== begin.tables_version;
    this.#held = isOutrun ? undefined : held;
    if (this.#held === undefined) return begin.after;
    if ((batch.after ?? 0) > held.through) return held.through;
    const fresh = batch.texts.filter(({ position }) => position > held.through);
    for (const entry of fresh) {
      this.#held.add(entry);
      if (this.#held.isFull(this.#segmentSize()) && !this.#write(this.#held)) break;
    }
    this.#held?.reach(batch.through);
    // While many texts come, it is not left to a time when none do.
    if (fresh.length > 0) this.#tidying.step();
    return this.#held?.through ?? this.checkpoint();
  }

  /** A step of some milliseconds: writes what is held, or else puts segments together; false when nothing is left to do. */
  tidy(): boolean {
    return this.#withoutWaiting(() => {
      const held = this.#unwritten();
      if (held === undefined) return this.#tidying.step();
      this.#write(held);
      return true;
    });
  }

  /** Drops what is held, which the log still has. */
  forget(): void {
    this.#held = undefined;
    this.#known.forget();
  }

  /** Writes what is held, so that the next program need not be given it again. */
  close(): void {
    const held = this.#unwritten();
    if (held === undefined) return;
    try {
      this.#withoutWaiting(() => this.#write(held) && this.#tidying.step());
    } catch {
      // The log still has it, and whatever is wrong with the file is met by whoever opens it next.
    }
  }

  /** Takes entries out of their segments; called within the transaction that has taken out their rows. */
  erase(positions: ReadonlySet<number>): void {
    eraseFromSegments(this.#sql, positions);
    this.#known.changed();
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
    const held = this.#heldAfter(checkpoint);
    this.#known.look();
    const probe = this.#probeFor(query.needles, held);
    const covered = { through: held?.through ?? checkpoint, rows_through: this.#checkpointOf("rows") };
    return new CandidateSearch({ sql: this.#sql, probe, ...covered, query, few: this.#options.few });
  }

  /** A search asks for its candidates page by page, and what is found out for one holds for the next. */
  #probeFor(needles: readonly string[], held: HeldTexts | undefined): TextProbe {
    const name = JSON.stringify([needles, this.#known.times_changed, held?.through]);
    if (this.#probe?.name === name && this.#probe.held === held) return this.#probe.probe;
    const probe = new TextProbe({ sql: this.#sql, known: this.#known, held, needles });
    this.#probe = { name, held, probe };
    return probe;
  }

  /** Entries beyond the checkpoint whose texts were given here are told apart by what is held of them. */
  #heldAfter(checkpoint: number): HeldTexts | undefined {
    const held = this.#held;
    return held?.after === checkpoint && held.tables_version === tablesVersionOf(this.#sql) ? held : undefined;
  }

  /**
   * Writes what is held as a segment, unless another process was first or the rows are not there yet. What was held is
   * then dropped, and given again.
   */
  #write(held: HeldTexts): boolean {
    // What takes long is done before others are kept from writing, and again only where they have erased something since.
    const prepared = this.#prepare(held, this.#rowsOf(held));
    const isWritten = this.#sql.transactions.write(() => {
      const isOurs = this.checkpoint() === held.after && tablesVersionOf(this.#sql) === held.tables_version;
      if (!isOurs || this.#checkpointOf("rows") < held.through) return false;
      const rows = this.#rowsOf(held);
      this.#insert(held, rows.positions === prepared.rows.positions ? prepared : this.#prepare(held, rows));
      return true;
    });
    this.#known.changed();
    const next = { after: held.through, tables_version: held.tables_version };
    this.#held = isWritten ? new HeldTexts(next) : undefined;
    return isWritten;
  }

  #rowsOf({ after, through }: HeldTexts): WrittenRows {
    const sql = `SELECT json_group_array(position) AS positions, min(created_ms) AS min_ms, max(created_ms) AS max_ms
      FROM rows WHERE position > ? AND position <= ?`;
    return this.#sql.get<WrittenRows>(sql, after, through) as WrittenRows;
  }

  #prepare(held: HeldTexts, rows: WrittenRows): Prepared {
    const texts = held.toTexts(new Set(JSON.parse(rows.positions) as readonly number[]));
    // What is loose stays the newest.
    const isSliced = held.blocks >= fullFrom(this.#options.segment.blocks) && !hasLoose(this.#sql);
    return { rows, texts, slices: isSliced ? toSlices(texts.signatures, held.blocks) : undefined };
  }

  #insert({ after, through, blocks }: HeldTexts, { rows, texts, slices }: Prepared): void {
    const { min_ms, max_ms } = rows;
    if (min_ms !== null && max_ms !== null && blocks > 0) {
      const segment = { after, through, min_ms, max_ms };
      if (slices === undefined || hasLoose(this.#sql)) insertLoose(this.#sql, segment, texts);
      else insertSliced(this.#sql, segment, texts.firsts, slices);
    }
    this.#sql.run("UPDATE checkpoints SET position = ? WHERE name = 'text'", through);
  }

  #segmentSize(): SegmentSize {
    const { blocks, entries } = this.#options.segment;
    return { blocks: fullFrom(blocks), entries };
  }

  #unwritten(): HeldTexts | undefined {
    const held = this.#held;
    return held === undefined || held.through === held.after ? undefined : held;
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
