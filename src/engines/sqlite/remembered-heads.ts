// The heads of logs that an index was made from: rows among its checkpoints that outlive everything else in it.
import type Database from "better-sqlite3";
import type { IndexSource } from "../../index/port.js";

/** A hash names a head, since no two logs have the same. */
const NAME = "'head ' || hash";

/** What a table of checkpoints remembers. Tables of other versions are asked as well, and may have no such columns. */
export function rememberedHeads(db: Database.Database): readonly IndexSource[] {
  const hasColumns = db.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = 'hash'").get();
  if (hasColumns === undefined) return [];
  const sql = "SELECT log_id, position, hash FROM checkpoints WHERE log_id <> '' ORDER BY position, hash";
  return db.prepare(sql).all() as readonly IndexSource[];
}

/** Called within a transaction. */
export function rememberHeads(db: Database.Database, heads: readonly IndexSource[], table = "checkpoints"): void {
  const sql = `INSERT OR IGNORE INTO ${table} (name, position, log_id, hash)
    SELECT ${NAME}, position, log_id, hash FROM (SELECT ? AS log_id, ? AS position, ? AS hash)`;
  const insert = db.prepare(sql);
  for (const { log_id, position, hash } of heads) insert.run(log_id, position, hash);
}

/** Called within a transaction. */
export function settleHeads(db: Database.Database, heads: readonly IndexSource[]): void {
  const remove = db.prepare(`DELETE FROM checkpoints WHERE hash = ? AND name = ${NAME}`);
  for (const { hash } of heads) remove.run(hash);
}
