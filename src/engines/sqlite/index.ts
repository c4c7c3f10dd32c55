// The index on SQLite, in a file of its own, so that filling it never holds up the log.
import type Database from "better-sqlite3";
import type {
  EntryCounts,
  EntryIndex,
  EntryRow,
  IndexBatch,
  IndexDraft,
  IndexSource,
  RowFilter,
  RowKey,
  SessionFilter,
  SessionRange,
  SessionRow,
  TextBatch,
} from "../../ports/entry-index.js";
import { openFile, toFault } from "./file.js";
import { DraftTables } from "./index-draft.js";
import { countBy, eraseRows } from "./index-erasing.js";
import { toIndexFault } from "./index-faults.js";
import { createIndexTables, dropAllTables, INDEX_VERSION } from "./index-schema.js";
import { applyToSessions, getSession, listSessions, sessionPositions } from "./index-sessions.js";
import { addUses } from "./index-uses.js";
import { APPLICATION_ID, foreignDatabase, isForeign, versionOf, writtenByNewer } from "./migrations.js";
import { PURGE_DUE, purgeIndex } from "./purge.js";
import { listStatement } from "./row-filter.js";
import { Statements } from "./statements.js";
import { asWritten, type Naming } from "./table-prefix.js";
import type { CandidateQuery } from "./text/candidates.js";
import { TextIndex, type TextIndexOptions } from "./text/index-text.js";

export class SqliteIndex implements EntryIndex {
  readonly engine = "sqlite";
  readonly #db: Database.Database;
  readonly #path: string;
  readonly #sql: Statements;
  readonly #texts: TextIndex;

  private constructor(db: Database.Database, path: string, naming: Naming, texts?: Partial<TextIndexOptions>) {
    this.#db = db;
    this.#path = path;
    this.#sql = new Statements(db, naming);
    this.#texts = new TextIndex(db, this.#sql, texts);
  }

  /** An older index is made anew; a damaged one is a fault, and whoever holds the file decides what becomes of it. */
  static open(options: { readonly path: string; readonly texts?: Partial<TextIndexOptions> }): SqliteIndex {
    const { path } = options;
    const db = openFile({ path, mode: "create", synchronous: "NORMAL" });
    try {
      if (isForeign(db)) throw foreignDatabase(path);
      if (versionOf(db) > INDEX_VERSION) throw writtenByNewer(path, versionOf(db), INDEX_VERSION);
      if (versionOf(db) < INDEX_VERSION) recreate(db, false);
      return new SqliteIndex(db, path, asWritten, options.texts);
    } catch (error) {
      db.close();
      throw toFault(error, path);
    }
  }

  /**
   * Its format, which another version of the program that shares the file may change; and a number that changes whenever
   * tables are made anew or exchanged, by whichever process.
   */
  versions(): { readonly format: number; readonly tables: number } {
    const sql =
      "SELECT user_version AS format, schema_version AS tables FROM pragma_user_version, pragma_schema_version";
    return this.#guard(() => this.#sql.get(sql) as { readonly format: number; readonly tables: number });
  }

  async checkpoint(): Promise<number> {
    return this.#guard(() => this.#checkpoint());
  }

  async source(): Promise<IndexSource | undefined> {
    const sql = "SELECT log_id, position, hash FROM checkpoints WHERE name = 'rows' AND log_id <> ''";
    return this.#guard(() => this.#sql.get<IndexSource>(sql));
  }

