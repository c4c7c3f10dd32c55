// Rows of the index: inserted and erased within the transaction of a batch, listed by session, and counted.

import type { EntryRow, RowCounts, SessionPlace, SessionPlacesQuery, SessionRange } from "../../index/port.js";
import { itemAt } from "../../model/item-at.js";
import type { JsonObject } from "../../model/json.js";
import { columnsOf } from "./columns.js";
import type { Session } from "./driver.js";
import { Conditions, fromStoredText, toStoredText } from "./index-filter.js";
import {
  addUses,
  eraseUses,
  fromStoredReferences,
  subjectTimes,
  toStoredReferences,
  withoutDanglingReferences,
} from "./index-references.js";

export async function addRows(session: Session, given: readonly EntryRow[]): Promise<void> {
  if (given.length === 0) return;
  const times = await subjectTimes(session, given);
  const rows = given.map((row) => withoutDanglingReferences(row, times));
  const values = rows.map((row) => [
    ...[row.position, row.created_ms, row.kind],
    ...[row.session_id, row.project, row.client, row.role ?? ""].map(toStoredText),
    ...[row.about ?? null, toStoredReferences(row.references)],
    row.facts === undefined ? null : JSON.stringify(row.facts),
  ]);
  await session.query(insertStatement, columnsOf(values, 10));
  await addUses(session, rows, times);
  for (const what of COUNTED) await add(session, what, rows);
}

const insertStatement = {
  name: "hansard_index_rows",
  text: `INSERT INTO hansard_index_rows
      (position, created_ms, kind, session_id, project, client, role, about, refs, facts)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::bigint[], $9::text[], $10::text[])`,
};

/** Deletes rows and everything derived from them. */
export async function eraseRows(session: Session, positions: readonly number[]): Promise<void> {
  // Another server may just be adding texts of these entries, read before they were erased.
  await session.query({ text: "SELECT 1 FROM hansard_index_checkpoints WHERE name = 'texts' FOR UPDATE" });
  await session.query({ text: "DELETE FROM hansard_index_texts WHERE position = ANY ($1::bigint[])" }, [positions]);
  await eraseUses(session, positions);
  const text = "DELETE FROM hansard_index_rows WHERE position = ANY ($1::bigint[]) RETURNING kind, project";
  const gone = await session.query<{ readonly kind: string; readonly project: string }>({ text }, [positions]);
  if (gone.length > 0) for (const what of COUNTED) await subtract(session, what, gone);
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

export async function rowsAt(session: Session, positions: readonly number[]): Promise<readonly EntryRow[]> {
  if (positions.length === 0) return [];
  const text = "SELECT * FROM hansard_index_rows WHERE position = ANY ($1::bigint[]) ORDER BY position";
  const stored = await session.query<StoredRow>({ text }, [positions]);
  return stored.map(({ position, created_ms, kind, session_id, project, client, role, about, refs, facts }) => ({
    position,
    created_ms,
    kind,
    session_id: fromStoredText(session_id),
    project: fromStoredText(project),
    client: fromStoredText(client),
    references: fromStoredReferences(refs),
    ...(role === "" ? {} : { role: fromStoredText(role) }),
    ...(about === null ? {} : { about }),
    ...(facts === null ? {} : { facts: JSON.parse(facts) as JsonObject }),
  }));
}

/** One statement, so all counts are of the same snapshot. */
export async function countRows(session: Session): Promise<RowCounts> {
  const [row] = await session.query<{
    readonly kinds: string | null;
    readonly projects: string | null;
    readonly first_ms: number | null;
    readonly last_ms: number | null;
  }>({ name: "hansard_index_count", text: COUNT_SQL });
  const byKind = JSON.parse(row?.kinds ?? "{}") as { readonly [kind: string]: number };
  const projects = (JSON.parse(row?.projects ?? "[]") as readonly (readonly [string, number])[])
    .map(([project, entries]) => ({ project: fromStoredText(project), entries }))
    .sort((left, right) => right.entries - left.entries || (left.project < right.project ? -1 : 1));
  return {
    entries: Object.values(byKind).reduce((sum, entries) => sum + entries, 0),
    by_kind: byKind,
    projects,
    ...(row?.first_ms == null || row.last_ms == null ? {} : { first_ms: row.first_ms, last_ms: row.last_ms }),
  };
}

const COUNT_SQL = `SELECT
  (SELECT json_object_agg(kind, entries)::text FROM hansard_index_kinds) AS kinds,
  (SELECT json_agg(json_build_array(project, entries))::text FROM hansard_index_projects) AS projects,
  (SELECT min(created_ms) FROM hansard_index_rows) AS first_ms,
  (SELECT max(created_ms) FROM hansard_index_rows) AS last_ms`;

const COUNTED = ["kind", "project"] as const;
type Counted = (typeof COUNTED)[number];

async function add(session: Session, what: Counted, rows: readonly EntryRow[]): Promise<void> {
  const counts = countBy(rows.map((row) => toStoredText(row[what])));
  const text = `INSERT INTO hansard_index_${what}s AS c (${what}, entries) SELECT * FROM unnest($1::text[], $2::bigint[])
    ON CONFLICT (${what}) DO UPDATE SET entries = c.entries + excluded.entries`;
  await session.query({ name: `hansard_index_${what}s`, text }, columnsOf(counts, 2));
}

async function subtract(session: Session, what: Counted, gone: readonly Pick<EntryRow, Counted>[]): Promise<void> {
  const counts = countBy(gone.map((row) => row[what]));
  const text = `UPDATE hansard_index_${what}s c SET entries = c.entries - gone.entries
    FROM unnest($1::text[], $2::bigint[]) AS gone (key, entries) WHERE c.${what} = gone.key`;
  await session.query({ text }, columnsOf(counts, 2));
  await session.query({ text: `DELETE FROM hansard_index_${what}s WHERE entries <= 0` });
}

function countBy(keys: readonly string[]): readonly (readonly [key: string, entries: number])[] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts];
}

