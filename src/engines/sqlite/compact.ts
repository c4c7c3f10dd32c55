// Compaction: rewrites bodies stored whole as parts. The chain does not change, since the body reads back as the same
// bytes.
import { statSync } from "node:fs";
import { IN_PARTS, PLAIN } from "../../log/log-row.js";
import { commitmentOf } from "../../model/chain.js";
import { PARTED_BYTES_MIN } from "../parts/splitting.js";
import type { Database } from "./driver.js";
import { toFault } from "./faults.js";
import { openLog } from "./log-opening.js";
import { STALE_MARK } from "./log-schema.js";
import { Parts } from "./parts.js";
import { purgeLog } from "./purge.js";

/** One transaction; other writers wait for it no longer than for a large batch. */
const BATCH_BYTES = 4 * 1024 * 1024;
const GUARD = "bodies_never_updated";

export interface Compaction {
  /** Bodies that were moved into parts. */
  readonly bodies: number;
  readonly bytes_before: number;
  readonly bytes_after: number;
  /** Space that could not be freed yet, in words. */
  readonly left?: string;
}

interface WholeBody {
  readonly position: number;
  readonly salt: Buffer;
  readonly body: Buffer;
  readonly commitment: Buffer;
}

/** Each batch is one transaction, so an interrupted run loses nothing and the next one continues. */
export function compactLog(
  path: string,
  onProgress: (position: number, end: number) => void = () => undefined,
): Compaction {
  try {
    const { db } = openLog({ path, mode: "write" });
    const bytes_before = statSync(path).size;
    let bodies = 0;
    let isStale = false;
    try {
      const end = db.prepare("SELECT coalesce(max(position), 0) FROM entries").pluck().get() as number;
      const parts = new Parts(db);
      for (let after = 0; after < end; ) {
        const batch = nextBatch(db, after, end);
        bodies += rewrite(db, parts, batch);
        after = batch.at(-1)?.position ?? end;
        onProgress(after, end);
      }
      isStale = db.prepare("SELECT 1 FROM meta WHERE name = ?").get(STALE_MARK) !== undefined;
    } finally {
      db.close();
    }
    // Space is only freed when the file is rewritten, which also removes leftovers of moved rows.
    const left = isStale ? purgeLog(path) : undefined;
    return { bodies, bytes_before, bytes_after: statSync(path).size, ...(left === undefined ? {} : { left }) };
  } catch (error) {
    throw toFault(error, path);
  }
}

function nextBatch(db: Database, after: number, through: number): readonly WholeBody[] {
  const rows = db.prepare(`SELECT position, salt, body, commitment FROM bodies JOIN entries USING (position)
    WHERE position > ? AND position <= ? AND encoding = ${PLAIN} AND length(body) >= ${PARTED_BYTES_MIN} ORDER BY position`);
  const batch: WholeBody[] = [];
  let bytes = 0;
  for (const row of rows.iterate(after, through) as Iterable<WholeBody>) {
    batch.push(row);
    bytes += row.body.length;
    if (bytes >= BATCH_BYTES) break;
  }
  return batch;
}

/** The trigger that forbids changing bodies is dropped inside the transaction; no one else can write during it. */
function rewrite(db: Database, parts: Parts, batch: readonly WholeBody[]): number {
  if (batch.length === 0) return 0;
  db.exec("BEGIN IMMEDIATE");
  try {
    const guard = db.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").pluck().get(GUARD) as string;
    db.exec(`DROP TRIGGER ${GUARD}; INSERT OR IGNORE INTO meta (name, value) VALUES ('${STALE_MARK}', '1')`);
    const update = db.prepare(
      `UPDATE bodies SET encoding = ${IN_PARTS}, body = ? WHERE position = ? AND encoding = ${PLAIN}`,
    );
    let changes = 0;
    for (const { position, salt, body, commitment } of batch) {
      // A damaged body stays as it is, as evidence.
      if (!commitmentOf(salt, body).equals(commitment)) continue;
      const taken = parts.split(body);
      if (taken === undefined || !parts.join(taken, Buffer.alloc(0)).equals(body)) continue;
      changes += update.run(taken, position);
    }
    db.exec(guard);
    db.exec("COMMIT");
    return changes;
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
