// Rows of the index: put in and taken out within the transaction of a batch, given back, and counted.

import type { EntryRow, RowCounts } from "../../index/port.js";
import type { JsonObject } from "../../model/json.js";
import { eraseNames, eraseUses } from "./erased-uses.js";
import { fromExactText, toExactText } from "./exact-text.js";
import { addUses, borneReferences, numberReferences, toBorne } from "./index-uses.js";
import type { Statements } from "./statements.js";

export function addRows(sql: Statements, rows: readonly EntryRow[]): void {
  const numbered = numberReferences(sql, rows);
  for (const row of rows) insert(sql, row, numbered.get(row.position));
  addUses(sql, rows, numbered);
  for (const what of COUNTED) add(sql, what, rows);
}

/** Takes rows out, and what was derived from them. */
export function eraseRows(sql: Statements, positions: readonly number[]): void {
  const given = JSON.stringify(positions);
  const among = "(SELECT value FROM json_each(?))";
  type GoneRow = { readonly kind: string; readonly project: string };
  const gone = sql.all<GoneRow>(`SELECT kind, project FROM rows WHERE position IN ${among}`, given);
  if (gone.length === 0) return;
  const touched = eraseUses(sql, positions);
  sql.run(`DELETE FROM rows WHERE position IN ${among}`, given);
  eraseNames(sql, touched);
  for (const what of COUNTED) subtract(sql, what, gone);
}

interface StoredRow {
  readonly position: number;
  readonly created_ms: number;
  readonly kind: string;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  readonly role: string;
  readonly about: number | null;
  readonly refs: string | null;
  readonly facts: string | null;
}

export function rowsAt(sql: Statements, positions: readonly number[]): readonly EntryRow[] {
  if (positions.length === 0) return [];
  const stored = sql.all<StoredRow>(
    "SELECT * FROM rows WHERE position IN (SELECT value FROM json_each(?)) ORDER BY position",
    JSON.stringify(positions),
  );
  const references = borneReferences(
    sql,
    stored.map(({ refs }) => refs),
  );
  return stored.map(({ position, created_ms, kind, session_id, project, client, role, about, facts }, at) => ({
    position,
    created_ms,
    kind,
    session_id: fromExactText(session_id),
    project: fromExactText(project),
    client: fromExactText(client),
    references: references[at] ?? [],
    ...(role === "" ? {} : { role }),
    ...(about === null ? {} : { about }),
    ...(facts === null ? {} : { facts: JSON.parse(facts) as JsonObject }),
  }));
}

export function countRows(sql: Statements): RowCounts {
  const kinds = sql.all<{ kind: string; entries: number }>("SELECT kind, entries FROM kind_counts");
  const projects = sql.all<{ project: string; entries: number }>(
    "SELECT project, entries FROM project_counts ORDER BY entries DESC, project",
  );
  const [first] = sql.all<{ ms: number | null }>("SELECT min(created_ms) AS ms FROM rows");
  const [last] = sql.all<{ ms: number | null }>("SELECT max(created_ms) AS ms FROM rows");
  return {
    entries: kinds.reduce((sum, row) => sum + row.entries, 0),
    by_kind: Object.fromEntries(kinds.map((row) => [row.kind, row.entries])),
    projects: projects.map(({ project, entries }) => ({ project: fromExactText(project), entries })),
    ...(first?.ms == null || last?.ms == null ? {} : { first_ms: first.ms, last_ms: last.ms }),
  };
}

function insert(sql: Statements, row: EntryRow, references: readonly number[] | undefined): void {
  sql.run(
    `INSERT INTO rows (position, created_ms, kind, session_id, project, client, role, about, refs, facts)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.position,
    row.created_ms,
    row.kind,
    toExactText(row.session_id),
    toExactText(row.project),
    toExactText(row.client),
    row.role ?? "",
    row.about ?? null,
    toBorne(references),
    row.facts === undefined ? null : JSON.stringify(row.facts),
  );
}

const COUNTED = ["kind", "project"] as const;
type Counted = (typeof COUNTED)[number];

function add(sql: Statements, what: Counted, rows: readonly EntryRow[]): void {
  const statement = `INSERT INTO ${what}_counts (${what}, entries) VALUES (?, ?)
    ON CONFLICT (${what}) DO UPDATE SET entries = entries + excluded.entries`;
  for (const [key, entries] of countBy(rows, what)) sql.run(statement, toExactText(key), entries);
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
