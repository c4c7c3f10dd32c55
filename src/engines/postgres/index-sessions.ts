// Sessions in the index: summed up as rows are applied, so that a summary costs the same however long the session is.
import type { JsonObject } from "../../model/json.js";
import type { EntryRow, SessionFilter, SessionInfo, SessionRange, SessionRow } from "../../ports/entry-index.js";
import { columnsOf } from "./columns.js";
import type { Session } from "./connection.js";
import { Conditions, groupBy, storable, unstored } from "./index-filter.js";

interface StoredSession {
  readonly session_id: string;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly last_position: number;
  readonly consolidated_through: number;
  readonly cleared_through: number;
  readonly info: string;
  readonly kinds: string | null;
  readonly labels: string | null;
}

/** One statement for each table, however many sessions a batch touches. */
export async function applyToSessions(session: Session, rows: readonly EntryRow[]): Promise<void> {
  const bySession = groupBy(
    rows.filter((row) => row.session_id !== ""),
    (row) => storable(row.session_id),
  );
  if (bySession.size === 0) return;
  const sums = [...bySession].map(([id, own]) => sumUp(id, own));
  const kinds = [...bySession].flatMap(([id, own]) => kindCounts(id, own));
  const labels = [...bySession].flatMap(([id, own]) => firstLabels(id, own));
  await session.query(sessionsStatement, columnsOf(sums, 6));
  await session.query(kindsStatement, columnsOf(kinds, 3));
  await session.query(labelsStatement, columnsOf(labels, 4));
  const told = [...bySession].filter(([, own]) => own.some((row) => row.info !== undefined));
  for (const [id, own] of told) await mergeInfo(session, id, own);
}

const sessionsStatement = {
  name: "hansard_index_sessions",
  text: `INSERT INTO hansard_index_sessions AS s
      (session_id, first_ms, last_ms, last_position, consolidated_through, cleared_through)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
    ON CONFLICT (session_id) DO UPDATE SET
      first_ms = least(s.first_ms, excluded.first_ms),
      last_ms = greatest(s.last_ms, excluded.last_ms),
      last_position = excluded.last_position,
      consolidated_through = greatest(s.consolidated_through, excluded.consolidated_through),
      cleared_through = greatest(s.cleared_through, excluded.cleared_through)`,
};

const kindsStatement = {
  name: "hansard_index_session_kinds",
  text: `INSERT INTO hansard_index_session_kinds AS k (session_id, kind, entries)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
    ON CONFLICT (session_id, kind) DO UPDATE SET entries = k.entries + excluded.entries`,
};

/** An empty label is kept too, for filters that ask for entries without one. */
const labelsStatement = {
  name: "hansard_index_session_labels",
  text: `INSERT INTO hansard_index_session_labels (session_id, what, label, position)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) ON CONFLICT DO NOTHING`,
};

function sumUp(session_id: string, rows: readonly EntryRow[]): readonly unknown[] {
  const times = rows.map((row) => row.created_ms);
  return [
    session_id,
    Math.min(...times),
    Math.max(...times),
    (rows.at(-1) as EntryRow).position,
    Math.max(0, ...rows.map((row) => row.through ?? 0)),
    rows.findLast((row) => row.kind === "clear")?.position ?? 0,
  ];
}

function kindCounts(session_id: string, rows: readonly EntryRow[]): readonly (readonly unknown[])[] {
  return [...groupBy(rows, (row) => row.kind)].map(([kind, own]) => [session_id, kind, own.length]);
}

function firstLabels(session_id: string, rows: readonly EntryRow[]): readonly (readonly unknown[])[] {
  const seen = new Set<string>();
  return rows.flatMap((row) =>
    (["project", "client"] as const).flatMap((what) => {
      const key = `${what}:${row[what]}`;
      if (seen.has(key)) return [];
      seen.add(key);
      return [[session_id, what, storable(row[what]), row.position]];
    }),
  );
}

