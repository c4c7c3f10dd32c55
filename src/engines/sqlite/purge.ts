// Removes leftovers of erased text from unused space in pages and from the WAL.

import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openFile } from "./connections.js";
import type { Database } from "./driver.js";
import { toFault } from "./faults.js";
import { removeDrafts } from "./index-draft.js";
import { ERASED, ERASED_PARTS, PARTS_VERSION, PURGE_MARK, STALE_DIGESTS_MARK, STALE_MARK } from "./log-schema.js";
import { versionOf } from "./migrations.js";

/** Among the checkpoints of an index with erased rows, until its file holds nothing of them. */
export const PURGE_DUE = "purge";

/** Readers hold the WAL for milliseconds; one that holds it longer than this is reported. */
const WAIT_MS_MAX = 10_000;
const PAUSE_MS = 50;
/** The file is rewritten once erased bodies are this share of it, so the cost is in proportion. */
const ERASED_SHARE_MIN = 0.25;

/** Returns what is left, in words, if another program holds the WAL. */
export function purgeLog(path: string): string | undefined {
  return withFile(path, "FULL", (db) => {
    const isStale = hasMark(db, STALE_MARK);
    if (isStale || erasedShare(db) >= ERASED_SHARE_MIN) {
      // Deleting rows leaves copies of neighbours in unused space; rewriting the file removes them.
      db.exec(`BEGIN IMMEDIATE; INSERT OR IGNORE INTO meta (name, value) VALUES ('${STALE_MARK}', '1');
        DELETE FROM bodies WHERE encoding = ${ERASED}; ${deleteParts(db)} COMMIT`);
      db.exec("VACUUM");
      db.exec(`DELETE FROM meta WHERE name IN ('${STALE_MARK}', '${STALE_DIGESTS_MARK}')`);
    } else if (hasMark(db, STALE_DIGESTS_MARK)) {
      // SQLite moves entries of an index around. This one is small: it is rebuilt, and its old pages are overwritten.
      db.exec(
        `BEGIN IMMEDIATE; REINDEX parts_by_digest; DELETE FROM meta WHERE name = '${STALE_DIGESTS_MARK}'; COMMIT`,
      );
    }
    const left = emptyWal(db, path);
    if (left === undefined) db.exec(`DELETE FROM meta WHERE name = '${PURGE_MARK}'`);
    return left;
  });
}

export function isPurgeDue(db: Database): boolean {
  return hasMark(db, PURGE_MARK);
}

/** SQLite moves rows around, so only rewriting the file leaves nothing behind. */
export function purgeIndex(path: string): string | undefined {
  // Index files of other versions are derived as well, and are rebuilt on demand.
  for (const name of readdirSync(dirname(path))) {
    if (name !== basename(path) && /^index\.format-\d+\.db(-wal|-shm)?$/.test(name)) {
      rmSync(join(dirname(path), name), { force: true });
    }
  }
  return withFile(path, "NORMAL", (db) => {
    // A draft may still hold what the index has erased; the rebuild starts again.
    removeDrafts(db);
    db.exec("VACUUM");
    const left = emptyWal(db, path);
    if (left === undefined) db.prepare("DELETE FROM checkpoints WHERE name = ?").run(PURGE_DUE);
    return left;
  });
}

/** Uses its own connection: rewriting needs space for a copy, which must not come from memory. */
function withFile<T>(path: string, synchronous: "FULL" | "NORMAL", work: (db: Database) => T): T {
  try {
    const db = openFile({ path, mode: "write", synchronous });
    try {
      db.pragma("secure_delete = ON");
      db.pragma("temp_store = FILE");
      return work(db);
    } finally {
      db.close();
    }
  } catch (error) {
    throw toFault(error, path);
  }
}

/** Checkpoints and truncates the WAL, which waits for readers of an older state. */
function emptyWal(db: Database, path: string): string | undefined {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const end = performance.now() + WAIT_MS_MAX;
  db.pragma("busy_timeout = 1000");
  for (;;) {
    // The first of its columns says whether a reader kept it from finishing.
    if (db.pragma("wal_checkpoint(TRUNCATE)") === 0) return undefined;
    if (performance.now() > end) {
      return `${basename(path)}-wal is in use by a long-running reader; erased text stays in it until that ends`;
    }
    Atomics.wait(clock, 0, 0, PAUSE_MS);
  }
}

function hasMark(db: Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM meta WHERE name = ?").get(name) !== undefined;
}

/** The last part stays, so no other part gets its position. */
function deleteParts(db: Database): string {
  return versionOf(db) < PARTS_VERSION
    ? ""
    : `DELETE FROM parts WHERE bytes = zeroblob(length(bytes)) AND start < (SELECT max(start) FROM parts);
       DELETE FROM meta WHERE name = '${ERASED_PARTS}';`;
}

function erasedShare(db: Database): number {
  const sql = `SELECT coalesce(sum(length(body)), 0) + coalesce((SELECT value FROM meta WHERE name = '${ERASED_PARTS}'), 0) AS bytes
    FROM erasures JOIN bodies USING (position) WHERE encoding = ${ERASED}`;
  const { bytes } = db.prepare(sql).get() as { readonly bytes: number };
  const pages = db.pragma("page_count") as number;
  return bytes / (pages * (db.pragma("page_size") as number));
}
