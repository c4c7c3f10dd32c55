// Opening a SQLite file of the store, and saying in our words what SQLite says in its own.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import type Database from "better-sqlite3";
import { Fault } from "../../model/fault.js";
import { makeFolder } from "../../model/files.js";
import { connect, connectUnwritable, isWritable, probed } from "./connect.js";

/** Larger pages were measured and cost a lone caller up to a fifth (see docs/decisions). */
const PAGE_BYTES = 4096;
export const BUSY_TIMEOUT_MS = 30_000;

/** With less than this left, an I/O error is taken for what it most likely is. */
const SPACE_BYTES_MIN = 1024 * 1024;

/** SQLite makes files longer by steps of at most this much, but for a WAL, which it fills to the last byte. */
const SIZE_STEP_BYTES = 64 * 1024;

export interface FileOptions {
  readonly path: string;
  /** Reading connections never write, so that a bug cannot either. */
  readonly mode: "create" | "write" | "read";
  /** FULL syncs every commit and is what the log promises; NORMAL is enough for what can be rebuilt. */
  readonly synchronous: "FULL" | "NORMAL";
  /** Whether a file that is there and cannot be written is opened all the same, to be read. */
  readonly or_read?: boolean;
}

export function openFile(options: FileOptions): Database.Database {
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
 * A file that this user may not write is not opened as if it were: SQLite would lay files beside it where it can, which are
 * in the way of whoever may.
 */
function openOrRead(options: FileOptions): Database.Database {
  const { path } = options;
  if (!isWritable(path)) return connectUnwritable(path, BUSY_TIMEOUT_MS);
  try {
    return probed(openToUse(options));
  } catch (error) {
    if (toFault(error, path).code !== "store_not_writable" || !statSync(path).isFile()) throw error;
    return connectUnwritable(path, BUSY_TIMEOUT_MS);
  }
}

function openToUse({ path, mode, synchronous }: FileOptions): Database.Database {
  const db = connect(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    db.pragma(`page_size = ${PAGE_BYTES}`);
    if (mode !== "read" && db.pragma("journal_mode", { simple: true }) !== "wal") db.pragma("journal_mode = WAL");
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

/** A new file survives a power loss only once its folder was synced too. */
function syncFolder(folder: string): void {
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Unlike `existsSync` it does not take what this user may not look into for missing. */
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

/** Why a place can be no folder of a store, where it is in the way itself, or something above it is. */
function flawOf(folder: string, code: "store_missing" | "store_not_writable"): Fault | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = isThere(at) ? statSync(at) : undefined;
    if (found === undefined && isLink(at)) {
      const hint = "Create the folder that it leads to, or name another one with --data or HANSARD_DATA.";
      return new Fault(code, `${at} is a link to ${readlinkSync(at)}, which does not exist`, { hint });
    }
    if (found?.isDirectory() === false) {
      const hint = "Give the folder that holds log.db, or one that is to hold it, with --data or HANSARD_DATA.";
      const message = at === folder ? `${folder} is a file, not a folder` : `${folder} lies in ${at}, which is a file`;
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

/** What SQLite or the file system said, as a fault with what to do; anything unknown keeps its message. */
export function toFault(error: unknown, path: string): Fault {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  const details = { cause: error };
  const message = error instanceof Error ? error.message : String(error);
  if (isAtSizeLimit(code, path)) {
    const hint = "Raise the limit (`ulimit -f`) and start again; nothing was half stored.";
    const limited = `${path} may not grow any more: this process has reached its limit on the size of files`;
    return new Fault("disk_full", limited, { ...details, hint });
  }
  if (isFullDisk(code, path)) {
    const hint = "Free some space; recording goes on by itself, and nothing was half stored.";
    return new Fault("disk_full", `the disk that holds ${path} is full`, { ...details, hint });
  }
  if (code.startsWith("SQLITE_READONLY") || code === "EACCES" || code === "EPERM" || code === "EROFS") {
    const hint = "Make the folder and its files writable for this user, or choose another with --data.";
    return new Fault("store_not_writable", `${path} cannot be written (${message})`, { ...details, hint });
  }
  if (
    code.startsWith("SQLITE_CANTOPEN") ||
    code === "ENOENT" ||
    code === "ENOTDIR" ||
    code === "EISDIR" ||
    code === "EEXIST"
  ) {
    const hint = "Check that --data names a folder that this user may read and write.";
    return new Fault("store_not_writable", `${path} cannot be opened (${message})`, { ...details, hint });
  }
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    const hint = "Run `hansard doctor` for what is damaged and what to do; do not write to the file.";
    return new Fault("store_corrupt", `${path} is damaged (${message})`, { ...details, hint });
  }
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    const hint = "Another program holds the store locked; try again, or find it with `fuser` on the file.";
    return new Fault("store_busy", `${path} is locked (${message})`, { ...details, hint });
  }
  const hint = "Run `hansard doctor`; if it finds nothing, this is a defect worth reporting.";
  return new Fault("store_failed", `${path}: ${message}`, { ...details, hint });
}

/** SQLite calls a full disk an I/O error where it could not make room for its shared memory or its WAL. */
function isFullDisk(code: string, path: string): boolean {
  if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT" || code === "SQLITE_IOERR_SHMSIZE") return true;
  if (!code.startsWith("SQLITE_IOERR")) return false;
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < SPACE_BYTES_MIN;
  } catch {
    return false;
  }
}

/** SQLite calls it an I/O error where the system lets a process write no file beyond some size. Only Linux tells the limit. */
function isAtSizeLimit(code: string, path: string): boolean {
  if (code === "EFBIG") return true;
  if (!code.startsWith("SQLITE_IOERR") && code !== "SQLITE_FULL") return false;
  try {
    const limit = /^Max file size\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    if (limit === undefined) return false;
    const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
    return Math.max(...sizes) + SIZE_STEP_BYTES > Number(limit);
  } catch {
    return false;
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}
