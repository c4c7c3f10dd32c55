// The tables of index.db. Everything in it is derived: any change raises the version, and the index is rebuilt. Only
// the remembered log heads among its checkpoints survive a rebuild.

import { indexVersion } from "../../index/derivation.js";
import type { IndexSource } from "../../index/port.js";
import type { Database } from "./driver.js";

/** Raise it with every change of these tables. What is stored in them has its own version, `DERIVATION`. */
const TABLES_VERSION = 12;

export const INDEX_VERSION = indexVersion(TABLES_VERSION);

/** Needs only `exec`, because a draft runs the statements with other table names. */
export function createIndexTables(db: { readonly exec: (sql: string) => unknown }): void {
  db.exec(`
    CREATE TABLE checkpoints (
      name TEXT PRIMARY KEY,
      position INTEGER NOT NULL,
      epoch TEXT NOT NULL DEFAULT '',
      log_id TEXT NOT NULL DEFAULT '',
      hash TEXT NOT NULL DEFAULT ''
    ) STRICT, WITHOUT ROWID;
    INSERT INTO checkpoints (name, position, epoch) VALUES ('rows', 0, lower(hex(randomblob(16)))), ('text', 0, '');
    CREATE TABLE rows (
      position INTEGER PRIMARY KEY,
      created_ms INTEGER NOT NULL,
      kind TEXT NOT NULL,
      session_id TEXT NOT NULL,
      project TEXT NOT NULL,
      client TEXT NOT NULL,
      role TEXT NOT NULL,
      -- The entry that the references count for, where it is another one, and their numbers, each between commas.
      about INTEGER,
      refs TEXT,
      -- JSON, for folding again.
      facts TEXT
    ) STRICT;
    -- Each of these ends with the position, which need not be said, because it is the number of the row itself.
    CREATE INDEX rows_by_time ON rows (created_ms);
    CREATE INDEX rows_by_kind ON rows (kind, created_ms);
    CREATE INDEX rows_by_session ON rows (session_id, created_ms) WHERE session_id <> '';
    CREATE INDEX rows_by_project ON rows (project, created_ms) WHERE project <> '';
    CREATE INDEX rows_by_client ON rows (client, created_ms) WHERE client <> '';
    -- With the kind, which history asks for, so that it need not look at the rows themselves.
    CREATE INDEX rows_in_session ON rows (session_id, position, kind) WHERE session_id <> '';
    -- System messages stay in front of a session's history however long ago they were.
    CREATE INDEX rows_of_system ON rows (session_id) WHERE role = 'system';
    CREATE INDEX rows_by_subject ON rows (about) WHERE about IS NOT NULL;
    CREATE TABLE reference_names (
      number INTEGER PRIMARY KEY,
      what TEXT NOT NULL,
      reference TEXT NOT NULL,
      UNIQUE (what, reference)
    ) STRICT;
    -- The entries that a reference counts for, in the order of lists, and how many rows say so.
    CREATE TABLE uses (
      name INTEGER NOT NULL,
      entry_ms INTEGER NOT NULL,
      entry INTEGER NOT NULL,
      sayers INTEGER NOT NULL,
      PRIMARY KEY (name, entry_ms, entry)
    ) STRICT, WITHOUT ROWID;
    -- Where most entries refer to the same themselves: from the newest to the oldest, by time and position alike.
    CREATE TABLE use_spans (
      name INTEGER NOT NULL,
      newest_ms INTEGER NOT NULL,
      newest INTEGER NOT NULL,
      oldest_ms INTEGER NOT NULL,
      oldest INTEGER NOT NULL,
      PRIMARY KEY (name, newest_ms, newest)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE kind_counts (kind TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE project_counts (project TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE documents (
      number INTEGER PRIMARY KEY,
      collection TEXT NOT NULL,
      key TEXT NOT NULL,
      sort REAL NOT NULL,
      position INTEGER NOT NULL,
      labels TEXT NOT NULL,
      body TEXT NOT NULL,
      UNIQUE (collection, key)
    ) STRICT;
    CREATE INDEX documents_by_sort ON documents (collection, sort, position, key);
    CREATE INDEX documents_by_change ON documents (collection, position, key);
    -- Without their sort, which changes with most entries while labels hardly ever do.
    CREATE TABLE document_labels (
      collection TEXT NOT NULL,
      label TEXT NOT NULL,
      key TEXT NOT NULL,
      PRIMARY KEY (collection, label, key)
    ) STRICT, WITHOUT ROWID;
    -- The text index: segments of entries in order of position, whose numbers are never given again; which entries lie in
    -- which blocks of each; and signatures, in columns of unmerged segments and in slices of merged ones.
    CREATE TABLE text_segments (
      segment INTEGER PRIMARY KEY AUTOINCREMENT,
      after INTEGER NOT NULL,
      through INTEGER NOT NULL,
      min_ms INTEGER NOT NULL,
      max_ms INTEGER NOT NULL,
      blocks INTEGER NOT NULL,
      is_merged INTEGER NOT NULL,
      revision INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE text_places (segment INTEGER PRIMARY KEY, firsts BLOB NOT NULL) STRICT;
    CREATE TABLE text_columns (key INTEGER PRIMARY KEY, words BLOB NOT NULL) STRICT;
    CREATE TABLE text_counts (segment INTEGER PRIMARY KEY, counts BLOB NOT NULL) STRICT;
    CREATE TABLE text_slices (key INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;
  `);
}

export function dropAllTables(db: Database): void {
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all() as readonly { readonly name: string }[];
  for (const { name } of tables) db.exec(`DROP TABLE "${name.replaceAll('"', '""')}"`);
}

/** A hash names a head, since no two logs have the same. */
const NAME = "'head ' || hash";

/** The log heads that an index was made from. Tables of other versions are read as well and may lack these columns. */
export function rememberedHeads(db: Database): readonly IndexSource[] {
  const hasColumns = db.prepare("SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = 'hash'").get();
  if (hasColumns === undefined) return [];
  const sql = "SELECT log_id, position, hash FROM checkpoints WHERE log_id <> '' ORDER BY position, hash";
  return db.prepare(sql).all() as readonly IndexSource[];
}

/** Called within a transaction. */
export function rememberHeads(db: Database, heads: readonly IndexSource[], table = "checkpoints"): void {
  const sql = `INSERT OR IGNORE INTO ${table} (name, position, log_id, hash)
    SELECT ${NAME}, position, log_id, hash FROM (SELECT ? AS log_id, ? AS position, ? AS hash)`;
  const insert = db.prepare(sql);
  for (const { log_id, position, hash } of heads) insert.run(log_id, position, hash);
}

/** Called within a transaction. */
export function forgetHeads(db: Database, heads: readonly IndexSource[]): void {
  const remove = db.prepare(`DELETE FROM checkpoints WHERE hash = ? AND name = ${NAME}`);
  for (const { hash } of heads) remove.run(hash);
}
