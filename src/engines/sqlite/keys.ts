// Keys in keys.db, a separate file so that copies and exports of the record never contain keys. It is created with the
// first key; until then its absence means no keys. Once it exists, keys are required even if it is empty: emptying it
// must not grant access.

import { existsSync } from "node:fs";
import type { KeyLookup, KeyStore, StoredKey } from "../../guard/keys.js";
import type { Scope } from "../../guard/scopes.js";
import { openFile } from "./connections.js";
import type { Database, Statement } from "./driver.js";
import { toFault } from "./faults.js";
import { type Migration, migrate } from "./migrations.js";

const keyMigrations: readonly Migration[] = [
  (db) =>
    db.exec(`
      CREATE TABLE keys (
        id TEXT PRIMARY KEY,
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        hash BLOB NOT NULL,
        created_at TEXT NOT NULL,
        revoked_at TEXT
      ) STRICT;
      CREATE TRIGGER keys_never_replaced BEFORE INSERT ON keys WHEN EXISTS (SELECT 1 FROM keys WHERE id = NEW.id)
        BEGIN SELECT RAISE(ABORT, 'a key is never replaced'); END;
      CREATE TRIGGER keys_only_revoked BEFORE UPDATE ON keys
        WHEN OLD.revoked_at IS NOT NULL OR NEW.revoked_at IS NULL OR NEW.id <> OLD.id OR NEW.scope <> OLD.scope
          OR NEW.name <> OLD.name OR NEW.hash <> OLD.hash OR NEW.created_at <> OLD.created_at
        BEGIN SELECT RAISE(ABORT, 'a key can only be revoked'); END;
      CREATE TRIGGER keys_never_deleted BEFORE DELETE ON keys
        BEGIN SELECT RAISE(ABORT, 'keys are revoked, not deleted'); END;
    `),
];

interface Row {
  readonly id: string;
  readonly scope: string;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

interface Opened {
  readonly db: Database;
  readonly get: Statement<Row>;
}

export class SqliteKeys implements KeyStore {
  readonly engine = "sqlite";
  readonly #path: string;
  #opened: Opened | undefined;
  /** Cached until the event loop's next turn. */
  #isMissing = false;

  /** The file is opened or created on first use. */
  constructor(options: { readonly path: string }) {
    this.#path = options.path;
  }

  async add({ id, scope, name, hash, created_at }: StoredKey): Promise<void> {
    this.#isMissing = false;
    this.#attempt("create", ({ db }) => {
      const sql = "INSERT INTO keys (id, scope, name, hash, created_at) VALUES (?, ?, ?, ?, ?)";
      db.prepare(sql).run(id, scope, name, hash, created_at);
    });
  }

  async list(): Promise<readonly StoredKey[]> {
    if (!this.#isThere()) return [];
    return this.#attempt("write", ({ db }) => {
      const rows = db.prepare<Row>("SELECT * FROM keys ORDER BY created_at, id").all();
      return rows.map(rowToKey);
    });
  }

  async revoke(id: string, at: string): Promise<StoredKey | undefined> {
    if (!this.#isThere()) return undefined;
    return this.#attempt("write", ({ db, get }) => {
      db.prepare("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL").run(at, id);
      const row = get.get(id);
      return row === undefined ? undefined : rowToKey(row);
    });
  }

  /** One read of a small tree takes a few microseconds, so nothing is cached between requests. */
  async lookUp(id: string | undefined): Promise<KeyLookup> {
    if (this.#isMissing || !this.#isThere()) return this.#missing();
    return this.#attempt("write", ({ get }) => {
      const row = id === undefined ? undefined : get.get(id);
      return row === undefined ? { isEmpty: false } : { isEmpty: false, key: rowToKey(row) };
    });
  }

  async close(): Promise<void> {
    this.#opened?.db.close();
    this.#opened = undefined;
  }

  /** Concurrent requests share one `stat`, which takes longer than the rest of the lookup. */
  #missing(): KeyLookup {
    if (!this.#isMissing) {
      this.#isMissing = true;
      setImmediate(() => {
        this.#isMissing = false;
      });
    }
    return { isEmpty: true };
  }

  #isThere(): boolean {
    return this.#opened !== undefined || existsSync(this.#path);
  }

  #attempt<T>(mode: "create" | "write", work: (opened: Opened) => T): T {
    try {
      this.#opened ??= this.#open(mode);
      return work(this.#opened);
    } catch (error) {
      throw toFault(error, this.#path);
    }
  }

  #open(mode: "create" | "write"): Opened {
    const db = openFile({ path: this.#path, mode, synchronous: "FULL", or_read: true });
    try {
      migrate(db, keyMigrations, this.#path);
      return {
        db,
        get: db.prepare<Row>("SELECT * FROM keys WHERE id = ?"),
      };
    } catch (error) {
      db.close();
      throw error;
    }
  }
}

function rowToKey({ id, scope, name, hash, created_at, revoked_at }: Row): StoredKey {
  const revoked = revoked_at === null ? {} : { revoked_at };
  return { id, scope: scope as Scope, name, hash, created_at, ...revoked };
}
