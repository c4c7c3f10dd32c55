// The heads of logs that an index was made from: rows among its checkpoints that outlive everything else in it.
import type { IndexSource } from "../../index/port.js";
import type { Session } from "./connection.js";

const COLUMNS_SQL = `SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema()
  AND table_name = 'hansard_index_checkpoints' AND column_name = 'hash'`;

/** What the table of checkpoints remembers. That of another version is asked as well, and may have no such columns. */
export async function rememberedHeads(session: Session): Promise<readonly IndexSource[]> {
  if ((await session.query({ text: COLUMNS_SQL })).length === 0) return [];
  const text = `SELECT log_id, position, hash FROM hansard_index_checkpoints WHERE log_id <> ''
    ORDER BY position, hash`;
  return session.query<IndexSource>({ text });
}

export async function rememberHeads(session: Session, heads: readonly IndexSource[]): Promise<void> {
  const text = `INSERT INTO hansard_index_checkpoints (name, position, log_id, hash) VALUES ('head ' || $3::text, $2, $1, $3)
    ON CONFLICT DO NOTHING`;
  for (const { log_id, position, hash } of heads) await session.query({ text }, [log_id, position, hash]);
}

export async function settleHeads(session: Session, heads: readonly IndexSource[]): Promise<void> {
  const text = "DELETE FROM hansard_index_checkpoints WHERE hash = ANY($1) AND name = 'head ' || hash";
  await session.query({ text }, [heads.map(({ hash }) => hash)]);
}
