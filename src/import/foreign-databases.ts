// Databases of other programs, read without changing anything: SQLite files, read-only, with what their owner has
// written so far.
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type Database from "better-sqlite3";
import type { TableColumns, TableRow } from "./importer.js";

/** How long to wait for an owner that is writing. */
const BUSY_MS_MAX = 5_000;
const MAGIC = Buffer.from("SQLite format 3\0", "latin1");
/** The header's byte for the journal mode: 2 means WAL. */
const READ_VERSION_AT = 19;
const WAL = 2;

export interface Tables {
  readonly tables: TableColumns;
  rows(query: string, ...values: readonly (string | number)[]): Iterable<TableRow>;
  close(): void;
}

/** A database that cannot be read; the message is for users. */
export class UnreadableTables extends Error {}

export function isDatabase(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC.length && Buffer.compare(Buffer.from(bytes.subarray(0, MAGIC.length)), MAGIC) === 0;
}

/** One snapshot of the database, taken when it was opened; a failure is returned as a reason. */
export async function openTables(file: string, opening: Uint8Array): Promise<Tables | { readonly reason: string }> {
  const { default: Sqlite } = await import("better-sqlite3");
  let scratch: string | undefined;
  try {
    let path = file;
    // Reading a database with a WAL makes SQLite create files next to it, unless its owner's exist already.
    if (opening[READ_VERSION_AT] === WAL && !existsSync(`${file}-shm`)) {
      scratch = mkdtempSync(join(tmpdir(), "hansard-"));
      path = copyWithLog(file, scratch);
    }
    const database = new Sqlite(path, { readonly: scratch === undefined, fileMustExist: true, timeout: BUSY_MS_MAX });
    const close = (): void => {
      database.close();
      if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
    };
    try {
      database.pragma("query_only = ON");
      // Everything is read in one transaction, so concurrent writes do not matter.
      database.exec("BEGIN");
      const tables = columnsByTable(database);
      function* rows(query: string, ...values: readonly (string | number)[]): Generator<TableRow> {
        try {
          yield* database.prepare<(string | number)[], TableRow>(query).iterate(...values);
        } catch (error) {
          throw error instanceof Sqlite.SqliteError ? new UnreadableTables(databaseReason(error)) : error;
        }
      }
      return { tables, rows, close };
    } catch (error) {
      close();
      throw error;
    }
  } catch (error) {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
    return { reason: databaseReason(error) };
  }
}

function copyWithLog(file: string, folder: string): string {
  const copy = join(folder, basename(file));
  copyFileSync(file, copy, constants.COPYFILE_FICLONE);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
  return copy;
}

function columnsByTable(database: Database.Database): TableColumns {
  // Tables without their own pages are virtual; their module may be unknown here, such as an owner's vectors.
  const names = database
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    .pluck()
    .all();
  const columns = database.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck();
  return Object.fromEntries(names.map((name) => [name, columns.all(name)]));
}

/** Why a database cannot be read, and what to do about it. */
function databaseReason(error: unknown): string {
  const { code = "", message } = error as { readonly code?: string; readonly message: string };
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return "the database is locked by the program it belongs to; close that program, or import it again later";
  }
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    return `the database is damaged: ${message}; a copy of its owner's (.backup or .recover) may be readable`;
  }
  return `the database cannot be read: ${message}`;
}
