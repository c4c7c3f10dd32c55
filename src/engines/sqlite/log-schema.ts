// The tables of log.db, one migration per version of the format (released steps never change), and the triggers that
// protect them.
import { randomBytes, randomUUID } from "node:crypto";
import { IN_PARTS } from "../../log/log-row.js";
import type { Guards } from "../../log/port.js";
import { lastingKinds } from "../../model/body.js";
import { DIGEST_BYTES } from "../parts/cutting.js";
import { Database } from "./driver.js";
import { type Migration, versionOf } from "./migrations.js";

/** The `encoding` of an overwritten body. */
export const ERASED = -1;
/** In `meta` until leftovers of erased bodies are gone from the file and its WAL. */
export const PURGE_MARK = "purge";
/** In `meta` while unused space in pages may hold copies of bodies; only rewriting the file removes those. */
export const STALE_MARK = "stale_pages";

/** In `meta`: the secret for digests of parts. */
export const PARTS_SECRET = "parts_secret";
/** In `meta` until digests of erased parts are gone from unused space in the pages of their index. */
export const STALE_DIGESTS_MARK = "stale_digests";
/** In `meta`: bytes of overwritten parts that still take space. */
export const ERASED_PARTS = "erased_part_bytes";

export const logMigrations: readonly Migration[] = [
  (db) => {
    db.exec(`
      CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE entries (
        position INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        recorded_at TEXT NOT NULL,
        commitment BLOB NOT NULL,
        hash BLOB NOT NULL
      ) STRICT;
      -- Salt and body lie apart, so that an erased body leaves the chain intact.
      CREATE TABLE bodies (
        position INTEGER PRIMARY KEY,
        salt BLOB NOT NULL,
        encoding INTEGER NOT NULL,
        body BLOB NOT NULL
      ) STRICT;
      CREATE TABLE claims (claim BLOB PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      -- Positions whose bodies a redaction entry names; only these may lose their body.
      CREATE TABLE erasures (position INTEGER PRIMARY KEY, redaction INTEGER NOT NULL) STRICT;
    `);
    for (const table of ["entries", "bodies", "claims", "erasures"]) {
      const key = table === "claims" ? "claim" : "position";
      db.exec(`
        CREATE TRIGGER ${table}_never_replaced BEFORE INSERT ON ${table}
          WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${key} = NEW.${key})
          BEGIN SELECT RAISE(ABORT, '${table} are append-only'); END;
        CREATE TRIGGER ${table}_never_updated BEFORE UPDATE ON ${table}
          BEGIN SELECT RAISE(ABORT, '${table} are append-only'); END;
      `);
    }
    for (const table of ["entries", "claims", "erasures"]) {
      db.exec(`
        CREATE TRIGGER ${table}_never_deleted BEFORE DELETE ON ${table}
          BEGIN SELECT RAISE(ABORT, '${table} are append-only'); END;
      `);
    }
    db.exec(`
      CREATE TRIGGER bodies_only_erased BEFORE DELETE ON bodies
        WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE position = OLD.position)
        BEGIN SELECT RAISE(ABORT, 'a body is deleted only when a redaction names it'); END;
    `);
    db.prepare("INSERT INTO meta (name, value) VALUES ('log_id', ?)").run(randomUUID());
  },
  // A body is erased by overwriting it in place: deleting its row would make SQLite move its neighbours and leave
  // copies of them in unused space, where erasing them later would not reach them.
  (db) => {
    db.exec(`
      DROP TRIGGER bodies_never_updated;
      CREATE TRIGGER bodies_never_updated BEFORE UPDATE ON bodies
        WHEN NEW.position <> OLD.position OR NEW.encoding <> ${ERASED}
          OR NEW.salt <> zeroblob(length(OLD.salt)) OR NEW.body <> zeroblob(length(OLD.body))
          OR NOT EXISTS (SELECT 1 FROM erasures WHERE position = OLD.position)
        BEGIN SELECT RAISE(ABORT, 'bodies are append-only'); END;
    `);
    // Files of before this version have such copies too.
    const mark = "INSERT INTO meta (name, value) SELECT ?, '1' WHERE EXISTS (SELECT 1 FROM bodies)";
    db.prepare(mark).run(STALE_MARK);
  },
  // The hash covers who recorded an entry and what it claims. Earlier entries have neither, and none of them may follow
  // one that has: an older program with the file open must stop writing.
  (db) => {
    const lasting = lastingKinds.map((kind) => `'${kind}'`).join(", ");
    db.exec(`
      ALTER TABLE entries ADD COLUMN recorded_by TEXT;
      ALTER TABLE entries ADD COLUMN claims_digest BLOB;
      -- One trigger for both, since each slows down every append.
      DROP TRIGGER entries_never_replaced;
      CREATE TRIGGER entries_never_replaced BEFORE INSERT ON entries
        WHEN EXISTS (SELECT 1 FROM entries WHERE position = NEW.position) OR (NEW.recorded_by IS NULL
          AND (SELECT recorded_by FROM entries ORDER BY position DESC LIMIT 1) IS NOT NULL)
        BEGIN SELECT RAISE(ABORT, 'entries are append-only, and none of an older format follows'); END;
      CREATE TRIGGER erasures_never_of_lasting BEFORE INSERT ON erasures
        WHEN EXISTS (SELECT 1 FROM entries WHERE position = NEW.position AND kind IN (${lasting}))
        BEGIN SELECT RAISE(ABORT, 'what the log wrote about itself is not erased'); END;
    `);
  },
  // Bodies may refer to shared parts. A part takes one row or several consecutive ones; the first has the digest to
  // find it by.
  (db) => {
    db.exec(`
      CREATE TABLE parts (
        start INTEGER PRIMARY KEY,
        digest BLOB,
        length INTEGER,
        bytes BLOB NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX parts_by_digest ON parts (digest) WHERE digest <> zeroblob(${DIGEST_BYTES});
      CREATE INDEX bodies_in_parts ON bodies (position) WHERE encoding = ${IN_PARTS};
      CREATE TRIGGER parts_never_replaced BEFORE INSERT ON parts
        WHEN EXISTS (SELECT 1 FROM parts WHERE start = NEW.start OR (digest = NEW.digest AND digest <> zeroblob(${DIGEST_BYTES})))
        BEGIN SELECT RAISE(ABORT, 'parts are append-only'); END;
      -- Which bodies use a part is stored in bodies and other parts, which a trigger cannot read: it requires at least
      -- a redaction.
      CREATE TRIGGER parts_never_updated BEFORE UPDATE ON parts
        WHEN NEW.start <> OLD.start OR NEW.length IS NOT OLD.length OR NEW.bytes <> zeroblob(length(OLD.bytes))
          OR (NEW.digest IS NOT OLD.digest AND NEW.digest IS NOT zeroblob(${DIGEST_BYTES}))
          OR NOT EXISTS (SELECT 1 FROM meta WHERE name = '${PURGE_MARK}')
        BEGIN SELECT RAISE(ABORT, 'parts are append-only'); END;
      CREATE TRIGGER parts_only_erased BEFORE DELETE ON parts
        WHEN OLD.bytes <> zeroblob(length(OLD.bytes))
        BEGIN SELECT RAISE(ABORT, 'a part is deleted only when nothing of it is left'); END;
    `);
    db.prepare("INSERT INTO meta (name, value) VALUES (?, ?)").run(PARTS_SECRET, randomBytes(32).toString("hex"));
  },
];

