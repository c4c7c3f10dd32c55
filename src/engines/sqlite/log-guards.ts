// What protects the log's rows: the triggers of its tables, and the tables themselves in the form in which they were made.
import Database from "better-sqlite3";
import type { Guards } from "../../log/port.js";
import { logMigrations } from "./log-schema.js";
import { versionOf } from "./migrations.js";

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** How the file's schema differs from what its version of the format makes; what is beside the log's tables is not asked for. */
export function inspectGuards(db: Database.Database): Guards {
  const ours = expectedSchema(versionOf(db));
  const found = readSchema(db);
  const sqlByName = new Map(found.map(({ name, sql }) => [name, sql]));
  const textByName = new Map(ours.map(({ name, sql }) => [name, sql]));
  const tables = new Set(ours.flatMap(({ type, name }) => (type === "table" ? [name] : [])));
  return {
    missing: ours.flatMap(({ type, name }) => (type === "trigger" && !sqlByName.has(name) ? [name] : [])),
    foreign: found.flatMap(({ type, name, sql }) => {
      const isGuarding = type === "trigger" || type === "index" || tables.has(name);
      return isGuarding && textByName.get(name) !== sql ? [name] : [];
    }),
  };
}

/** Makes the triggers that are missing again, and answers with their names. */
export function putBackGuards(db: Database.Database): readonly string[] {
  if (inspectGuards(db).missing.length === 0) return [];
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have put them back while this one waited for the lock.
    const { missing } = inspectGuards(db);
    for (const { name, sql } of expectedSchema(versionOf(db))) if (missing.includes(name)) db.exec(sql);
    db.exec("COMMIT");
    return missing;
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** The migrations themselves say what there has to be: a list beside them would be another one. */
function expectedSchema(version: number): readonly SchemaRow[] {
  const model = new Database(":memory:");
  try {
    for (const step of logMigrations.slice(0, version)) step(model);
    return readSchema(model);
  } finally {
    model.close();
  }
}

/** Indexes that a table brings along have no text, and SQLite's own statistics are nobody's. */
function readSchema(db: Database.Database): readonly SchemaRow[] {
  const rows = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
  return (rows as readonly SchemaRow[])
    .filter(({ name }) => !name.startsWith("sqlite_"))
    .map((row) => ({ ...row, sql: row.sql.replaceAll(/\s+/g, " ") }));
}
