// Inspects a SQLite file without changing it, even if it cannot be opened as a store; and copies one.
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import type { FileFacts } from "../port.js";
import { BUSY_TIMEOUT_MS, connect, openForInspection } from "./connections.js";
import type { Database } from "./driver.js";
import { codeOf, toFault } from "./faults.js";
import { INDEX_VERSION, rememberedHeads } from "./index-schema.js";
import { logMigrations } from "./log-schema.js";
import { APPLICATION_ID, versionOf } from "./migrations.js";

const SQLITE_HEADER = "SQLite format 3\0";
const HEADER_BYTES = 100;
const APPLICATION_ID_AT = 68;
const PROBE_TIMEOUT_MS = 500;
const FLAWS_MAX = 5;

export type FileRole = "log" | "index";

export function inspectFile(options: { readonly path: string; readonly role: FileRole }): FileFacts {
  const { path, role } = options;
  const version_known = role === "log" ? logMigrations.length : INDEX_VERSION;
  const absent = { path, reason: "", bytes: 0, wal_bytes: 0, mode: 0, is_writable: false, is_locked: false };
  const base = { ...absent, version: 0, version_known, position: 0, heads: [] };
  let found: ReturnType<typeof statSync>;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return { ...base, state: "unreadable", reason: reasonOf(error) };
  }
  if (found === undefined) return { ...base, state: "missing" };
  const here = {
    ...base,
    bytes: Number(found.size),
    wal_bytes: Number(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0),
    mode: Number(found.mode) & 0o777,
    is_writable: isWritable(path),
  };
  if (!found.isFile()) return { ...here, state: "unreadable", reason: "it is not a file" };
  try {
    if (found.size === 0) return { ...here, state: "empty" };
    if (readHeader(path) !== SQLITE_HEADER) return { ...here, state: "not_a_database" };
    return { ...here, ...readDatabase(path, role, version_known) };
  } catch (error) {
    return { ...here, state: isDamage(error) ? "damaged" : "unreadable", reason: reasonOf(error) };
  }
}

/** Whether a file is empty or carries our application id, judged by its header. */
export function isOwnedByUs(path: string): boolean {
  const start = readStart(path);
  if (start.length === 0) return true;
  return start.length === HEADER_BYTES && start.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID;
}

function readDatabase(
  path: string,
  role: FileRole,
  versionKnown: number,
): Partial<FileFacts> & Pick<FileFacts, "state"> {
  const db = openForInspection(path, PROBE_TIMEOUT_MS);
  try {
    const version = versionOf(db);
    // Only the log carries our id: any other index is dropped and rebuilt.
    const isForeign = role === "log" && db.pragma("application_id") !== APPLICATION_ID;
    if (isForeign) return { state: "foreign", version };
    const heads = role === "index" ? rememberedHeads(db) : [];
    if (version !== versionKnown) return { state: version > versionKnown ? "newer" : "older", version, heads };
    const flaws = db.prepare<string>(`PRAGMA quick_check(${FLAWS_MAX})`).pluck().all();
    const reason = flaws.join("; ");
    if (reason !== "ok") return { state: "damaged", version, reason };
    return { state: "current", version, heads, position: positionOf(db, role), is_locked: isLocked(path) };
  } finally {
    db.close();
  }
}

function positionOf(db: Database, role: FileRole): number {
  const sql =
    role === "log"
      ? "SELECT coalesce(max(position), 0) AS position FROM entries"
      : "SELECT position FROM checkpoints WHERE name = 'rows'";
  const row = db.prepare(sql).get() as { readonly position: number } | undefined;
  return row?.position ?? 0;
}

/** Takes the write lock and releases it at once. */
function isLocked(path: string): boolean {
  if (!isWritable(path)) return false;
  const db = connect(path, { must_exist: true, timeout_ms: PROBE_TIMEOUT_MS });
  try {
    db.exec("BEGIN IMMEDIATE");
    db.exec("ROLLBACK");
    return false;
  } catch (error) {
    return codeOf(error).startsWith("SQLITE_BUSY");
  } finally {
    db.close();
  }
}

function readHeader(path: string): string {
  return readStart(path).toString("latin1", 0, SQLITE_HEADER.length);
}

function readStart(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(HEADER_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  // Missing or wrong tables count as damage too: SQLite reports them as plain statement errors.
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" || code === "SQLITE_ERROR";
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Copies the database consistently while others write to it. The target must be missing or empty, and becomes one file
 * without WAL or free pages, in which erased text could linger. A page-wise copy would restart with every commit of
 * another process.
 */
export function copyFile(paths: { readonly source: string; readonly target: string }): void {
  const { source, target } = paths;
  let db: Database | undefined;
  try {
    db = openForInspection(source, BUSY_TIMEOUT_MS);
    db.prepare("VACUUM INTO ?").run(target);
  } catch (error) {
    // A full disk concerns the target, everything else the source.
    const code = codeOf(error);
    throw toFault(error, code === "SQLITE_FULL" || code.startsWith("SQLITE_IOERR") ? target : source);
  } finally {
    db?.close();
  }
}
