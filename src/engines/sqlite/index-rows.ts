// Rows of the index: inserted and erased within the transaction of a batch, listed by session, and counted.

import type { EntryRow, RowCounts, SessionPlace, SessionPlacesQuery, SessionRange } from "../../index/port.js";
import { itemAt } from "../../model/item-at.js";
import type { JsonObject } from "../../model/json.js";
import type { SqlValue } from "./driver.js";
import {
  addUses,
  carriesNumber,
  numberReferences,
  readStoredReferences,
  toStoredReferences,
} from "./index-references.js";
import { fromStoredText, type Statements, toStoredText } from "./statements.js";

export function addRows(sql: Statements, rows: readonly EntryRow[]): void {
  const numbered = numberReferences(sql, rows);
  for (const row of rows) insert(sql, row, numbered.get(row.position));
  addUses(sql, rows, numbered);
  for (const what of COUNTED) add(sql, what, rows);
}

/** Deletes rows and everything derived from them. */
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
  const references = readStoredReferences(
    sql,
    stored.map(({ refs }) => refs),
  );
  return stored.map(({ position, created_ms, kind, session_id, project, client, role, about, facts }, at) => ({
    position,
    created_ms,
    kind,
    session_id: fromStoredText(session_id),
    project: fromStoredText(project),
    client: fromStoredText(client),
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
    projects: projects.map(({ project, entries }) => ({ project: fromStoredText(project), entries })),
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
    toStoredText(row.session_id),
    toStoredText(row.project),
    toStoredText(row.client),
    row.role ?? "",
    row.about ?? null,
    toStoredReferences(references),
    row.facts === undefined ? null : JSON.stringify(row.facts),
  );
}

const COUNTED = ["kind", "project"] as const;
type Counted = (typeof COUNTED)[number];

function add(sql: Statements, what: Counted, rows: readonly EntryRow[]): void {
  const statement = `INSERT INTO ${what}_counts (${what}, entries) VALUES (?, ?)
    ON CONFLICT (${what}) DO UPDATE SET entries = entries + excluded.entries`;
  for (const [key, entries] of countBy(rows, what)) sql.run(statement, toStoredText(key), entries);
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

/** Call it before the rows are deleted; returns reference numbers that may be unused afterwards. */
function eraseUses(sql: Statements, positions: readonly number[]): readonly number[] {
  const given = JSON.stringify(positions);
  const touched = sql.all<{ readonly number: number }>(TOUCHED, given, given).map(({ number }) => number);
  if (touched.length === 0) return [];
  sql.run(DELETE_SAID_BY_ENTRIES, given);
  sql.run(DELETE_SAID_ABOUT_ENTRIES, given);
  const others = sql.all<{ readonly number: number; readonly about: number }>(SAID_ABOUT_OTHERS, given);
  for (const { number, about } of others) {
    sql.run(`UPDATE uses SET sayers = sayers - 1 WHERE name = ? AND ${IS_ENTRY}`, number, about, about);
    sql.run(`DELETE FROM uses WHERE name = ? AND ${IS_ENTRY} AND sayers = 0`, number, about, about);
  }
  sql.run("UPDATE rows SET refs = NULL WHERE about IN (SELECT value FROM json_each(?))", given);
  return touched;
}

/** Call it after the rows are deleted. References are recorded text, and go with the last row that has them. */
function eraseNames(sql: Statements, numbers: readonly number[]): void {
  for (const number of numbers) {
    if (sql.get("SELECT 1 FROM uses WHERE name = ? LIMIT 1", number) !== undefined) continue;
    const { sql: carries, values } = carriesNumber(number);
    const stored = `SELECT 1 FROM use_spans CROSS JOIN rows NOT INDEXED ON rows.position BETWEEN oldest AND newest
      WHERE name = ? AND ${carries} LIMIT 1`;
    if (sql.get(stored, number, ...values) !== undefined) continue;
    sql.run("DELETE FROM use_spans WHERE name = ?", number);
    sql.run("DELETE FROM reference_names WHERE number = ?", number);
  }
}

const IS_ENTRY = "entry_ms = (SELECT created_ms FROM rows WHERE position = ?) AND entry = ?";
const GONE = "json_each(?) AS gone CROSS JOIN rows";
/** The reference numbers of a row, one by one. */
const SAID = "json_each('[' || trim(rows.refs, ',') || ']') AS said";

const TOUCHED = `
  SELECT said.value AS number FROM ${GONE} ON rows.position = gone.value, ${SAID}
  UNION
  SELECT said.value FROM ${GONE} ON rows.about = gone.value, ${SAID}`;

/** Without the cast, SQLite would scan all uses. */
const DELETE_SAID_BY_ENTRIES = `DELETE FROM uses WHERE (name, entry_ms, entry) IN (
  SELECT CAST(said.value AS INTEGER), rows.created_ms, rows.position
  FROM ${GONE} ON rows.position = gone.value, ${SAID})`;

const DELETE_SAID_ABOUT_ENTRIES = `DELETE FROM uses WHERE (name, entry_ms, entry) IN (
  SELECT CAST(said.value AS INTEGER), target.created_ms, target.position
  FROM ${GONE} ON rows.about = gone.value CROSS JOIN rows AS target ON target.position = rows.about, ${SAID})`;

const SAID_ABOUT_OTHERS = `SELECT said.value AS number, rows.about AS about
  FROM ${GONE} ON rows.position = gone.value, ${SAID} WHERE rows.about IS NOT NULL`;

export function sessionPositions(sql: Statements, range: SessionRange): readonly number[] {
  const { session_id, order, limit, after, above = 0, kinds, role } = range;
  const conditions = ["session_id = ?", "session_id <> ''", "position > ?"];
  const values: SqlValue[] = [toStoredText(session_id), above];
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
  // Both walk a session index backwards, past later rows, to the first row that existed.
  const then = "FROM rows WHERE session_id = given.value AND session_id <> '' AND position <= ?";
  const found = sql.all<Found>(
    `SELECT given.key AS at, (SELECT max(position) ${then}) AS position,
       (SELECT created_ms ${then} ORDER BY created_ms DESC LIMIT 1) AS last_ms FROM json_each(?) AS given`,
    ...[through, through, JSON.stringify(session_ids.map(toStoredText))],
  );
  return found.flatMap(({ at, last_ms, position }) =>
    position === null || last_ms === null ? [] : [{ session_id: itemAt(session_ids, at), last_ms, position }],
  );
}
