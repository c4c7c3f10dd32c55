// Opens the log file, and migrates it if it can be written.

import { Fault } from "../../model/fault.js";
import { isImmutable, openFile } from "./connections.js";
import type { Database } from "./driver.js";
import { toFault } from "./faults.js";
import { logMigrations, restoreGuards } from "./log-schema.js";
import { isForeign, migrate, refuseUnknown, versionOf } from "./migrations.js";
import { OpenFiles, UnchangedFile } from "./open-files.js";

/** The checkpoint thread keeps the WAL far below this; it is the limit without one. */
const WAL_PAGES_MAX = 16_000;
/** Shorter than a capturing client's timeout, so the client can retry. */
export const LOCK_WAIT_MS = 10_000;
const CREATION_TRIES = 10;
const CREATION_WAIT_MS = 20;

export interface OpenedLog {
  readonly db: Database;
  /** Only for writers. */
  readonly openFiles: OpenFiles | undefined;
  /** Set if the file was opened as immutable. */
  readonly unchanged: UnchangedFile | undefined;
  /** Triggers that were missing and have been restored. */
  readonly restored: readonly string[];
}

export function openLog(options: { readonly path: string; readonly mode: "create" | "write" | "read" }): OpenedLog {
  const { path, mode } = options;
  const db = openFile({ ...options, synchronous: "FULL", or_read: true });
  try {
    if (mode !== "create" && staysEmpty(db)) throw emptied(path);
    const isRead = mode === "read" || db.isReadOnly;
    // Otherwise unused space in pages would keep copies of bodies.
    if (!isRead) db.pragma("secure_delete = ON");
    // Readers leave an older format as it is: all are read the same way.
    if (!isRead || versionOf(db) === 0) migrate(db, logMigrations, path);
    else refuseUnknown(db, logMigrations, path);
    db.pragma(`wal_autocheckpoint = ${WAL_PAGES_MAX}`);
    db.pragma(`busy_timeout = ${LOCK_WAIT_MS}`);
    return {
      db,
      openFiles: isRead ? undefined : new OpenFiles(path),
      unchanged: isImmutable(db) ? new UnchangedFile(path) : undefined,
      restored: isRead ? [] : restoreGuards(db),
    };
  } catch (error) {
    db.close();
    throw toFault(error, path);
  }
}

/** Whether it is empty and no store is being created in it. */
function staysEmpty(db: Database): boolean {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < CREATION_TRIES; tries += 1) {
    if (versionOf(db) > 0 || isForeign(db)) return false;
    Atomics.wait(clock, 0, 0, CREATION_WAIT_MS);
  }
  return true;
}

/** An empty file becomes a store only with permission to create one; otherwise it is a lost log. */
function emptied(path: string): Fault {
  return new Fault("store_corrupt", `${path} is empty`, {
    hint: "If it held a log, restore it from a backup; otherwise delete it to start a new one.",
  });
}
