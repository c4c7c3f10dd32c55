// Sessions in the index: which entries each of them has, by position.

import type { SessionPlace, SessionPlacesQuery, SessionRange } from "../../index/port.js";
import { itemAt } from "../../model/item-at.js";
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

export async function sessionPlaces(
  session: Session,
  { session_ids, through }: SessionPlacesQuery,
): Promise<readonly SessionPlace[]> {
  if (session_ids.length === 0) return [];
  // Both walk an index of the session downwards, past what came later, to the first row that was there.
  const then = `FROM hansard_index_rows r
      WHERE r.session_id = given.session_id AND r.session_id <> '' AND r.position <= $2`;
  const text = `SELECT given.at, latest.created_ms AS last_ms, newest.position
    FROM unnest($1::text[]) WITH ORDINALITY AS given (session_id, at)
    CROSS JOIN LATERAL (SELECT r.position ${then} ORDER BY r.position DESC LIMIT 1) newest
    CROSS JOIN LATERAL (SELECT r.created_ms ${then} ORDER BY r.created_ms DESC, r.position DESC LIMIT 1) latest`;
  type Found = { readonly at: number; readonly last_ms: number; readonly position: number };
  const found = await session.query<Found>({ text }, [session_ids.map(storable), through]);
  return found.map(({ at, last_ms, position }) => ({ session_id: itemAt(session_ids, at - 1), last_ms, position }));
}
