// The one place where a connection is made, and the ways to read a file beside which nothing can be written: SQLite wants a
// WAL and shared memory there, even of somebody who only reads.
import { accessSync, chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";

/**
 * The driver asks the environment once, when it is loaded, whether addresses are understood beside paths; only an address
 * can say that a file is immutable. A path is made absolute, so that none is ever taken for an address.
 */
export function connect(given: string | Buffer, options: Database.Options = {}): Database.Database {
  const before = process.env.SQLITE_USE_URI;
  process.env.SQLITE_USE_URI = "1";
  try {
    const isPath = typeof given === "string" && given !== ":memory:" && !given.startsWith("file:///");
    return new Database(isPath ? resolve(given) : given, options);
  } finally {
    if (before === undefined) delete process.env.SQLITE_USE_URI;
    else process.env.SQLITE_USE_URI = before;
  }
}

/**
 * Reads a file where nothing is written, neither into it nor beside it. Where a program uses it, WAL and shared memory are
 * there and can be read; where none does, the file is taken as it lies there. A WAL that a crash or a copy left without its
 * shared memory holds what is not in the file yet, and the two are put together elsewhere.
 */
export function connectUnwritable(path: string, timeout: number): Database.Database {
  const readonly = { readonly: true, fileMustExist: true, timeout };
  const walBytes = existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : undefined;
  if (walBytes !== undefined && existsSync(`${path}-shm`)) return probed(connect(path, readonly));
  if (!walBytes) return probed(connect(immutable(path), readonly));
  return connectToCopy(path, readonly);
}

/** For a look that changes nothing: not even a WAL that a crash has left is carried over. */
export function lookInto(path: string, timeout: number): Database.Database {
  try {
    return probed(connect(path, { readonly: true, fileMustExist: true, timeout }));
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || !/^SQLITE_(CANTOPEN|READONLY)/.test(error.code)) throw error;
    return connectUnwritable(path, timeout);
  }
}

/** Whether a connection takes its file for one that does not change, which nobody but us makes sure of. */
export function isImmutable(db: Database.Database): boolean {
  return db.name.startsWith("file:");
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** SQLite opens files when it first reads them. */
export function probed(db: Database.Database): Database.Database {
  try {
    db.pragma("schema_version");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function immutable(path: string): string {
  return `${pathToFileURL(resolve(path)).href}?immutable=1`;
}

/** The copy loses its name as soon as it is open, so that it goes with the connection, whatever ends the program. */
function connectToCopy(path: string, readonly: Database.Options): Database.Database {
  const folder = mkdtempSync(join(tmpdir(), "hansard-"));
  try {
    const copy = join(folder, "copy.db");
    for (const ending of ["", "-wal"]) {
      copyFileSync(path + ending, copy + ending, constants.COPYFILE_FICLONE);
      chmodSync(copy + ending, 0o600);
    }
    // Closing the last connection to a database carries its WAL over into it.
    probed(connect(copy)).close();
    return probed(connect(immutable(copy), readonly));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