/** Later ones win, key by key. */
export async function mergeInfo(
  session: Session,
  session_id: string,
  rows: readonly Pick<EntryRow, "info">[],
): Promise<void> {
  const text = "SELECT info FROM hansard_index_sessions WHERE session_id = $1";
  const [known] = await session.query<{ readonly info: string }>({ text }, [session_id]);
  let info = JSON.parse(known?.info ?? "{}") as SessionInfo;
  for (const { info: said } of rows) {
    if (said === undefined) continue;
    const pairs = [...Object.entries(info.metadata ?? {}), ...Object.entries(said.metadata ?? {})];
    info = { ...info, ...said, metadata: Object.fromEntries(pairs) as JsonObject };
  }
  await session.query({ text: "UPDATE hansard_index_sessions SET info = $2 WHERE session_id = $1" }, [
    session_id,
    JSON.stringify(info),
  ]);
}

const SESSION_COLUMNS = `s.*,
  (SELECT json_object_agg(kind, entries)::text FROM hansard_index_session_kinds k WHERE k.session_id = s.session_id)
    AS kinds,
  (SELECT json_agg(json_build_array(what, label) ORDER BY position)::text FROM hansard_index_session_labels l
    WHERE l.session_id = s.session_id AND label <> '') AS labels`;

export async function getSession(session: Session, session_id: string): Promise<SessionRow | undefined> {
  const text = `SELECT ${SESSION_COLUMNS} FROM hansard_index_sessions s WHERE session_id = $1`;
  const [stored] = await session.query<StoredSession>({ name: "hansard_index_session", text }, [storable(session_id)]);
  return stored === undefined ? undefined : toSessionRow(stored);
}

function toSessionRow(stored: StoredSession): SessionRow {
  const kinds = JSON.parse(stored.kinds ?? "{}") as { readonly [kind: string]: number };
  const labels = JSON.parse(stored.labels ?? "[]") as readonly (readonly [what: string, label: string])[];
  const info = JSON.parse(stored.info) as SessionInfo;
  const labelsOf = (wanted: string): readonly string[] =>
    labels.filter(([what]) => what === wanted).map(([, label]) => unstored(label));
  const { first_ms, last_ms, last_position, consolidated_through, cleared_through } = stored;
  return {
    session_id: unstored(stored.session_id),
    title: info.title ?? "",
    parent: info.parent ?? "",
    metadata: info.metadata ?? {},
    ...{ first_ms, last_ms, last_position, consolidated_through, cleared_through },
    projects: labelsOf("project"),
    clients: labelsOf("client"),
    entries: Object.values(kinds).reduce((sum, entries) => sum + entries, 0),
    by_kind: kinds,
  };
}

/** Sessions that did not change since `as_of` come from their index; the few that did are looked up one by one. */
export async function listSessions(
  session: Session,
  query: {
    readonly filter: SessionFilter;
    readonly as_of: number;
    readonly before?: number;
    readonly limit: number;
  },
): Promise<readonly { readonly position: number; readonly session: SessionRow }[]> {
  const where = new Conditions();
  const before = where.bind(Math.min(query.before ?? Number.MAX_SAFE_INTEGER, query.as_of + 1));
  const asOf = where.bind(query.as_of);
  const limit = where.bind(query.limit);
  for (const what of ["project", "client"] as const) {
    const label = query.filter[what];
    if (label === undefined) continue;
    where.add(`EXISTS (SELECT 1 FROM hansard_index_session_labels l
      WHERE l.session_id = s.session_id AND l.what = '${what}' AND l.label = ${where.bind(storable(label))})`);
  }
  const text = `
    WITH newest AS (
      (SELECT session_id, last_position AS newest FROM hansard_index_sessions s
        WHERE last_position < ${before} AND ${where.sql} ORDER BY last_position DESC LIMIT ${limit})
      UNION ALL
      SELECT session_id, newest FROM (
        SELECT s.session_id, (SELECT max(r.position) FROM hansard_index_rows r
          WHERE r.session_id = s.session_id AND r.session_id <> '' AND r.position <= ${asOf}) AS newest
        FROM hansard_index_sessions s WHERE last_position > ${asOf} AND ${where.sql}
      ) changed WHERE newest < ${before}
      ORDER BY newest DESC LIMIT ${limit}
    )
    SELECT n.newest, ${SESSION_COLUMNS} FROM newest n JOIN hansard_index_sessions s USING (session_id)
    ORDER BY n.newest DESC`;
  const rows = await session.query<StoredSession & { readonly newest: number }>({ text }, where.values);
  return rows.map((row) => ({ position: row.newest, session: toSessionRow(row) }));
}

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
