// The index on SQLite, in its own file, so filling it never holds up the log.
import { statSync } from "node:fs";
import type {
  CandidateQuery,
  ChangeQuery,
  DocumentQuery,
  EntryIndex,
  EntryRow,
  IndexBatch,
  IndexDocument,
  IndexDraft,
  IndexRevision,
  IndexSource,
  NewestCandidates,
  NewestQuery,
  RowCounts,
  RowKey,
  RowQuery,
  SessionPlace,
  SessionPlacesQuery,
  SessionRange,
  TextBatch,
} from "../../index/port.js";
import { connectToMemory, isImmutable, openFile } from "./connections.js";
import type { Database } from "./driver.js";
import { toFault, toIndexFault } from "./faults.js";
import {
  changedDocuments,
  countDocuments,
  getDocuments,
  listDocuments,
  putDocument,
  removeDocument,
} from "./index-documents.js";
import { DraftTables } from "./index-draft.js";
import { addRows, countRows, eraseRows, rowsAt, sessionPlaces, sessionPositions } from "./index-rows.js";
import {
  createIndexTables,
  dropAllTables,
  forgetHeads,
  INDEX_VERSION,
  rememberedHeads,
  rememberHeads,
} from "./index-schema.js";
import { listKeys } from "./list-plan.js";
import { APPLICATION_ID, foreignDatabase, isForeign, versionOf, writtenByNewer } from "./migrations.js";
import { UnchangedFile } from "./open-files.js";
import { PURGE_DUE, purgeIndex } from "./purge.js";
import { Statements } from "./statements.js";
import { TextIndex, type TextIndexOptions } from "./text/text-index.js";

/** A larger index is not loaded into memory but built from empty. */
const MEMORY_BYTES_MAX = 2 * 1024 ** 3;
const MEMORY = ":memory:";

export class SqliteIndex implements EntryIndex {
  readonly engine = "sqlite";
  readonly #db: Database;
  readonly #path: string;
  readonly #sql: Statements;
  readonly #texts: TextIndex;

  private constructor(db: Database, path: string, sql: Statements, texts?: Partial<TextIndexOptions>) {
    this.#db = db;
    this.#path = path;
    this.#sql = sql;
    this.#texts = new TextIndex(db, sql, texts);
  }

  /** An older index is recreated; a damaged one is a fault that the file's holder handles. */
  static open(options: { readonly path: string; readonly texts?: Partial<TextIndexOptions> }): SqliteIndex {
    const { path } = options;
    const db = openFile({ path, mode: "create", synchronous: "NORMAL" });
    try {
      if (isForeign(db)) throw foreignDatabase(path);
      if (versionOf(db) > INDEX_VERSION) throw writtenByNewer(path, versionOf(db), INDEX_VERSION);
      const sql = new Statements(db);
      if (versionOf(db) < INDEX_VERSION) recreate(db, sql, { path, always: false });
      return new SqliteIndex(db, path, sql, options.texts);
    } catch (error) {
      db.close();
      throw toFault(error, path);
    }
  }

  /** For a read-only file: a copy of it in memory, or an empty index if it is not of this version. */
  static inMemory(options: { readonly path: string | undefined }): SqliteIndex {
    const db = (options.path === undefined ? undefined : copyInMemory(options.path)) ?? connectToMemory();
    const sql = new Statements(db);
    if (versionOf(db) < INDEX_VERSION) recreate(db, sql, { path: MEMORY, always: false });
    return new SqliteIndex(db, MEMORY, sql);
  }

  /**
   * The format, which another version of the program may change, and SQLite's schema version, which changes whenever
   * any process recreates or swaps tables.
   */
  versions(): { readonly format: number; readonly tables: number } {
    return this.#guard(() => ({ format: this.#pragma("user_version"), tables: this.#pragma("schema_version") }));
  }

  hold(): () => boolean {
    const release = this.#guard(() => this.#sql.transactions.hold());
    return () => this.#guard(release);
  }

  async checkpoint(): Promise<number> {
    return this.#guard(() => this.#revision().position);
  }

  async revision(): Promise<IndexRevision> {
    return this.#guard(() => this.#revision());
  }

  async source(): Promise<IndexSource | undefined> {
    const sql = "SELECT log_id, position, hash FROM checkpoints WHERE name = 'rows' AND log_id <> ''";
    return this.#guard(() => this.#sql.get<IndexSource>(sql));
  }

