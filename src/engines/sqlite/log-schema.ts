// The tables of log.db, one step per version of the format. Steps are never changed once released, only added.
import { randomUUID } from "node:crypto";
import type { Migration } from "./migrations.js";

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
];
