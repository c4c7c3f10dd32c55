// The SQLite driver: Node's own (node:sqlite) where it can return rows as arrays, which is from 22.16 on, and before that
// @photostructure/sqlite, which has the same interface and brings compiled binaries. Nothing else imports either.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { DatabaseSyncInstance, DatabaseSyncOptions, StatementSyncInstance } from "@photostructure/sqlite";

interface Driver {
  /** Whether it is part of Node. */
  readonly isNodes: boolean;
  readonly DatabaseSync: new (path: string, options: DatabaseSyncOptions) => DatabaseSyncInstance;
}

const TIMEOUT_MS = 5_000;

export type SqlValue = null | number | bigint | string | Uint8Array;

export interface DatabaseOptions {
  /** Opens the file for reading only. */
  readonly read_only?: boolean;
  /** Fails if there is no file, instead of creating one. */
  readonly must_exist?: boolean;
  /** How long a locked file is waited for. */
  readonly timeout_ms?: number;
  /** Allows statements that can damage a file, such as writing to its schema. */
  readonly is_unsafe?: boolean;
}

/** An error of SQLite. Its code is the name of the result code, such as `SQLITE_BUSY`. */
export class SqliteError extends Error {
  override readonly name = "SqliteError";
  readonly code: string;

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export class Database {
  /** As given: a path, a `file:` URI, or `:memory:`. */
  readonly name: string;
  readonly isReadOnly: boolean;
  readonly #native: DatabaseSyncInstance;
  #isOpen = true;

  constructor(name: string, options: DatabaseOptions = {}) {
    const { read_only = false, must_exist = false, timeout_ms = TIMEOUT_MS, is_unsafe = false } = options;
    this.name = name;
    this.isReadOnly = read_only;
    // Only a URI can ask SQLite to open a file for writing without creating it.
    const location = must_exist && !read_only ? `${pathToFileURL(name).href}?mode=rw` : name;
    const given = { readOnly: read_only, timeout: timeout_ms, defensive: !is_unsafe };
    this.#native = checked(() => new (driver().DatabaseSync)(location, given));
    // A file's schema may call no function that has effects: the file may be another program's.
    this.exec("PRAGMA trusted_schema = OFF");
  }

  get inTransaction(): boolean {
    return this.#native.isTransaction;
  }

  prepare<R = unknown>(sql: string): Statement<R> {
    return new Statement(checked(() => this.#native.prepare(sql)));
  }

  exec(sql: string): void {
    checked(() => this.#native.exec(sql));
  }

  /** The first value of what the pragma returns. */
  pragma(text: string): SqlValue | undefined {
    return this.prepare<SqlValue>(`PRAGMA ${text}`).pluck().get();
  }

  /** Runs the work in a transaction that may write from the start, and undoes it if it throws. */
  transaction<T>(work: () => T): T {
    this.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // Some failures have undone the transaction already.
      if (this.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!driver().isNodes) this.#finish();
    this.#native.close();
  }

  /**
   * After `close`, @photostructure/sqlite keeps a file open until the connection's statements are collected as garbage: what
   * closing would do is done here. A failure means that another connection, or nobody, has to do it.
   */
  #finish(): void {
    for (const sql of ["ROLLBACK", "PRAGMA busy_timeout = 0", "PRAGMA wal_checkpoint(TRUNCATE)"]) {
      try {
        this.#native.exec(sql);
      } catch {}
    }
  }
}

/** A prepared statement. Rows are objects, arrays (`raw`) or their first column (`pluck`); blobs are Buffers. */
export class Statement<R = unknown> {
  readonly #native: StatementSyncInstance;
  #form: (row: unknown) => unknown = withBuffers;

  constructor(native: StatementSyncInstance) {
    this.#native = native;
  }

  raw(): this {
    this.#native.setReturnArrays(true);
    this.#form = withBuffers;
    return this;
  }

  pluck(): this {
    this.#native.setReturnArrays(true);
    this.#form = firstOf;
    return this;
  }

  /** Reads integers that a double cannot hold as the nearest one, instead of failing. */
  roundIntegers(): this {
    this.#native.setReadBigInts(true);
    this.#form = withNumbers;
    return this;
  }

  /** Returns the number of changed rows. */
  run(...values: Values): number {
    try {
      return this.#native.run(...bindable(values)).changes;
    } catch (error) {
      throw toSqliteError(error);
    }
  }

  get(...values: Values): R | undefined {
    try {
      const row = this.#native.get(...bindable(values));
      return row === undefined ? undefined : (this.#form(row) as R);
    } catch (error) {
      throw toSqliteError(error);
    }
  }

  all(...values: Values): R[] {
    try {
      const rows = this.#native.all(...bindable(values));
      for (let at = 0; at < rows.length; at += 1) rows[at] = this.#form(rows[at]);
      return rows as R[];
    } catch (error) {
      throw toSqliteError(error);
    }
  }

  /** Rows one by one. The statement must not be run again before the iteration has ended. */
  *iterate(...values: Values): Generator<R, void> {
    const rows = checked(() => this.#native.iterate(...bindable(values)));
    try {
      for (;;) {
        const { done, value } = checked(() => rows.next());
        if (done === true) return;
        yield this.#form(value) as R;
      }
    } finally {
      rows.return?.();
    }
  }
}

type Values = readonly (SqlValue | Readonly<Record<string, SqlValue>>)[];

const EMPTY = new Uint8Array(0);

/** Node 22 takes an empty Buffer for NULL. */
function bindable(values: Values): Values {
  return values.some(isEmptyBlob) ? values.map((value) => (isEmptyBlob(value) ? EMPTY : value)) : values;
}

function isEmptyBlob(value: Values[number]): boolean {
  return value instanceof Uint8Array && value.byteLength === 0;
}

type Row = { [column: string]: unknown };

/** Drivers return blobs as plain Uint8Arrays, without the methods for text, numbers and comparison. */
function withBuffers(row: unknown): unknown {
  const columns = row as Row;
  for (const name in columns) {
    const value = columns[name];
    if (typeof value === "object" && value !== null) columns[name] = toBuffer(value as Uint8Array);
  }
  return row;
}

function firstOf(row: unknown): unknown {
  const [value] = row as readonly unknown[];
  return typeof value === "object" && value !== null ? toBuffer(value as Uint8Array) : value;
}

function withNumbers(row: unknown): unknown {
  const columns = withBuffers(row) as Row;
  for (const name in columns) if (typeof columns[name] === "bigint") columns[name] = Number(columns[name]);
  return columns;
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function checked<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toSqliteError(error);
  }
}

/** Result codes by number; an extended code has its primary one in the lowest byte. */
const codes: { readonly [code: number]: string } = {
  1: "SQLITE_ERROR",
  2: "SQLITE_INTERNAL",
  3: "SQLITE_PERM",
  4: "SQLITE_ABORT",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  9: "SQLITE_INTERRUPT",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  12: "SQLITE_NOTFOUND",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  15: "SQLITE_PROTOCOL",
  17: "SQLITE_SCHEMA",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
  21: "SQLITE_MISUSE",
  22: "SQLITE_NOLFS",
  23: "SQLITE_AUTH",
  25: "SQLITE_RANGE",
  26: "SQLITE_NOTADB",
  /** Shared memory could not grow. */
  4874: "SQLITE_IOERR_SHMSIZE",
};

/** @photostructure/sqlite gives no number for errors while rows are read, only SQLite's message. */
const codesByMessage: readonly (readonly [message: RegExp, code: number])[] = [
  [/^database (table |schema )?is locked/, 5],
  [/^attempt to write a readonly database/, 8],
  [/^disk I\/O error/, 10],
  [/malformed/, 11],
  [/^database or disk is full/, 13],
  [/^unable to open database file/, 14],
  [/constraint failed/, 19],
  [/^file is not a database/, 26],
];

/** Anything that SQLite did not report stays as it is: it is a mistake in the call. */
function toSqliteError(error: unknown): unknown {
  const { code, errcode, message } = error as { code?: unknown; errcode?: number; message: string };
  if (code !== "ERR_SQLITE_ERROR") return error;
  const said = message.replace(/^Failed to [a-z ]+: /, "");
  const number = errcode ?? codesByMessage.find(([pattern]) => pattern.test(said))?.[1] ?? 1;
  return new SqliteError(codes[number] ?? codes[number & 0xff] ?? "SQLITE_ERROR", said, error);
}

let loaded: Driver | undefined;

/** Loaded for the first database: other engines and servers elsewhere need none. */
function driver(): Driver {
  loaded ??= loadDriver();
  return loaded;
}

function loadDriver(): Driver {
  const own = withoutWarning(() => process.getBuiltinModule("node:sqlite") as unknown);
  if (own !== undefined && "setReturnArrays" in (own as NodeSqlite).StatementSync.prototype) {
    return { DatabaseSync: (own as Driver).DatabaseSync, isNodes: true };
  }
  try {
    const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite") as Driver;
    return { DatabaseSync, isNodes: false };
  } catch (cause) {
    const message = `Node ${process.versions.node} has no SQLite that Hansard can use, and @photostructure/sqlite is not installed.`;
    throw new Error(`${message} Use Node 22.16 or newer, or run \`npm install @photostructure/sqlite@1\`.`, { cause });
  }
}

interface NodeSqlite {
  readonly StatementSync: { readonly prototype: object };
}

/** Node warns that its SQLite is experimental. Other warnings pass. */
function withoutWarning<T>(load: () => T): T {
  const emit = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...details: readonly unknown[]) => {
    const isOfSqlite = details[0] === "ExperimentalWarning" && String(warning).startsWith("SQLite");
    if (!isOfSqlite) Reflect.apply(emit, process, [warning, ...details]);
  }) as typeof process.emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emit;
  }
}
