// Rows of the index: put in, counted and taken out; each within the transaction of a batch.
import type { EntryCounts, EntryRow } from "../../ports/entry-index.js";
import { addUses, eraseUses, numberReferences } from "./index-uses.js";
import type { Statements } from "./statements.js";

export function addRows(sql: Statements, rows: readonly EntryRow[]): void {
  const numbered = numberReferences(sql, rows);
  for (const row of rows) insert(sql, row, numbered.get(row.position));
  addUses(sql, rows, numbered);
  for (const what of COUNTED) add(sql, what, rows);
}

/** Takes rows out, and what was derived from them; answers with the sessions that they were of. */
export function eraseRows(sql: Statements, positions: readonly number[]): readonly string[] {
  const given = JSON.stringify(positions);
  const among = "(SELECT value FROM json_each(?))";
  type GoneRow = { readonly kind: string; readonly project: string; readonly session_id: string };
  const gone = sql.all<GoneRow>(`SELECT kind, project, session_id FROM rows WHERE position IN ${among}`, given);
  if (gone.length === 0) return [];
  eraseUses(sql, positions);
  sql.run(`DELETE FROM rows WHERE position IN ${among}`, given);
  for (const what of COUNTED) subtract(sql, what, gone);
  return [...new Set(gone.map((row) => row.session_id))].filter((id) => id !== "");
}

export function countRows(sql: Statements): EntryCounts {
  const kinds = sql.all<{ kind: string; entries: number }>("SELECT kind, entries FROM kind_counts");
  const projects = sql.all<{ project: string; entries: number }>(
    "SELECT project, entries FROM project_counts ORDER BY entries DESC, project",
  );
  const [sessions] = sql.all<{ count: number }>("SELECT count(*) AS count FROM sessions");
  const [first] = sql.all<{ ms: number | null }>("SELECT min(created_ms) AS ms FROM rows");
  const [last] = sql.all<{ ms: number | null }>("SELECT max(created_ms) AS ms FROM rows");
  return {
    entries: kinds.reduce((sum, row) => sum + row.entries, 0),
    sessions: sessions?.count ?? 0,
    by_kind: Object.fromEntries(kinds.map((row) => [row.kind, row.entries])),
    projects,
    ...(first?.ms == null || last?.ms == null ? {} : { first_ms: first.ms, last_ms: last.ms }),
  };
}

function insert(sql: Statements, row: EntryRow, references: readonly number[] | undefined): void {
  sql.run(
    `INSERT INTO rows (position, created_ms, kind, session_id, project, client, role, through, info, about, refs)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.position,
    row.created_ms,
    row.kind,
    row.session_id,
    row.project,
    row.client,
    row.role ?? "",
    row.through ?? null,
    row.info === undefined ? null : JSON.stringify(row.info),
    row.about ?? null,
    references === undefined ? null : JSON.stringify(references),
  );
}

const COUNTED = ["kind", "project"] as const;
type Counted = (typeof COUNTED)[number];

function add(sql: Statements, what: Counted, rows: readonly EntryRow[]): void {
  const statement = `INSERT INTO ${what}_counts (${what}, entries) VALUES (?, ?)
    ON CONFLICT (${what}) DO UPDATE SET entries = entries + excluded.entries`;
  for (const [key, entries] of countBy(rows, what)) sql.run(statement, key, entries);
}

function subtract(sql: Statements, what: Counted, gone: readonly Pick<EntryRow, Counted>[]): void {
  for (const [key, entries] of countBy(gone, what)) {
    sql.run(`UPDATE ${what}_counts SET entries = entries - ? WHERE ${what} = ?`, entries, key);
  }
  sql.run(`DELETE FROM ${what}_counts WHERE entries <= 0`);
}

function countBy(rows: readonly Pick<EntryRow, Counted>[], what: Counted): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row[what], (counts.get(row[what]) ?? 0) + 1);
  return counts;
}
