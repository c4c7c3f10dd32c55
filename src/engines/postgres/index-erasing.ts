// Takes rows out of the index, and everything that was derived from them; called within the transaction of a batch.
import type { SessionInfo } from "../../ports/entry-index.js";
import { columnsOf } from "./columns.js";
import type { Session } from "./connection.js";
import { groupBy } from "./index-filter.js";
import { mergeInfo } from "./index-sessions.js";
import { eraseUses } from "./index-uses.js";

interface GoneRow {
  readonly kind: string;
  readonly project: string;
  readonly session_id: string;
}

export async function eraseRows(session: Session, positions: readonly number[]): Promise<void> {
  // Another server may just be adding texts of these entries, which it read before they were erased.
  await session.query({ text: "SELECT 1 FROM hansard_index_checkpoints WHERE name = 'texts' FOR UPDATE" });
  await session.query({ text: "DELETE FROM hansard_index_texts WHERE position = ANY ($1::bigint[])" }, [positions]);
  await eraseUses(session, positions);
  const text = `DELETE FROM hansard_index_rows WHERE position = ANY ($1::bigint[]) RETURNING kind, project, session_id`;
  const gone = await session.query<GoneRow>({ text }, [positions]);
  if (gone.length === 0) return;
  await subtract(session, "kind", gone);
  await subtract(session, "project", gone);
  const sessions = [...new Set(gone.map((row) => row.session_id))].filter((id) => id !== "");
  if (sessions.length > 0) await sumUpAgain(session, sessions);
}

async function subtract(session: Session, what: "kind" | "project", gone: readonly GoneRow[]): Promise<void> {
  const counts = [...groupBy(gone, (row) => row[what])].map(([key, own]) => [key, own.length]);
  const text = `UPDATE hansard_index_${what}s c SET entries = c.entries - gone.entries
    FROM unnest($1::text[], $2::bigint[]) AS gone (key, entries) WHERE c.${what} = gone.key`;
  await session.query({ text }, columnsOf(counts, 2));
  await session.query({ text: `DELETE FROM hansard_index_${what}s WHERE entries <= 0` });
}

/** Sums sessions up anew from the rows that are left of them, which may be none. */
async function sumUpAgain(session: Session, ids: readonly string[]): Promise<void> {
  for (const table of ["sessions", "session_kinds", "session_labels"]) {
    await session.query({ text: `DELETE FROM hansard_index_${table} WHERE session_id = ANY ($1::text[])` }, [ids]);
  }
  const own = "FROM hansard_index_rows WHERE session_id = ANY ($1::text[]) AND session_id <> ''";
  const sums = `INSERT INTO hansard_index_sessions
      (session_id, first_ms, last_ms, last_position, consolidated_through, cleared_through)
    SELECT session_id, min(created_ms), max(created_ms), max(position), coalesce(max(through), 0),
      coalesce(max(position) FILTER (WHERE kind = 'clear'), 0) ${own} GROUP BY session_id`;
  await session.query({ text: sums }, [ids]);
  const kinds = `INSERT INTO hansard_index_session_kinds SELECT session_id, kind, count(*) ${own} GROUP BY session_id, kind`;
  await session.query({ text: kinds }, [ids]);
  for (const what of ["project", "client"]) {
    const labels = `INSERT INTO hansard_index_session_labels (session_id, what, label, position)
      SELECT session_id, '${what}', ${what}, min(position) ${own} GROUP BY session_id, ${what}`;
    await session.query({ text: labels }, [ids]);
  }
  const text = `SELECT session_id, info ${own} AND info IS NOT NULL ORDER BY position`;
  const infos = await session.query<{ readonly session_id: string; readonly info: string }>({ text }, [ids]);
  for (const [id, told] of groupBy(infos, (row) => row.session_id)) {
    await mergeInfo(
      session,
      id,
      told.map(({ info }) => ({ info: JSON.parse(info) as SessionInfo })),
    );
  }
}
