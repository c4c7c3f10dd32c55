// Sessions in the index: which entries each of them has, by position.
import type { SessionRange } from "../../ports/entry-index.js";
import type { Session } from "./connection.js";
import { Conditions, storable } from "./index-filter.js";

export async function sessionPositions(session: Session, range: SessionRange): Promise<readonly number[]> {
  const { session_id, order, limit, after, above = 0, kinds, role } = range;
  const where = new Conditions();
  where.add(
    `session_id = ${where.bind(storable(session_id))} AND session_id <> '' AND position > ${where.bind(above)}`,
  );
  if (after !== undefined) where.add(`position ${order === "asc" ? ">" : "<"} ${where.bind(after)}`);
  if (kinds !== undefined) where.add(`kind = ANY (${where.bind(kinds)}::text[])`);
  // The literal lets PostgreSQL use the index that holds only system messages.
  if (role === "system") where.add("role = 'system'");
  else if (role !== undefined) where.add(`role = ${where.bind(storable(role))}`);
  const text = `SELECT position FROM hansard_index_rows WHERE ${where.sql}
    ORDER BY position ${order === "asc" ? "ASC" : "DESC"} LIMIT ${where.bind(limit)}`;
  const rows = await session.query<{ readonly position: number }>({ text }, where.values);
  return rows.map((row) => row.position);
}

export async function newestPositions(
  session: Session,
  { session_ids, through }: { readonly session_ids: readonly string[]; readonly through: number },
): Promise<readonly { readonly session_id: string; readonly position: number }[]> {
  if (session_ids.length === 0) return [];
  const text = `SELECT given.at, newest.position
    FROM unnest($1::text[]) WITH ORDINALITY AS given (session_id, at) CROSS JOIN LATERAL (
      SELECT max(r.position) AS position FROM hansard_index_rows r
      WHERE r.session_id = given.session_id AND r.session_id <> '' AND r.position <= $2
    ) newest WHERE newest.position IS NOT NULL`;
  type Found = { readonly at: number; readonly position: number };
  const found = await session.query<Found>({ text }, [session_ids.map(storable), through]);
  return found.map(({ at, position }) => ({ session_id: session_ids[at - 1] as string, position }));
}
