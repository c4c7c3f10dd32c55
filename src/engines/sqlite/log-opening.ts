// Opening the file of a log: brought to the present format where it may be written, and left as it is otherwise.
import type Database from "better-sqlite3";
import { Fault } from "../../model/fault.js";
import { isImmutable } from "./connect.js";
import { openFile, toFault } from "./file.js";
import { HeldFiles } from "./held-files.js";
import { putBackGuards } from "./log-guards.js";
import { logMigrations } from "./log-schema.js";
import { isForeign, migrate, refuseUnknown, versionOf } from "./migrations.js";
import { StillFile } from "./still-file.js";

/** A checkpointer keeps the WAL far below this; it is the limit for when there is none. */
const WAL_PAGES_MAX = 16_000;
/** Whoever captures gets an answer before its own patience ends, and can come again. */
export const LOCK_WAIT_MS = 10_000;
const CREATION_TRIES = 10;
const CREATION_WAIT_MS = 20;

export interface OpenedLog {
  readonly db: Database.Database;
  /** Only who writes has to know that it is found again. */
  readonly held: HeldFiles | undefined;
  /** Where SQLite was told that nobody writes to the file. */
  readonly still: StillFile | undefined;
  /** Triggers that were missing, and are there again. */
  readonly putBack: readonly string[];
}

export function openLog(options: { readonly path: string; readonly mode: "create" | "write" | "read" }): OpenedLog {
  const { path, mode } = options;
  const db = openFile({ ...options, synchronous: "FULL", or_read: true });
  try {
    if (mode !== "create" && staysEmpty(db)) throw emptied(path);
    const isRead = mode === "read" || db.readonly;
    // What is written over is gone: otherwise unused parts of pages would keep copies of bodies.
    if (!isRead) db.pragma("secure_delete = ON");
    // Who only reads leaves an older format as it is: every one of them is read in the same way.
    if (!isRead || versionOf(db) === 0) migrate(db, logMigrations, path);
    else refuseUnknown(db, logMigrations, path);
    db.pragma(`wal_autocheckpoint = ${WAL_PAGES_MAX}`);
    db.pragma(`busy_timeout = ${LOCK_WAIT_MS}`);
    return {
      db,
      held: isRead ? undefined : new HeldFiles(path),
      still: isImmutable(db) ? new StillFile(path) : undefined,
      putBack: isRead ? [] : putBackGuards(db),
    };
  } catch (error) {
    db.close();
    throw toFault(error, path);
  }
}

/** Whether there is nothing in it, and nobody else is just about to make it a store. */
function staysEmpty(db: Database.Database): boolean {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < CREATION_TRIES; tries += 1) {
    if (versionOf(db) > 0 || isForeign(db)) return false;
    Atomics.wait(clock, 0, 0, CREATION_WAIT_MS);
  }
  return true;
}

/** Only who may create a store turns an empty file into one; for everybody else it is a log that was lost. */
function emptied(path: string): Fault {
  return new Fault("store_corrupt", `${path} is empty`, {
    hint: "It held a log, or never did: restore it from a copy, or delete it to start a new one.",
  });
}