export async function sessionPositions(session: Session, range: SessionRange): Promise<readonly number[]> {
  const { session_id, order, limit, after, above = 0, kinds, role } = range;
  const where = new Conditions();
  where.add(
    `session_id = ${where.bind(toStoredText(session_id))} AND session_id <> '' AND position > ${where.bind(above)}`,
  );
  if (after !== undefined) where.add(`position ${order === "asc" ? ">" : "<"} ${where.bind(after)}`);
  if (kinds !== undefined) where.add(`kind = ANY (${where.bind(kinds)}::text[])`);
  // The literal lets PostgreSQL use the partial index of system messages.
  if (role === "system") where.add("role = 'system'");
  else if (role !== undefined) where.add(`role = ${where.bind(toStoredText(role))}`);
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
  // Both walk a session index backwards, past later rows, to the first row that existed.
  const then = `FROM hansard_index_rows r
      WHERE r.session_id = given.session_id AND r.session_id <> '' AND r.position <= $2`;
  const text = `SELECT given.at, latest.created_ms AS last_ms, newest.position
    FROM unnest($1::text[]) WITH ORDINALITY AS given (session_id, at)
    CROSS JOIN LATERAL (SELECT r.position ${then} ORDER BY r.position DESC LIMIT 1) newest
    CROSS JOIN LATERAL (SELECT r.created_ms ${then} ORDER BY r.created_ms DESC, r.position DESC LIMIT 1) latest`;
  type Found = { readonly at: number; readonly last_ms: number; readonly position: number };
  const found = await session.query<Found>({ text }, [session_ids.map(toStoredText), through]);
  return found.map(({ at, last_ms, position }) => ({ session_id: itemAt(session_ids, at - 1), last_ms, position }));
}
