// Forward-only migrations: each step and its version number are one transaction.

import { Fault } from "../../model/fault.js";
import type { Database } from "./driver.js";

export type Migration = (db: Database) => void;

/** Our application id ("HANS"), so another program's database is never taken for a store. */
export const APPLICATION_ID = 0x48414e53;

export function migrate(db: Database, steps: readonly Migration[], file: string): void {
  refuseUnknown(db, steps, file);
  if (versionOf(db) === steps.length) return;
  db.transaction(() => {
    // Another process may have migrated while this one waited for the lock.
    const version = versionOf(db);
    for (const step of steps.slice(version)) step(db);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${steps.length}`);
  });
}

/** Files of other programs and of newer versions are not touched. */
export function refuseUnknown(db: Database, steps: readonly Migration[], file: string): void {
  if (isForeign(db)) throw foreignDatabase(file);
  if (versionOf(db) > steps.length) throw writtenByNewer(file, versionOf(db), steps.length);
}

export function versionOf(db: Database): number {
  return db.pragma("user_version") as number;
}

/** A database with tables and without our id belongs to another program. */
export function isForeign(db: Database): boolean {
  const holdsAnything = versionOf(db) > 0 || db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;
  // Read last: a process that is creating the store writes its id together with its tables.
  return holdsAnything && db.pragma("application_id") !== APPLICATION_ID;
}

export function writtenByNewer(file: string, version: number, known: number): Fault {
  return new Fault(
    "store_newer",
    `${file} was written by a newer version of Hansard (format ${version}; this one knows ${known})`,
    { hint: "Install the newer version of Hansard; the store was not touched." },
  );
}

export function foreignDatabase(file: string): Fault {
  return new Fault("store_foreign", `${file} is a database of another program`, {
    hint: "Choose another folder with --data; the file was not touched.",
  });
}
