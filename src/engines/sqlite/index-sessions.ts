// Sessions in the index: which entries each of them has, by position.

import type { SessionPlace, SessionPlacesQuery, SessionRange } from "../../index/port.js";
import { itemAt } from "../../model/item-at.js";
import { toExactText } from "./exact-text.js";
import type { Statements } from "./statements.js";

export function sessionPositions(sql: Statements, range: SessionRange): readonly number[] {
  const { session_id, order, limit, after, above = 0, kinds, role } = range;
  const conditions = ["session_id = ?", "session_id <> ''", "position > ?"];
  const values: unknown[] = [toExactText(session_id), above];
  if (after !== undefined) {
    conditions.push(order === "asc" ? "position > ?" : "position < ?");
    values.push(after);
  }
  if (kinds !== undefined) {
    conditions.push(`kind IN (${kinds.map(() => "?").join(", ")})`);
    values.push(...kinds);
  }
  // The literal lets SQLite use the index that holds only system messages.
  if (role === "system") conditions.push("role = 'system'");
  else if (role !== undefined) {
    conditions.push("role = ?");
    values.push(role);
  }
  return sql.column<number>(
    `SELECT position FROM rows WHERE ${conditions.join(" AND ")} ORDER BY position ${order === "asc" ? "ASC" : "DESC"} LIMIT ?`,
    ...values,
    limit,
  );
}

export function sessionPlaces(sql: Statements, { session_ids, through }: SessionPlacesQuery): readonly SessionPlace[] {
  type Found = { readonly at: number; readonly last_ms: number | null; readonly position: number | null };
  // Both walk an index of the session downwards, past what came later, to the first row that was there.
  const then = "FROM rows WHERE session_id = given.value AND session_id <> '' AND position <= ?";
  const found = sql.all<Found>(
    `SELECT given.key AS at, (SELECT max(position) ${then}) AS position,
       (SELECT created_ms ${then} ORDER BY created_ms DESC LIMIT 1) AS last_ms FROM json_each(?) AS given`,
    ...[through, through, JSON.stringify(session_ids.map(toExactText))],
  );
  return found.flatMap(({ at, last_ms, position }) =>
    position === null || last_ms === null ? [] : [{ session_id: itemAt(session_ids, at), last_ms, position }],
  );
}
