// The process that reads another program's database. Only columns that are stored in ordinary tables are read: views, generated
// columns and virtual tables are programs in the file's hands. The queries are made here.
import { constants, copyFileSync, existsSync, statfsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { TextDecoder } from "node:util";
import { Database } from "../engines/sqlite/driver.js";
import type { ForeignRow } from "./foreign-databases.js";
import type { TableColumns, TableQuery, TableRow } from "./importer.js";

/** How long an owner that writes is waited for. */
const BUSY_MS_MAX = 5_000;
const CACHE_KIB = 16 * 1024;
/** Longer values are left out: no entry could hold them. */
const VALUE_BYTES_MAX = 64 * 1024 * 1024;
/** How much goes into one answer. */
const BATCH_ROWS = 256;
const BATCH_CHARS = 256 * 1024;

export type DatabaseRequest =
  | { readonly open: string /** A folder for a copy to read in its place. */; readonly copy_in: string | undefined }
  | { readonly query: TableQuery }
  | { /** More rows of a query. */ readonly cursor: number };

export interface DatabaseAnswer {
  readonly call: number;
  /** Why there is no answer. */
  readonly reason?: string;
  readonly tables?: TableColumns;
  readonly rows?: readonly ForeignRow[];
  /** Where the query has more rows. */
  readonly cursor?: number;
}

interface Table {
  /** The stored columns. */
  readonly columns: readonly string[];
  /** Whether its rows can be put into the order in which they were inserted. */
  readonly has_rowid: boolean;
}

class ForeignDatabase {
  readonly #database: Database;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #decoder: TextDecoder;
  readonly #cursors = new Map<number, Iterator<ForeignRow>>();
  #opened = 0;

  constructor(file: string, copy_in: string | undefined) {
    const path = copy_in === undefined ? file : copyWithLog(file, copy_in);
    this.#database = new Database(path, {
      read_only: copy_in === undefined,
      must_exist: true,
      timeout_ms: BUSY_MS_MAX,
    });
    const pragmas = ["cell_size_check = ON", "mmap_size = 0", "query_only = ON"];
    for (const pragma of [...pragmas, `cache_size = -${CACHE_KIB}`]) this.#database.pragma(pragma);
    // Everything is read in one transaction: what its owner writes meanwhile does not matter.
    this.#database.exec("BEGIN");
    this.#tables = tablesOf(this.#database);
    this.#decoder = new TextDecoder(String(this.#database.pragma("encoding")), { ignoreBOM: true });
  }

  columns(): TableColumns {
    return Object.fromEntries([...this.#tables].map(([name, { columns }]) => [name, columns]));
  }

  query(query: TableQuery): Omit<DatabaseAnswer, "call"> {
    const table = this.#tables.get(query.table);
    const lacksFilter = Object.keys(query.where ?? {}).some((name) => table?.columns.includes(name) !== true);
    if (table === undefined || lacksFilter) return { rows: [] };
    this.#opened += 1;
    this.#cursors.set(this.#opened, this.#rows(query, table));
    return this.more(this.#opened);
  }

  more(cursor: number): Omit<DatabaseAnswer, "call"> {
    const found = this.#cursors.get(cursor);
    const rows: ForeignRow[] = [];
    for (let chars = 0; rows.length < BATCH_ROWS && chars < BATCH_CHARS; ) {
      const next = found?.next();
      if (next === undefined || next.done === true) {
        this.#cursors.delete(cursor);
        return { rows };
      }
      rows.push(next.value);
      for (const value of Object.values(next.value.row)) if (isLong(value)) chars += value.length;
    }
    return { rows, cursor };
  }

  *#rows(
    { table: name, columns, where = {}, order = [], distinct = false }: TableQuery,
    table: Table,
  ): Generator<ForeignRow> {
    const stored = columns.filter((column) => table.columns.includes(column));
    const filters = Object.keys(where).map((column) => `${quoted(column)} IS ?`);
    const orders = order.filter((column) => table.columns.includes(column)).map(quoted);
    if (table.has_rowid && !distinct) orders.push("rowid");
    const sql = [
      `SELECT ${distinct ? "DISTINCT " : ""}${stored.flatMap(guarded).join(", ") || "1"} FROM main.${quoted(name)}`,
      filters.length === 0 ? "" : `WHERE ${filters.join(" AND ")}`,
      orders.length === 0 ? "" : `ORDER BY ${orders.join(", ")}`,
    ].join(" ");
    type Value = TableRow[string];
    const rows = this.#database.prepare<Value[]>(sql).raw().roundIntegers();
    for (const values of rows.iterate(...Object.values(where))) {
      const row: { [column: string]: Value } = Object.fromEntries(columns.map((column) => [column, null]));
      const leftOut: string[] = [];
      for (const [at, column] of stored.entries()) {
        const [value = null, how] = [values[at * 2], values[at * 2 + 1]];
        row[column] = how === TEXT && value instanceof Uint8Array ? this.#decoder.decode(value) : value;
        if (typeof how === "number") leftOut.push(`${name}.${column} (${how} bytes)`);
      }
      yield leftOut.length === 0 ? { row } : { row, left_out: leftOut.join(", ") };
    }
  }
}

const TEXT = "text";

/** A value, or null and its length where that is too much. Drivers end text at a NUL: such text comes as bytes. */
function guarded(column: string): readonly string[] {
  const name = quoted(column);
  const isTooLong = `octet_length(${name}) > ${VALUE_BYTES_MAX}`;
  const hasNul = `typeof(${name}) = 'text' AND instr(${name}, char(0)) > 0`;
  return [
    `CASE WHEN ${isTooLong} THEN NULL WHEN ${hasNul} THEN CAST(${name} AS BLOB) ELSE ${name} END`,
    `CASE WHEN ${isTooLong} THEN octet_length(${name}) WHEN ${hasNul} THEN '${TEXT}' END`,
  ];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function isLong(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

/** What SQLite itself takes for an ordinary table, whatever the schema's rows call it. */
function tablesOf(database: Database): ReadonlyMap<string, Table> {
  const named = database.prepare<{ readonly name: string; readonly wr: number }>(
    "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
  );
  const columns = database.prepare<{ readonly name: string; readonly hidden: number }>(
    "SELECT name, hidden FROM pragma_table_xinfo(?, 'main')",
  );
  return new Map(
    named.all().map(({ name, wr }) => {
      const all = columns.all(name);
      // A column of that name hides the number of the row.
      const has_rowid = wr === 0 && !all.some((column) => column.name.toLowerCase() === "rowid");
      return [name, { columns: all.filter(({ hidden }) => hidden === 0).map((column) => column.name), has_rowid }];
    }),
  );
}

function copyWithLog(file: string, folder: string): string {
  const files = [file, `${file}-wal`].filter((path) => existsSync(path));
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  const { bavail, bsize } = statfsSync(folder);
  // The rest of the machine needs room as well.
  if (bytes > (bavail * bsize) / 2) throw new Error(`a copy of its ${bytes} bytes does not fit into ${folder}`);
  const copy = join(folder, basename(file));
  for (const path of files) copyFileSync(path, join(folder, basename(path)), constants.COPYFILE_FICLONE);
  return copy;
}

/** Why a database cannot be read, and what to do about it. */
function databaseReason(error: unknown): string {
  const { code = "", message } = error as { readonly code?: string; readonly message: string };
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return "the database is locked by the program it belongs to; close that program, or import it again later";
  }
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    return `the database is damaged: ${message}; a copy made with sqlite3 (.backup or .recover) may be readable`;
  }
  return `the database cannot be read: ${message}`;
}

let opened: ForeignDatabase | undefined;

function answer(request: DatabaseRequest): Omit<DatabaseAnswer, "call"> {
  try {
    if ("open" in request) {
      opened = new ForeignDatabase(request.open, request.copy_in);
      return { tables: opened.columns() };
    }
    return ("query" in request ? opened?.query(request.query) : opened?.more(request.cursor)) ?? { rows: [] };
  } catch (error) {
    return { reason: databaseReason(error) };
  }
}

process.on("message", (request: DatabaseRequest & { readonly call: number }) => {
  process.send?.({ ...answer(request), call: request.call });
});
process.on("disconnect", () => process.exit());
// A terminal interrupts all processes of a command; the one that asked decides.
process.on("SIGINT", () => undefined);
