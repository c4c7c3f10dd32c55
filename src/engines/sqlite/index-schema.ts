// The tables of index.db. All of it is derived, so a change raises the version and the index is built anew.
import type Database from "better-sqlite3";

/** Raised with every change of these tables or of what is put into them. */
export const INDEX_VERSION = 5;

/** Takes no more of a database than that it executes statements: a draft of the tables bears other names. */
export function createIndexTables(db: { readonly exec: (sql: string) => unknown }): void {
  db.exec(`
    CREATE TABLE checkpoints (
      name TEXT PRIMARY KEY,
      position INTEGER NOT NULL,
      log_id TEXT NOT NULL DEFAULT '',
      hash TEXT NOT NULL DEFAULT ''
    ) STRICT, WITHOUT ROWID;
    INSERT INTO checkpoints (name, position) VALUES ('rows', 0), ('text', 0);
    CREATE TABLE rows (
      position INTEGER PRIMARY KEY,
      created_ms INTEGER NOT NULL,
      kind TEXT NOT NULL,
      session_id TEXT NOT NULL,
      project TEXT NOT NULL,
      client TEXT NOT NULL,
      role TEXT NOT NULL,
      -- What a consolidation or a session_info says of its session, for when another entry of the session is erased.
      through INTEGER,
      info TEXT
    ) STRICT;
    CREATE INDEX rows_by_time ON rows (created_ms, position);
    CREATE INDEX rows_by_kind ON rows (kind, created_ms, position);
    CREATE INDEX rows_by_session ON rows (session_id, created_ms, position) WHERE session_id <> '';
    CREATE INDEX rows_by_project ON rows (project, created_ms, position) WHERE project <> '';
    CREATE INDEX rows_by_client ON rows (client, created_ms, position) WHERE client <> '';
    CREATE INDEX rows_in_session ON rows (session_id, position) WHERE session_id <> '';
    -- System messages stay in front of a session's history however long ago they were.
    CREATE INDEX rows_of_system ON rows (session_id, position) WHERE role = 'system';
    -- Which interactions used a memory or a chunk, themselves or through the response that completed them. One use is the
    -- interaction (low) and the entry that says so (high). Those of a batch lie between these two, as a list of positions,
    -- and beside it a list of the entries that say so where these are others.
    CREATE TABLE uses (
      what TEXT NOT NULL,
      reference TEXT NOT NULL,
      low INTEGER NOT NULL,
      high INTEGER NOT NULL,
      positions TEXT,
      said_by TEXT,
      PRIMARY KEY (what, reference, high)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE kind_counts (kind TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE project_counts (project TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE sessions (
      session_id TEXT PRIMARY KEY,
      first_ms INTEGER NOT NULL,
      last_ms INTEGER NOT NULL,
      last_position INTEGER NOT NULL,
      consolidated_through INTEGER NOT NULL,
      cleared_through INTEGER NOT NULL,
      title TEXT NOT NULL DEFAULT '',
      parent TEXT NOT NULL DEFAULT '',
      metadata TEXT NOT NULL DEFAULT '{}'
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_by_newest ON sessions (last_position);
    CREATE TABLE session_kinds (
      session_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      entries INTEGER NOT NULL,
      PRIMARY KEY (session_id, kind)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE session_labels (
      session_id TEXT NOT NULL,
      what TEXT NOT NULL,
      label TEXT NOT NULL,
      position INTEGER NOT NULL,
      PRIMARY KEY (session_id, what, label)
    ) STRICT, WITHOUT ROWID;
    -- The text index: segments of entries in order of position, whose numbers are never given again; which entries lie in
    -- which blocks of each; and signatures, in columns or in slices, of one segment or of a bundle of them.
    CREATE TABLE text_segments (
      segment INTEGER PRIMARY KEY AUTOINCREMENT,
      after INTEGER NOT NULL,
      through INTEGER NOT NULL,
      min_ms INTEGER NOT NULL,
      max_ms INTEGER NOT NULL,
      blocks INTEGER NOT NULL,
      sliced INTEGER NOT NULL,
      bundle INTEGER,
      first_word INTEGER NOT NULL DEFAULT 0,
      revision INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE text_places (segment INTEGER PRIMARY KEY, firsts BLOB NOT NULL) STRICT;
    CREATE TABLE text_columns (key INTEGER PRIMARY KEY, words BLOB NOT NULL) STRICT;
    CREATE TABLE text_counts (segment INTEGER PRIMARY KEY, counts BLOB NOT NULL) STRICT;
    CREATE TABLE text_slices (key INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;
    CREATE TABLE text_bundles (
      bundle INTEGER PRIMARY KEY AUTOINCREMENT,
      words INTEGER NOT NULL,
      moved INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE text_bundle_slices (key INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;
  `);
}

export function dropAllTables(db: Database.Database): void {
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all() as readonly { readonly name: string }[];
  for (const { name } of tables) db.exec(`DROP TABLE "${name.replaceAll('"', '""')}"`);
}