/** From this version on, entries have the columns of the second format. */
export const SECOND_FORMAT_VERSION = 3;
/** From this version on there are parts. */
export const PARTS_VERSION = 4;

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** How the file's schema differs from that of its version. Tables that are not the log's are ignored. */
export function inspectGuards(db: Database): Guards {
  const ours = expectedSchema(versionOf(db));
  const found = readSchema(db);
  const sqlByName = new Map(found.map(({ name, sql }) => [name, sql]));
  const textByName = new Map(ours.map(({ name, sql }) => [name, sql]));
  const tables = new Set(ours.flatMap(({ type, name }) => (type === "table" ? [name] : [])));
  return {
    missing: ours.flatMap(({ type, name }) => (type === "trigger" && !sqlByName.has(name) ? [name] : [])),
    foreign: found.flatMap(({ type, name, sql }) => {
      const isGuarding = type === "trigger" || type === "index" || tables.has(name);
      return isGuarding && textByName.get(name) !== sql ? [name] : [];
    }),
  };
}

/** Restores missing triggers, and returns their names. */
export function restoreGuards(db: Database): readonly string[] {
  if (inspectGuards(db).missing.length === 0) return [];
  return db.transaction(() => {
    // Another process may have restored them while this one waited for the lock.
    const { missing } = inspectGuards(db);
    for (const { name, sql } of expectedSchema(versionOf(db))) if (missing.includes(name)) db.exec(sql);
    return missing;
  });
}

/** Derived by running the migrations: a separate list could differ. */
function expectedSchema(version: number): readonly SchemaRow[] {
  const model = new Database(":memory:");
  try {
    for (const step of logMigrations.slice(0, version)) step(model);
    return readSchema(model);
  } finally {
    model.close();
  }
}

/** Automatic indexes have no SQL, and SQLite's own tables do not count. */
function readSchema(db: Database): readonly SchemaRow[] {
  const rows = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
  return (rows as readonly SchemaRow[])
    .filter(({ name }) => !name.startsWith("sqlite_"))
    .map((row) => ({ ...row, sql: row.sql.replaceAll(/\s+/g, " ") }));
}
