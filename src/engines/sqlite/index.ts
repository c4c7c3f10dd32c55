// The index on SQLite, in a file of its own, so that filling it never holds up the log.
import { rmSync } from "node:fs";
import type Database from "better-sqlite3";
import { Fault } from "../../model/fault.js";
import type {
  EntryCounts,
  EntryIndex,
  EntryRow,
  IndexBatch,
  IndexSource,
  RowFilter,
  RowKey,
  SessionFilter,
  SessionRange,
  SessionRow,
} from "../../ports/entry-index.js";
import { openFile, toFault } from "./file.js";
import { createIndexTables, dropAllTables, INDEX_VERSION } from "./index-schema.js";
import { applyToSessions, getSession, listSessions, sessionPositions } from "./index-sessions.js";
import { APPLICATION_ID, foreignDatabase, isForeign, versionOf } from "./migrations.js";
import { Statements } from "./statements.js";

export class SqliteIndex implements EntryIndex {
  readonly engine = "sqlite";
  readonly #db: Database.Database;
  readonly #path: string;
  readonly #sql: Statements;

  private constructor(db: Database.Database, path: string) {
    this.#db = db;
    this.#path = path;
    this.#sql = new Statements(db);
  }

  /** An index that is damaged or no index at all is put aside and made anew: everything in it is derived. */
  static open(options: { readonly path: string }): SqliteIndex {
    try {
      return SqliteIndex.#open(options);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "store_corrupt") throw error;
      for (const ending of ["", "-wal", "-shm"]) rmSync(options.path + ending, { force: true });
      return SqliteIndex.#open(options);
    }
  }

  static #open(options: { readonly path: string }): SqliteIndex {
    const db = openFile({ path: options.path, mode: "create", synchronous: "NORMAL" });
    try {
      if (isForeign(db)) throw foreignDatabase(options.path);
      if (versionOf(db) !== INDEX_VERSION) recreate(db, false);
      return new SqliteIndex(db, options.path);
    } catch (error) {
      db.close();
      throw toFault(error, options.path);
    }
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
        // Another process may have applied some of them in the meantime.
        const checkpoint = this.#checkpoint();
        if (batch.through <= checkpoint) return;
        const fresh = batch.rows.filter((row) => row.position > checkpoint);
        for (const row of fresh) this.#insert(row);
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
      recreate(this.#db, true);
    });
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #checkpoint(): number {
    const row = this.#sql.get<{ readonly position: number }>("SELECT position FROM checkpoints WHERE name = 'rows'");
    return (row as { readonly position: number }).position;
  }

  #insert(row: EntryRow): void {
    this.#sql.run(
      "INSERT INTO rows (position, created_ms, kind, session_id, project, client, role) VALUES (?, ?, ?, ?, ?, ?, ?)",
      row.position,
      row.created_ms,
      row.kind,
      row.session_id,
      row.project,
      row.client,
      row.role ?? "",
    );
    const user = row.completes ?? row.position;
    const insertUse = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?)";
    for (const memory of row.memories) this.#sql.run(insertUse, "memory", memory, user);
    for (const chunk of row.chunks) this.#sql.run(insertUse, "chunk", chunk, user);
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
      const fault = toFault(error, this.#path);
      if (fault.code !== "store_corrupt") throw fault;
      const hint = "Nothing is lost, the index is derived: `hansard doctor --rebuild-index` makes it anew.";
      throw new Fault(fault.code, fault.message, { hint, cause: error });
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

function transact(db: Database.Database, work: () => void): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    work();
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function countBy(rows: readonly EntryRow[], keyOf: (row: EntryRow) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return counts;
}

/** Conditions with their values. Text is only ever bound, never pasted into the statement. */
function listStatement(query: { readonly filter: RowFilter; readonly after?: RowKey; readonly limit: number }): {
  readonly sql: string;
  readonly values: readonly unknown[];
} {
  const { filter, after, limit } = query;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const where = (condition: string, ...bound: readonly unknown[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  for (const name of ["session_id", "project", "client"] as const) {
    const label = filter[name];
    if (label === undefined) continue;
    // Saying that the label is not empty lets SQLite use the index that holds only such rows.
    if (label === "") where(`${name} = ''`);
    else where(`${name} = ? AND ${name} <> ''`, label);
  }
  const [kind] = filter.kinds ?? [];
  if (filter.kinds?.length === 1) where("kind = ?", kind);
  else if (filter.kinds !== undefined) where(`kind IN (${filter.kinds.map(() => "?").join(", ")})`, ...filter.kinds);
  if (filter.role !== undefined) where("role = ?", filter.role);
  if (filter.since_ms !== undefined) where("created_ms >= ?", filter.since_ms);
  if (filter.until_ms !== undefined) where("created_ms <= ?", filter.until_ms);
  for (const [what, reference] of [
    ["memory", filter.memory],
    ["chunk", filter.chunk],
  ] as const) {
    if (reference === undefined) continue;
    where("position IN (SELECT position FROM uses WHERE what = ? AND reference = ?)", what, reference);
  }
  if (after !== undefined) where("(created_ms, position) < (?, ?)", after.created_ms, after.position);
  const sql = `SELECT created_ms, position FROM rows
    ${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`}
    ORDER BY created_ms DESC, position DESC LIMIT ?`;
  return { sql, values: [...values, limit] };
}