  async apply(batch: IndexBatch): Promise<boolean> {
    return this.#guard(() =>
      this.#sql.transactions.write(() => {
        const { position, epoch } = this.#revision();
        const isTaken = position === batch.after.position && epoch === batch.after.epoch;
        if (isTaken) this.#take(batch);
        return isTaken;
      }),
    );
  }

  async list(query: RowQuery): Promise<readonly RowKey[]> {
    return this.#guard(() => listKeys(this.#sql, query));
  }

  async rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]> {
    return this.#guard(() => rowsAt(this.#sql, positions));
  }

  async textCheckpoint(): Promise<number> {
    return this.#guard(() => this.#texts.checkpoint());
  }

  async applyTexts(batch: TextBatch): Promise<number> {
    return this.#guard(() => {
      this.#refuseNewer();
      return this.#texts.apply(batch);
    });
  }

  async mergeTexts(): Promise<boolean> {
    return this.#guard(() => this.#texts.merge());
  }

  async candidates(query: CandidateQuery): Promise<readonly RowKey[]> {
    return this.#guard(() => this.#texts.candidates(query));
  }

  async newestCandidates(query: NewestQuery): Promise<NewestCandidates> {
    return this.#guard(() => this.#texts.newestCandidates(query));
  }

  async getDocuments(query: {
    readonly collection: string;
    readonly keys: readonly string[];
  }): Promise<readonly IndexDocument[]> {
    return this.#guard(() => getDocuments(this.#sql, query));
  }

  async listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]> {
    return this.#guard(() => listDocuments(this.#sql, query));
  }

  async changedDocuments(query: ChangeQuery): Promise<readonly IndexDocument[]> {
    return this.#guard(() => changedDocuments(this.#sql, query));
  }

  async countDocuments(collection: string): Promise<number> {
    return this.#guard(() => countDocuments(this.#sql, collection));
  }

  async count(): Promise<RowCounts> {
    return this.#guard(() => countRows(this.#sql));
  }

  async sessionPlaces(query: SessionPlacesQuery): Promise<readonly SessionPlace[]> {
    return this.#guard(() => sessionPlaces(this.#sql, query));
  }

  async sessionPositions(range: SessionRange): Promise<readonly number[]> {
    return this.#guard(() => sessionPositions(this.#sql, range));
  }

  async reset(): Promise<void> {
    this.#guard(() => {
      this.#sql.forget();
      this.#texts.forget();
      recreate(this.#db, this.#sql, { path: this.#path, always: true });
    });
  }

  async rememberedHeads(): Promise<readonly IndexSource[]> {
    return this.#guard(() => rememberedHeads(this.#db));
  }

  async forgetHeads(heads: readonly IndexSource[]): Promise<void> {
    this.#guard(() => this.#sql.transactions.write(() => forgetHeads(this.#db, heads)));
  }

  async draft(): Promise<IndexDraft> {
    const tables = this.#guard(() =>
      this.#sql.transactions.write(() => {
        this.#refuseNewer();
        return DraftTables.create(this.#db);
      }),
    );
    const index = new SqliteIndex(
      this.#db,
      this.#path,
      new Statements(this.#db, tables.naming, this.#sql.transactions),
    );
    return {
      index,
      isThere: async () => this.#guard(() => tables.isThere()),
      adopt: async () =>
        this.#guard(() =>
          this.#sql.transactions.write(() => {
            this.#refuseNewer();
            if (!tables.isThere()) return tables.wasPutInPlace() ? "adopted" : "gone";
            if (index.#revision().position < this.#revision().position) return "behind";
            tables.putInPlace();
            // SQLite reports changes by other connections; this one is our own.
            this.#texts.forget();
            return "adopted";
          }),
        ),
      remove: async () => this.#guard(() => this.#sql.transactions.write(() => tables.remove())),
    };
  }

  async isPurgeDue(): Promise<boolean> {
    if (this.#path === MEMORY) return false;
    return this.#guard(() => this.#sql.get("SELECT 1 FROM checkpoints WHERE name = ?", PURGE_DUE) !== undefined);
  }

  async purge(): Promise<string | undefined> {
    return this.#guard(() => purgeIndex(this.#path));
  }

  async close(): Promise<void> {
    this.#texts.close();
    this.#db.close();
  }

  #revision(): IndexRevision {
    this.#refuseNewer();
    return this.#sql.get<IndexRevision>("SELECT position, epoch FROM checkpoints WHERE name = 'rows'") as IndexRevision;
  }

  #take({ rows, through, erased = [], put = [], removed = [], source }: IndexBatch): void {
    addRows(this.#sql, rows);
    for (const name of removed) removeDocument(this.#sql, name);
    for (const document of put) putDocument(this.#sql, document);
    if (erased.length > 0) {
      eraseRows(this.#sql, erased);
      this.#texts.erase(new Set(erased));
      this.#sql.run("INSERT OR IGNORE INTO checkpoints (name, position) VALUES (?, 0)", PURGE_DUE);
    }
    const { log_id = "", hash = "" } = source ?? {};
    const move = "UPDATE checkpoints SET position = ?, log_id = ?, hash = ? WHERE name = 'rows'";
    this.#sql.run(move, through, log_id, hash);
  }

  /**
   * A newer version may have recreated the index while it is open here. Its tables may look the same, but must not get
   * what this version derives.
   */
  #refuseNewer(): void {
    const version = this.#pragma("user_version");
    if (version > INDEX_VERSION) throw writtenByNewer(this.#path, version, INDEX_VERSION);
  }

  /** Prepared once, since every read uses it. */
  #pragma(name: "user_version" | "schema_version"): number {
    const found = this.#sql.get<{ readonly [name: string]: number }>(`PRAGMA ${name}`);
    return found?.[name] ?? 0;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toIndexFault(error, this.#path);
    }
  }
}

/** A copy of an index of this version; undefined if it cannot be read. */
function copyInMemory(path: string): Database | undefined {
  let db: Database | undefined;
  const memory = connectToMemory();
  try {
    db = openFile({ path, mode: "read", synchronous: "NORMAL" });
    if (versionOf(db) !== INDEX_VERSION || statSync(path).size > MEMORY_BYTES_MAX) return undefined;
    const still = new UnchangedFile(path);
    // It also keeps other files from being written, which this one is not.
    db.pragma("query_only = OFF");
    db.prepare("VACUUM INTO ?").run(memory.name);
    if (isImmutable(db)) still.assertUnchanged();
    return memory;
  } catch {
    memory.close();
    return undefined;
  } finally {
    db?.close();
  }
}

function recreate(
  db: Database,
  sql: Statements,
  { path, always }: { readonly path: string; readonly always: boolean },
): void {
  sql.transactions.write(() => {
    // Another process may have been faster.
    const version = versionOf(db);
    if (version > INDEX_VERSION) throw writtenByNewer(path, version, INDEX_VERSION);
    if (!always && version === INDEX_VERSION) return;
    const heads = rememberedHeads(db);
    dropAllTables(db);
    createIndexTables(db);
    rememberHeads(db, heads);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${INDEX_VERSION}`);
  });
}
