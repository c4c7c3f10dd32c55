// Opens SQLite files: to write, to read, to inspect without changes, and in folders without write access.
// SQLite wants a WAL and shared memory there even for a connection that only reads.
import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Fault } from "../../model/fault.js";
import { makeFolder } from "../../model/files.js";
import { Database, type DatabaseOptions, SqliteError } from "./driver.js";
import { codeOf, toFault } from "./faults.js";

/** Larger pages cost a lone caller up to a fifth (see docs/decisions). */
const PAGE_BYTES = 4096;
const CACHE_KIB = 16_000;
export const BUSY_TIMEOUT_MS = 30_000;

export interface FileOptions {
  readonly path: string;
  /** Reading connections run with `query_only`. */
  readonly mode: "create" | "write" | "read";
  /** FULL syncs every commit, which the log promises; NORMAL is enough for what can be rebuilt. */
  readonly synchronous: "FULL" | "NORMAL";
  /** Opens an existing file that cannot be written for reading only. */
  readonly or_read?: boolean;
}

export function openFile(options: FileOptions): Database {
  const { path, mode } = options;
  try {
    if (mode === "create") createPrivately(path);
    else if (!isThere(path)) throw missing(path);
    return mode === "read" || options.or_read === true ? openOrRead(options) : openToUse(options);
  } catch (error) {
    throw toFault(error, path);
  }
}

/**
 * Opens a read-only file without a WAL: otherwise SQLite would create files next to it that get in the way of users who
 * may write.
 */
function openOrRead(options: FileOptions): Database {
  const { path } = options;
  if (!isWritable(path)) return connectUnwritable(path, BUSY_TIMEOUT_MS);
  try {
    return probed(openToUse(options));
  } catch (error) {
    if (toFault(error, path).code !== "store_not_writable" || !statSync(path).isFile()) throw error;
    return connectUnwritable(path, BUSY_TIMEOUT_MS);
  }
}

function openToUse({ path, mode, synchronous }: FileOptions): Database {
  const db = connect(path, { must_exist: true, timeout_ms: BUSY_TIMEOUT_MS });
  try {
    db.pragma(`page_size = ${PAGE_BYTES}`);
    db.pragma(`cache_size = -${CACHE_KIB}`);
    if (mode !== "read" && db.pragma("journal_mode") !== "wal") db.pragma("journal_mode = WAL");
    db.pragma(`synchronous = ${synchronous}`);
    db.pragma("temp_store = MEMORY");
    if (mode === "read") db.pragma("query_only = ON");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Folder 0700 and file 0600; SQLite gives its -wal and -shm files the mode of the database. */
function createPrivately(path: string): void {
  const folder = dirname(path);
  const flaw = flawOf(folder, "store_not_writable");
  if (flaw !== undefined) throw flaw;
  if (!isThere(folder)) makeFolder(folder, 0o700);
  if (isThere(path)) return;
  closeSync(openSync(path, "a", 0o600));
  syncFolder(folder);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/** A new file survives a power loss only after its folder is synced too. */
function syncFolder(folder: string): void {
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Unlike `existsSync`, it throws for paths that this user may not inspect. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}

function missing(path: string): Fault {
  return (
    flawOf(dirname(path), "store_missing") ??
    new Fault("store_missing", `there is no store: ${path} does not exist`, {
      hint: "Check --data or HANSARD_DATA; recording a first entry creates a store.",
    })
  );
}

/** Why a path cannot hold a store: it, or a parent, is a file or a broken link. */
function flawOf(folder: string, code: "store_missing" | "store_not_writable"): Fault | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = isThere(at) ? statSync(at) : undefined;
    if (found === undefined && isLink(at)) {
      const hint = "Create its target folder, or choose another with --data or HANSARD_DATA.";
      return new Fault(code, `${at} is a link to ${readlinkSync(at)}, which does not exist`, { hint });
    }
    if (found?.isDirectory() === false) {
      const hint = "Give a folder with --data or HANSARD_DATA: the one that contains log.db, or an empty one.";
      const message =
        at === folder ? `${folder} is a file, not a folder` : `${folder} is inside ${at}, which is a file`;
      return new Fault(code, message, { hint });
    }
    if (found !== undefined || dirname(at) === at) return undefined;
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Paths are made absolute: one that begins with `file:` would be read as a URI. */
export function connect(path: string, options: DatabaseOptions = {}): Database {
  return new Database(resolve(path), options);
}

/** A database in memory that other connections of this process can reach by its name, which is a URI. */
export function connectToMemory(): Database {
  return new Database(`file:/${randomUUID()}?vfs=memdb`);
}

/**
 * Opens a file without writing to it or next to it. While another program uses it, its WAL and shared memory can be
 * read. Otherwise the file is opened as immutable. A WAL left by a crash or a copy, without shared memory, holds pages
 * that are not in the file: both are copied and merged elsewhere.
 */
function connectUnwritable(path: string, timeout_ms: number): Database {
  const options = { read_only: true, timeout_ms };
  const walBytes = existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : undefined;
  if (walBytes !== undefined && existsSync(`${path}-shm`)) return probed(connect(path, options));
  if (!walBytes) return probed(new Database(immutable(path), options));
  return connectToCopy(path, options);
}

/** Opens for inspection only: not even a WAL left by a crash is checkpointed. */
export function openForInspection(path: string, timeout_ms: number): Database {
  try {
    return probed(connect(path, { read_only: true, timeout_ms }));
  } catch (error) {
    if (!(error instanceof SqliteError) || !/^SQLITE_(CANTOPEN|READONLY)/.test(error.code)) throw error;
    return connectUnwritable(path, timeout_ms);
  }
}

/** Whether the connection was opened as immutable. Nothing but our own checks enforces that. */
export function isImmutable(db: Database): boolean {
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

/** SQLite opens files on the first read. */
function probed(db: Database): Database {
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

/** The copy is unlinked as soon as it is open, so it goes away with the connection. */
function connectToCopy(path: string, options: DatabaseOptions): Database {
  const folder = mkdtempSync(join(tmpdir(), "hansard-"));
  try {
    const copy = join(folder, "copy.db");
    for (const ending of ["", "-wal"]) {
      copyFileSync(path + ending, copy + ending, constants.COPYFILE_FICLONE);
      chmodSync(copy + ending, 0o600);
    }
    // Closing the last connection checkpoints the WAL into the database.
    probed(connect(copy)).close();
    return probed(new Database(immutable(copy), options));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies pages from the WAL into the database, except those that others still read in an older state. Never waits. */
export function checkpoint(db: Database): void {
  db.pragma("wal_checkpoint(PASSIVE)");
}
