// Takes rows out of the index, and everything that was derived from them; called within the transaction of a batch.
import { sumUpAgain } from "./index-sessions.js";
import { eraseUses } from "./index-uses.js";
import type { Statements } from "./statements.js";

interface GoneRow {
  readonly kind: string;
  readonly project: string;
  readonly session_id: string;
}

export function eraseRows(sql: Statements, positions: readonly number[]): void {
  const given = JSON.stringify(positions);
  const among = "(SELECT value FROM json_each(?))";
  const gone = sql.all<GoneRow>(`SELECT kind, project, session_id FROM rows WHERE position IN ${among}`, given);
  if (gone.length === 0) return;
  sql.run(`DELETE FROM rows WHERE position IN ${among}`, given);
  eraseUses(sql, positions);
  subtract(sql, "kind", gone);
  subtract(sql, "project", gone);
  for (const session_id of new Set(gone.map((row) => row.session_id))) {
    if (session_id !== "") sumUpAgain(sql, session_id);
  }
}

export function countBy<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return counts;
}

function subtract(sql: Statements, what: "kind" | "project", gone: readonly GoneRow[]): void {
  for (const [key, entries] of countBy(gone, (row) => row[what])) {
    sql.run(`UPDATE ${what}_counts SET entries = entries - ? WHERE ${what} = ?`, entries, key);
  }
  sql.run(`DELETE FROM ${what}_counts WHERE entries <= 0`);
}
