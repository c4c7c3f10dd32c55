// The tables of the index. Everything in them is derived: any change raises the version, and the index is rebuilt. Only
// the remembered log heads among its checkpoints survive a rebuild.
import { indexVersion } from "../../index/derivation.js";
import type { IndexSource } from "../../index/port.js";
import { compressQuickly, keepOutOfStatistics } from "./columns.js";
import type { Session } from "./driver.js";

/** Raise it with every change of these tables. What is stored in them has its own version, `DERIVATION`. */
const TABLES_VERSION = 8;

export const INDEX_VERSION = indexVersion(TABLES_VERSION);

const TABLES = ["checkpoints", "rows", "uses", "kinds", "projects", "documents", "document_labels", "texts"];

/** Tables of earlier versions; they hold recorded text and must be dropped. */
const FORMER_TABLES = ["sessions", "session_kinds", "session_labels"];

/** Columns with recorded text. */
const RECORDED: { readonly [table: string]: readonly string[] } = {
  rows: ["session_id", "project", "client", "refs", "facts"],
  uses: ["reference"],
  projects: ["project"],
  documents: ["key", "labels", "body"],
  document_labels: ["label", "key"],
  texts: ["texts", "grams"],
};

/** Every table by its full name. */
export const indexTables: readonly string[] = TABLES.map((table) => `hansard_index_${table}`);

export async function createIndexTables(session: Session): Promise<void> {
  const heads = await rememberedHeads(session);
  for (const table of [...TABLES, ...FORMER_TABLES])
    await session.query({ text: `DROP TABLE IF EXISTS hansard_index_${table}` });
  await session.query({ text: "CREATE EXTENSION IF NOT EXISTS pg_trgm" });
  await session.query({ text: TABLES_SQL });
  await rememberHeads(session, heads);
  for (const [table, columns] of Object.entries(RECORDED)) {
    await session.query({ text: keepOutOfStatistics(`hansard_index_${table}`, columns) });
  }
  await session.query({ text: compressQuickly("hansard_index_texts", "texts") });
}

/** Waits for running reads, since TRUNCATE needs an exclusive lock. */
export async function emptyIndexTables(session: Session): Promise<void> {
  const derived = TABLES.filter((table) => table !== "checkpoints").map((table) => `hansard_index_${table}`);
  await session.query({ text: "SELECT 1 FROM hansard_index_checkpoints ORDER BY name FOR UPDATE" });
  await session.query({ text: `TRUNCATE ${derived.join(", ")}` });
  await rememberHeads(session, await rememberedHeads(session));
  await session.query({
    text: `UPDATE hansard_index_checkpoints SET position = 0, epoch = gen_random_uuid()::text, log_id = '', hash = ''
      WHERE name IN ('rows', 'texts')`,
  });
}

export const CHECKPOINTS_SQL =
  "INSERT INTO hansard_index_checkpoints (name, position) VALUES ('rows', 0), ('texts', 0) ON CONFLICT DO NOTHING";

