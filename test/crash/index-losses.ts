// What can happen to index.db while programs use it: each of these is done to the file from outside.
import { closeSync, openSync, renameSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { Database } from "../../src/engines/sqlite/driver.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";

export const indexLosses: { readonly [what: string]: (index: string) => void } = {
  "index.db is deleted": (index) => rmSync(index),
  "index.db is deleted with its WAL": (index) => {
    for (const ending of ["", "-wal", "-shm"]) rmSync(index + ending, { force: true });
  },
  "its WAL is deleted": (index) => rmSync(`${index}-wal`, { force: true }),
  "index.db is emptied": (index) => truncateSync(index, 0),
  "index.db is cut to half its length": (index) => truncateSync(index, Math.floor(statSync(index).size / 2)),
  "index.db is overwritten with garbage": (index) => overwrite(index, 0, statSync(index).size),
  "index.db is overwritten behind its first page": (index) => overwrite(index, 4_096, statSync(index).size - 4_096),
  "index.db is exchanged for a text file": (index) => exchange(index, (path) => writeFileSync(path, "no database ")),
  "index.db is exchanged for an empty file": (index) => exchange(index, (path) => writeFileSync(path, "")),
  "index.db is marked as older in place": (index) => edit(index, "PRAGMA user_version = 1"),
  "index.db loses a table in place": (index) => edit(index, "DROP TABLE rows"),
  "index.db loses rows of a table that is counted on": (index) => edit(index, "UPDATE checkpoints SET position = 3"),
  "index.db is exchanged for one of an older version": (index) =>
    exchange(index, (path) =>
      edit(path, "CREATE TABLE rows (a); PRAGMA application_id = 1212239443; PRAGMA user_version = 1"),
    ),
  "index.db is exchanged for one of a newer version": (index) =>
    exchange(index, (path) =>
      edit(path, "CREATE TABLE rows (a); PRAGMA application_id = 1212239443; PRAGMA user_version = 99000"),
    ),
};

/** Runs SQL on a database file as a program of somebody else does. */
export function edit(path: string, sql: string): void {
  const db = new Database(path);
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

function exchange(index: string, make: (path: string) => void): void {
  const other = `${index}.other`;
  make(other);
  for (const ending of ["-wal", "-shm"]) rmSync(index + ending, { force: true });
  renameSync(other, index);
}

/** With bytes that make no sense, but the same in every run. */
function overwrite(path: string, from: number, length: number): void {
  if (length <= 0) return;
  const random = seededRandom(from + length);
  const file = openSync(path, "r+");
  const bytes = Uint8Array.from({ length }, () => Math.floor(random() * 256));
  writeSync(file, bytes, 0, length, from);
  closeSync(file);
}