  async apply(batch: IndexBatch): Promise<void> {
    this.#guard(() =>
      transact(this.#db, () => {
        // Another process may have applied some of them in the meantime, or begun the index again.
        const checkpoint = this.#checkpoint();
        if (batch.through <= checkpoint || (batch.after ?? 0) > checkpoint) return;
        const fresh = batch.rows.filter((row) => row.position > checkpoint);
        for (const row of fresh) this.#insert(row);
        addUses(this.#sql, fresh);
        this.#addCounts(
          "kind_counts",
          "kind",
          countBy(fresh, (row) => row.kind),
        );
        this.#addCounts(
          "project_counts",
          "project",
          countBy(fresh, (row) => row.project),
        );
        applyToSessions(this.#sql, fresh);
        if (batch.erased !== undefined && batch.erased.length > 0) {
          eraseRows(this.#sql, batch.erased);
          this.#texts.erase(new Set(batch.erased));
          this.#sql.run("INSERT OR IGNORE INTO checkpoints (name, position) VALUES (?, 0)", PURGE_DUE);
        }
        this.#sql.run(
          "UPDATE checkpoints SET position = ?, log_id = ?, hash = ? WHERE name = 'rows'",
          batch.through,
          batch.source?.log_id ?? "",
          batch.source?.hash ?? "",
        );
      }),
    );
  }

  async list(query: {
    readonly filter: RowFilter;
    readonly after?: RowKey;
    readonly limit: number;
  }): Promise<readonly RowKey[]> {
    const { sql, values } = listStatement(query);
    return this.#guard(() => this.#sql.all<RowKey>(sql, ...values));
  }

  async textCheckpoint(): Promise<number> {
    return this.#guard(() => this.#texts.checkpoint());
  }

  async applyTexts(batch: TextBatch): Promise<number> {
    return this.#guard(() => this.#texts.apply(batch));
  }

  async tidyTexts(): Promise<boolean> {
    return this.#guard(() => this.#texts.tidy());
  }

  async candidates(query: CandidateQuery): Promise<readonly RowKey[]> {
    return this.#guard(() => this.#texts.candidates(query));
  }

  async count(): Promise<EntryCounts> {
    return this.#guard(() => {
      const kinds = this.#sql.all<{ kind: string; entries: number }>("SELECT kind, entries FROM kind_counts");
      const projects = this.#sql.all<{ project: string; entries: number }>(
        "SELECT project, entries FROM project_counts ORDER BY entries DESC, project",
      );
      const [sessions] = this.#sql.all<{ count: number }>("SELECT count(*) AS count FROM sessions");
      const [first] = this.#sql.all<{ ms: number | null }>("SELECT min(created_ms) AS ms FROM rows");
      const [last] = this.#sql.all<{ ms: number | null }>("SELECT max(created_ms) AS ms FROM rows");
      return {
        entries: kinds.reduce((sum, row) => sum + row.entries, 0),
        sessions: sessions?.count ?? 0,
        by_kind: Object.fromEntries(kinds.map((row) => [row.kind, row.entries])),
        projects,
        ...(first?.ms == null || last?.ms == null ? {} : { first_ms: first.ms, last_ms: last.ms }),
      };
    });
  }

  async listSessions(query: {
    readonly filter: SessionFilter;
    readonly as_of: number;
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly { readonly position: number; readonly session: SessionRow }[]> {
    return this.#guard(() => listSessions(this.#sql, query));
  }

  async getSession(session_id: string): Promise<SessionRow | undefined> {
    return this.#guard(() => getSession(this.#sql, session_id));
  }

  async sessionPositions(range: SessionRange): Promise<readonly number[]> {
    return this.#guard(() => sessionPositions(this.#sql, range));
  }

  async reset(): Promise<void> {
    this.#guard(() => {
      this.#sql.forget();
      this.#texts.forget();
      recreate(this.#db, true);
    });
  }

  async draft(): Promise<IndexDraft> {
    const tables = this.#guard(() => transact(this.#db, () => DraftTables.create(this.#db)));
    const index = new SqliteIndex(this.#db, this.#path, tables.naming);
    return {
      index,
      isThere: async () => this.#guard(() => tables.isThere()),
      adopt: async () =>
        this.#guard(() =>
          transact(this.#db, () => {
            if (!tables.isThere()) return tables.wasPutInPlace() ? "adopted" : "gone";
            if (index.#checkpoint() < this.#checkpoint()) return "behind";
            tables.putInPlace();
            return "adopted";
          }),
        ),
      remove: async () => this.#guard(() => transact(this.#db, () => tables.remove())),
    };
  }

  async isPurgeDue(): Promise<boolean> {
    return this.#guard(() => this.#sql.get("SELECT 1 FROM checkpoints WHERE name = ?", PURGE_DUE) !== undefined);
  }

  async purge(): Promise<string | undefined> {
    return this.#guard(() => purgeIndex(this.#path));
  }

  async close(): Promise<void> {
    this.#texts.close();
    this.#db.close();
  }

  #checkpoint(): number {
    const row = this.#sql.get<{ readonly position: number }>("SELECT position FROM checkpoints WHERE name = 'rows'");
    return (row as { readonly position: number }).position;
  }

  #insert(row: EntryRow): void {
    this.#sql.run(
      `INSERT INTO rows (position, created_ms, kind, session_id, project, client, role, through, info)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.position,
      row.created_ms,
      row.kind,
      row.session_id,
      row.project,
      row.client,
      row.role ?? "",
      row.through ?? null,
      row.info === undefined ? null : JSON.stringify(row.info),
    );
  }

  #addCounts(table: string, key: string, counts: ReadonlyMap<string, number>): void {
    const sql = `INSERT INTO ${table} (${key}, entries) VALUES (?, ?)
      ON CONFLICT (${key}) DO UPDATE SET entries = entries + excluded.entries`;
    for (const [value, entries] of counts) this.#sql.run(sql, value, entries);
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toIndexFault(error, this.#path);
    }
  }
}

function recreate(db: Database.Database, always: boolean): void {
  transact(db, () => {
    if (!always && versionOf(db) === INDEX_VERSION) return;
    dropAllTables(db);
    createIndexTables(db);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${INDEX_VERSION}`);
  });
}

function transact<T>(db: Database.Database, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
