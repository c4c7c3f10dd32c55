// Keys in a table next to the log, so every server on the database has them.

import type { KeyLookup, KeyStore, StoredKey } from "../../guard/keys.js";
import type { Scope } from "../../guard/scopes.js";
import type { Connections, Statement } from "./driver.js";
import { type Migration, migrate } from "./migrations.js";

const TABLE_SQL = `
  CREATE TABLE hansard_keys (
    id text COLLATE "C" PRIMARY KEY,
    scope text NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    revoked_at text COLLATE "C"
  );
  CREATE FUNCTION hansard_keys_rule() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'UPDATE' OR OLD.revoked_at IS NOT NULL OR NEW.revoked_at IS NULL
      OR (NEW.id, NEW.scope, NEW.name, NEW.hash, NEW.created_at)
        IS DISTINCT FROM (OLD.id, OLD.scope, OLD.name, OLD.hash, OLD.created_at) THEN
      RAISE EXCEPTION 'a key can only be revoked' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER hansard_keys_only_revoked BEFORE UPDATE OR DELETE ON hansard_keys
    FOR EACH ROW EXECUTE FUNCTION hansard_keys_rule();
  CREATE TRIGGER hansard_keys_never_truncated BEFORE TRUNCATE ON hansard_keys
    FOR EACH STATEMENT EXECUTE FUNCTION hansard_keys_rule();
`;

const keyMigrations: readonly Migration[] = [
  async (session) => {
    await session.query({ text: TABLE_SQL });
  },
];

const COLUMNS = "id, scope, name, hash, created_at, revoked_at";

/** Concurrent lookups share one statement that starts after the last of them. */
const LOOK_UP: Statement = {
  name: "hansard-keys-look-up",
  isQuick: true,
  text: `SELECT EXISTS (SELECT 1 FROM hansard_keys) AS "hasAny", ${COLUMNS}
    FROM (VALUES (true)) AS always LEFT JOIN hansard_keys ON id = ANY ($1::text[])`,
};

interface Row {
  readonly id: string;
  readonly scope: Scope;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

type Found = { readonly hasAny: boolean } & (Row | { readonly id: null });

interface Asking {
  readonly id: string | undefined;
  readonly resolve: (lookup: KeyLookup) => void;
  readonly reject: (reason: unknown) => void;
}

export class PostgresKeys implements KeyStore {
  readonly engine = "postgres";
  readonly #connections: Connections;
  #pending: Asking[] = [];
  #isQuerying = false;

  private constructor(connections: Connections) {
    this.#connections = connections;
  }

  static async open(connections: Connections): Promise<PostgresKeys> {
    await migrate(connections, { part: "keys", steps: keyMigrations });
    return new PostgresKeys(connections);
  }

  async add({ id, scope, name, hash, created_at }: StoredKey): Promise<void> {
    const text = "INSERT INTO hansard_keys (id, scope, name, hash, created_at) VALUES ($1, $2, $3, $4, $5)";
    await this.#connections.query({ text }, [id, scope, name, Buffer.from(hash), created_at]);
  }

  async list(): Promise<readonly StoredKey[]> {
    const text = `SELECT ${COLUMNS} FROM hansard_keys ORDER BY created_at, id`;
    return (await this.#connections.query<Row>({ text })).map(rowToKey);
  }

  async revoke(id: string, at: string): Promise<StoredKey | undefined> {
    const text = "UPDATE hansard_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    await this.#connections.query({ text }, [id, at]);
    return (await this.lookUp(id)).key;
  }

  lookUp(id: string | undefined): Promise<KeyLookup> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ id, resolve, reject });
      if (!this.#isQuerying) void this.#queryPending();
    });
  }

  /** The log closes the connections. */
  async close(): Promise<void> {}

  async #queryPending(): Promise<void> {
    this.#isQuerying = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      try {
        const ids = new Set(batch.flatMap(({ id }) => id ?? []));
        const rows = await this.#connections.query<Found>(LOOK_UP, [[...ids]]);
        const keysById = new Map(rows.flatMap((row) => (row.id === null ? [] : [[row.id, rowToKey(row)]])));
        for (const { id, resolve } of batch) {
          const key = id === undefined ? undefined : keysById.get(id);
          resolve({ isEmpty: rows[0]?.hasAny === false, ...(key === undefined ? {} : { key }) });
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isQuerying = false;
  }
}

function rowToKey({ id, scope, name, hash, created_at, revoked_at }: Row): StoredKey {
  return { id, scope, name, hash, created_at, ...(revoked_at === null ? {} : { revoked_at }) };
}