const TABLES_SQL = `
  CREATE TABLE hansard_index_checkpoints (
    name text PRIMARY KEY,
    position bigint NOT NULL,
    epoch text NOT NULL DEFAULT gen_random_uuid()::text,
    log_id text NOT NULL DEFAULT '',
    hash text NOT NULL DEFAULT ''
  ) WITH (fillfactor = 10);
  ${CHECKPOINTS_SQL};
  CREATE TABLE hansard_index_rows (
    position bigint PRIMARY KEY,
    created_ms bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    client text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    -- The entry that the references count for, where it is another one, and the references as JSON.
    about bigint,
    refs text,
    -- JSON, for folding again.
    facts text
  );
  CREATE INDEX hansard_index_rows_by_time ON hansard_index_rows (created_ms, position);
  CREATE INDEX hansard_index_rows_by_kind ON hansard_index_rows (kind, created_ms, position);
  CREATE INDEX hansard_index_rows_by_session ON hansard_index_rows (session_id, created_ms, position)
    WHERE session_id <> '';
  CREATE INDEX hansard_index_rows_by_project ON hansard_index_rows (project, created_ms, position) WHERE project <> '';
  CREATE INDEX hansard_index_rows_by_client ON hansard_index_rows (client, created_ms, position) WHERE client <> '';
  CREATE INDEX hansard_index_rows_in_session ON hansard_index_rows (session_id, position) WHERE session_id <> '';
  -- System messages stay in front of a session's history however long ago they were.
  CREATE INDEX hansard_index_rows_of_system ON hansard_index_rows (session_id, position) WHERE role = 'system';
  CREATE INDEX hansard_index_rows_by_subject ON hansard_index_rows (about) WHERE about IS NOT NULL;
  -- The entries that a reference counts for, in the order of lists, and how many rows say so. References are hashed, since
  -- text here holds neither every character nor every length that a reference may have.
  CREATE TABLE hansard_index_uses (
    what text COLLATE "C" NOT NULL,
    reference bytea NOT NULL,
    created_ms bigint NOT NULL,
    position bigint NOT NULL,
    sayers bigint NOT NULL,
    PRIMARY KEY (what, reference, created_ms, position)
  );
  CREATE TABLE hansard_index_kinds (kind text COLLATE "C" PRIMARY KEY, entries bigint NOT NULL);
  CREATE TABLE hansard_index_projects (project text COLLATE "C" PRIMARY KEY, entries bigint NOT NULL);
  CREATE TABLE hansard_index_documents (
    collection text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    sort double precision NOT NULL,
    position bigint NOT NULL,
    labels text[] COLLATE "C" NOT NULL,
    -- JSON text, which also writes down what a text of PostgreSQL cannot hold.
    body text NOT NULL,
    PRIMARY KEY (collection, key)
  );
  CREATE INDEX hansard_index_documents_by_sort ON hansard_index_documents (collection, sort, position, key);
  CREATE INDEX hansard_index_documents_by_change ON hansard_index_documents (collection, position, key);
  -- Without their sort, which changes with most entries while labels hardly ever do.
  CREATE TABLE hansard_index_document_labels (
    collection text COLLATE "C" NOT NULL,
    label text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (collection, label, key)
  );
  -- What a search looks through, and the one- and two-character pieces that trigrams cannot find.
  CREATE TABLE hansard_index_texts (
    position bigint PRIMARY KEY,
    texts text COLLATE "C" NOT NULL,
    grams text[] COLLATE "C" NOT NULL
  );
  CREATE INDEX hansard_index_texts_trigrams ON hansard_index_texts USING gin (texts gin_trgm_ops);
  CREATE INDEX hansard_index_texts_grams ON hansard_index_texts USING gin (grams);
`;

const COLUMNS_SQL = `SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema()
  AND table_name = 'hansard_index_checkpoints' AND column_name = 'hash'`;

/** The log heads that an index was made from. A table of another version is read as well and may lack these columns. */
export async function rememberedHeads(session: Session): Promise<readonly IndexSource[]> {
  if ((await session.query({ text: COLUMNS_SQL })).length === 0) return [];
  const text = `SELECT log_id, position, hash FROM hansard_index_checkpoints WHERE log_id <> ''
    ORDER BY position, hash`;
  return session.query<IndexSource>({ text });
}

async function rememberHeads(session: Session, heads: readonly IndexSource[]): Promise<void> {
  const text = `INSERT INTO hansard_index_checkpoints (name, position, log_id, hash) VALUES ('head ' || $3::text, $2, $1, $3)
    ON CONFLICT DO NOTHING`;
  for (const { log_id, position, hash } of heads) await session.query({ text }, [log_id, position, hash]);
}

export async function forgetHeads(session: Session, heads: readonly IndexSource[]): Promise<void> {
  const text = "DELETE FROM hansard_index_checkpoints WHERE hash = ANY($1) AND name = 'head ' || hash";
  await session.query({ text }, [heads.map(({ hash }) => hash)]);
}
