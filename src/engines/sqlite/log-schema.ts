// The tables of log.db, one step per version of the format. Steps are never changed once released, only added.
import { randomBytes, randomUUID } from "node:crypto";
import { IN_PARTS } from "../../log/log-row.js";
import { lastingKinds } from "../../model/body.js";
import { DIGEST_BYTES } from "../parts/part-digests.js";
import type { Migration } from "./migrations.js";

/** Stands in `encoding` where a body was overwritten. */
export const ERASED = -1;
/** Set in `meta` until what erased bodies left behind is gone from the file and its WAL. */
export const PURGE_MARK = "purge";
/** Set in `meta` while unused parts of pages may hold copies of bodies, which only rewriting the file removes. */
export const STALE_MARK = "stale_pages";

/** The name in `meta` of what digests of parts are made with. */
export const PARTS_SECRET = "parts_secret";
/** Set in `meta` until digests of parts that went are gone from unused parts of the pages of their index. */
export const STALE_DIGESTS_MARK = "stale_digests";
/** In `meta`: how many bytes of parts were overwritten and still take room. */
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
  // A body is erased by overwriting it in place: deleting its row would make SQLite move its neighbours about, and leave
  // copies of them in unused parts of pages, where erasing them later would not find them.
  (db) => {
    db.exec(`
      DROP TRIGGER bodies_never_updated;
      CREATE TRIGGER bodies_never_updated BEFORE UPDATE ON bodies
        WHEN NEW.position <> OLD.position OR NEW.encoding <> ${ERASED}
          OR NEW.salt <> zeroblob(length(OLD.salt)) OR NEW.body <> zeroblob(length(OLD.body))
          OR NOT EXISTS (SELECT 1 FROM erasures WHERE position = OLD.position)
        BEGIN SELECT RAISE(ABORT, 'bodies are append-only'); END;
    `);
    // What was written before this version left such copies too.
    const mark = "INSERT INTO meta (name, value) SELECT ?, '1' WHERE EXISTS (SELECT 1 FROM bodies)";
    db.prepare(mark).run(STALE_MARK);
  },
  // The hash covers who brought an entry and what it claims. Entries of before have neither; none of them may follow one that
  // has, so that a program of an older version which still has the file open stops instead of writing on.
  (db) => {
    const lasting = lastingKinds.map((kind) => `'${kind}'`).join(", ");
    db.exec(`
      ALTER TABLE entries ADD COLUMN recorded_by TEXT;
      ALTER TABLE entries ADD COLUMN claims_digest BLOB;
      -- One trigger for both, since each costs a part of what an append takes.
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
  // A body may refer to parts that it shares with others. A part takes one row or several, one after the other; its first has the
  // digest by which it is found again.
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
      -- Who holds a part is written in bodies and in other parts, which a trigger cannot read: it asks for a redaction at least.
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

/** From this version on entries have the columns of the second format. */
export const SECOND_FORMAT_VERSION = 3;
/** From this version on there are parts. */
export const PARTS_VERSION = 4;
