// How far each watched file was read, stored next to the store. Losing it is harmless: files are then read from the start, and
// nothing is recorded twice.
import { chmodSync, rmSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { Database } from "../../engines/sqlite/driver.js";
import { Fault } from "../../model/fault.js";
import type { LogState } from "../importer.js";

/** Raised whenever the form of an importer's state, or of what is stored with it, changes. */
const VERSION = 5;
const BUSY_MS_MAX = 5_000;
/** A larger resume point is not stored; reading resumes from the last one that was. */
const PLACE_BYTES_MAX = 64 * 1024 * 1024;
/** A file that was not seen for this long is gone. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Where reading stopped, with fingerprints that tell whether the file is still the one that was read. */
export interface ResumePoint {
  readonly offset: number;
  readonly line: number;
  /** The path under which it was first read, which importers see. */
  readonly file: string;
  /** Hashes of its first bytes and of those before the offset, and of how many. */
  readonly head: Fingerprint;
  readonly tail: Fingerprint;
  /** The importer's state, serialised as a structured clone. */
  readonly known: Uint8Array;
}

export interface Fingerprint {
  readonly bytes: number;
  readonly hash: string;
}

export interface Bookmark {
  /** Device and inode: a renamed file stays the same. */
  readonly key: string;
  readonly path: string;
  /** Size and times, which change with the file. */
  readonly stamp: string;
  /** Empty if no format was recognised. */
  readonly importer: string;
  /** Whether nothing was left out because a program was still writing. */
  readonly is_settled: boolean;
  /** The sessions that were read from it. */
  readonly sessions: readonly string[];
  /** Absent for files that are read whole whenever they change. */
  readonly place?: ResumePoint | undefined;
}

/** A bookmark with the time when it was stored. */
export interface StoredBookmark extends Bookmark {
  readonly saved_ms: number;
}

/** A bookmark without its resume point. */
export type SeenState = Pick<Bookmark, "stamp" | "is_settled">;

interface Row {
  readonly key: string;
  readonly path: string;
  readonly stamp: string;
  readonly importer: string;
  readonly is_settled: number;
  readonly sessions: string;
  readonly saved_ms: number;
  readonly place: Buffer | null;
}

export class Bookmarks {
  readonly #database: Database;
  readonly #log: LogState;
  readonly #nowMs: () => number;
  #logId = "";
  #generation = 0;

  /** `path` is the database's; undefined keeps it in memory. */
  static async open(path: string | undefined, log: LogState, nowMs: () => number = Date.now): Promise<Bookmarks> {
    const bookmarks = new Bookmarks(await openDatabase(path), log, nowMs);
    await bookmarks.#begin();
    return bookmarks;
  }

  private constructor(database: Database, log: LogState, nowMs: () => number) {
    this.#database = database;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Changes when all bookmarks are deleted: what was read before that must not be stored. */
  get generation(): number {
    const row = this.#database
      .prepare<{ readonly generation: number }>("SELECT generation FROM logs WHERE log_id = ?")
      .get(this.#logId);
    return row?.generation ?? 0;
  }

  states(): Map<string, SeenState> {
    const rows = this.#database
      .prepare<Pick<Row, "key" | "stamp" | "is_settled">>(
        "SELECT key, stamp, is_settled FROM bookmarks WHERE log_id = ?",
      )
      .iterate(this.#logId);
    const states = new Map<string, SeenState>();
    for (const { key, stamp, is_settled } of rows) states.set(key, { stamp, is_settled: is_settled === 1 });
    return states;
  }

  /** The bookmark of this file, or of the one that was at its path before, which it may continue. */
  find(key: string, path: string): StoredBookmark | undefined {
    const row = this.#database
      .prepare<Row>(
        "SELECT key, path, stamp, importer, is_settled, sessions, saved_ms, place FROM bookmarks " +
          "WHERE log_id = ? AND (key = ? OR path = ?) ORDER BY key = ? DESC, saved_ms DESC LIMIT 1",
      )
      .get(this.#logId, key, path, key);
    if (row === undefined) return undefined;
    const place = row.place === null ? undefined : (deserialize(row.place) as ResumePoint);
    return { ...row, is_settled: row.is_settled === 1, sessions: JSON.parse(row.sessions), place };
  }

  /** Where each file was when it was read last. */
  paths(): readonly Pick<Bookmark, "key" | "path">[] {
    return this.#database
      .prepare<Pick<Row, "key" | "path">>("SELECT key, path FROM bookmarks WHERE log_id = ? AND path <> ''")
      .all(this.#logId);
  }

  /** Deletes the bookmark of a file that is gone. */
  drop(key: string): void {
    this.#database.prepare("DELETE FROM bookmarks WHERE log_id = ? AND key = ?").run(this.#logId, key);
  }

  /** Stores a bookmark, once everything that was read before it is in the log. */
  async save(bookmark: Bookmark, generation: number): Promise<void> {
    const { key, path, stamp, importer, is_settled, sessions } = bookmark;
    const place = bookmark.place === undefined ? null : serialize(bookmark.place);
    if (place !== null && place.length > PLACE_BYTES_MAX) return;
    const { position } = await this.#log.head();
    const hash = await this.#hashAt(position);
    try {
      this.#database.transaction(() => {
        if (this.generation !== generation) return;
        this.#database
          .prepare("UPDATE logs SET position = ?, hash = ? WHERE log_id = ? AND position <= ?")
          .run(position, hash, this.#logId, position);
        // The file that was there before has another name now, or is gone.
        this.#database
          .prepare("UPDATE bookmarks SET path = '' WHERE log_id = ? AND path = ? AND key <> ?")
          .run(this.#logId, path, key);
        this.#database
          .prepare("INSERT OR REPLACE INTO bookmarks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
          .run(
            this.#logId,
            key,
            path,
            stamp,
            importer,
            is_settled ? 1 : 0,
            JSON.stringify(sessions),
            this.#nowMs(),
            place,
          );
      });
    } catch (error) {
      throw toFault(error, this.#database.name);
    }
  }

  /** Deletes bookmarks of files that are gone: not among these, and not read for long. */
  prune(seen: ReadonlySet<string>): void {
    const old = this.#database
      .prepare<string>("SELECT key FROM bookmarks WHERE log_id = ? AND saved_ms < ?")
      .pluck()
      .all(this.#logId, this.#nowMs() - KEPT_MS);
    const drop = this.#database.prepare("DELETE FROM bookmarks WHERE log_id = ? AND key = ?");
    for (const key of old) if (!seen.has(key)) drop.run(this.#logId, key);
  }

  close(): void {
    this.#database.close();
  }

  /** Drops the bookmarks if the log was replaced by another copy, which may lack what was read. */
  async #begin(): Promise<void> {
    const { log_id } = await this.#log.head();
    this.#logId = log_id;
    const row = this.#database
      .prepare<{ readonly position: number; readonly hash: string }>("SELECT position, hash FROM logs WHERE log_id = ?")
      .get(log_id);
    if (row === undefined) this.#database.prepare("INSERT OR IGNORE INTO logs VALUES (?, 0, '', 0)").run(log_id);
    else if (row.position > 0 && (row.hash === "" || (await this.#hashAt(row.position)) !== row.hash)) {
      this.#database.prepare("UPDATE logs SET position = 0, hash = '' WHERE log_id = ?").run(log_id);
      this.#database.prepare("DELETE FROM bookmarks WHERE log_id = ?").run(log_id);
    }
    this.#generation = this.generation;
  }

  /** Whether all bookmarks were deleted since the last call. */
  isForgotten(): boolean {
    const before = this.#generation;
    this.#generation = this.generation;
    return before !== this.#generation;
  }

  async #hashAt(position: number): Promise<string> {
    const hash = await this.#log.hashAt(position);
    return hash === undefined ? "" : Buffer.from(hash).toString("hex");
  }
}

/** Deletes all stored text of watched files: what is forgotten in the log must be gone here too. */
export async function forgetBookmarks(path: string): Promise<void> {
  const database = await openDatabase(path);
  try {
    database.transaction(() => {
      database.prepare("DELETE FROM bookmarks").run();
      database.prepare("UPDATE logs SET generation = generation + 1").run();
    });
    database.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

async function openDatabase(path: string | undefined): Promise<Database> {
  if (path === undefined) return withTables(new Database(":memory:"));
  const openFile = (): Database => prepared(new Database(path, { timeout_ms: BUSY_MS_MAX }), path);
  try {
    return openFile();
  } catch (error) {
    const { code = "" } = error as { readonly code?: string };
    if (code !== "SQLITE_NOTADB" && !code.startsWith("SQLITE_CORRUPT")) throw toFault(error, path);
    // It is derived from files and log: a damaged one can be deleted.
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
    return openFile();
  }
}

/** A failure to store bookmarks, as a fault of the store. */
function toFault(error: unknown, path: string): unknown {
  const { code = "", message } = error as { readonly code?: string; readonly message: string };
  if (!code.startsWith("SQLITE_")) return error;
  const hint = "Free disk space, make the folder writable for this user, or choose another with --data.";
  const what = `${path}, which stores the progress of watched files, cannot be written (${message})`;
  return new Fault(code === "SQLITE_FULL" ? "disk_full" : "store_not_writable", what, { hint, cause: error });
}

function prepared(database: Database, path: string): Database {
  try {
    chmodSync(path, 0o600);
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = NORMAL");
    return withTables(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function withTables(database: Database): Database {
  database.pragma("secure_delete = ON");
  database.transaction(() => {
    if (database.pragma("user_version") !== VERSION) {
      database.exec("DROP TABLE IF EXISTS bookmarks; DROP TABLE IF EXISTS logs");
      database.pragma(`user_version = ${VERSION}`);
    }
    database.exec(`
      CREATE TABLE IF NOT EXISTS logs (
        log_id TEXT PRIMARY KEY, position INTEGER NOT NULL, hash TEXT NOT NULL, generation INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE IF NOT EXISTS bookmarks (
        log_id TEXT NOT NULL, key TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL, importer TEXT NOT NULL,
        is_settled INTEGER NOT NULL, sessions TEXT NOT NULL, saved_ms INTEGER NOT NULL, place BLOB, PRIMARY KEY (log_id, key)
      ) STRICT;
      CREATE INDEX IF NOT EXISTS bookmarks_by_path ON bookmarks (log_id, path);
    `);
  });
  return database;
}
