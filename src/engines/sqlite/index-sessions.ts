// Sessions in the index: summed up as rows are applied, so that a summary costs the same however long the session is.
import type { JsonObject } from "../../model/json.js";
import type { EntryRow, SessionFilter, SessionInfo, SessionRange, SessionRow } from "../../ports/entry-index.js";
import type { Statements } from "./statements.js";

interface StoredSession {
  readonly session_id: string;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly last_position: number;
  readonly consolidated_through: number;
  readonly cleared_through: number;
  readonly title: string;
  readonly parent: string;
  readonly metadata: string;
}

export function applyToSessions(sql: Statements, rows: readonly EntryRow[]): void {
  const bySession = new Map<string, EntryRow[]>();
  for (const row of rows) {
    if (row.session_id === "") continue;
    const known = bySession.get(row.session_id);
    if (known === undefined) bySession.set(row.session_id, [row]);
    else known.push(row);
  }
  for (const [session_id, own] of bySession) {
    addRows(sql, session_id, own);
    addKinds(sql, session_id, own);
    addLabels(sql, session_id, own);
    if (own.some((row) => row.info !== undefined)) mergeInfo(sql, session_id, own);
  }
}

function addRows(sql: Statements, session_id: string, rows: readonly EntryRow[]): void {
  const times = rows.map((row) => row.created_ms);
  sql.run(
    `INSERT INTO sessions (session_id, first_ms, last_ms, last_position, consolidated_through, cleared_through)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_id) DO UPDATE SET
       first_ms = min(first_ms, excluded.first_ms),
       last_ms = max(last_ms, excluded.last_ms),
       last_position = excluded.last_position,
       consolidated_through = max(consolidated_through, excluded.consolidated_through),
       cleared_through = max(cleared_through, excluded.cleared_through)`,
    session_id,
    Math.min(...times),
    Math.max(...times),
    (rows.at(-1) as EntryRow).position,
    Math.max(0, ...rows.map((row) => row.through ?? 0)),
    rows.findLast((row) => row.kind === "clear")?.position ?? 0,
  );
}

function addKinds(sql: Statements, session_id: string, rows: readonly EntryRow[]): void {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.kind, (counts.get(row.kind) ?? 0) + 1);
  for (const [kind, entries] of counts) {
    sql.run(
      `INSERT INTO session_kinds (session_id, kind, entries) VALUES (?, ?, ?)
       ON CONFLICT (session_id, kind) DO UPDATE SET entries = entries + excluded.entries`,
      session_id,
      kind,
      entries,
    );
  }
}

/** An empty label is kept too, for filters that ask for entries without one. */
function addLabels(sql: Statements, session_id: string, rows: readonly EntryRow[]): void {
  const seen = new Set<string>();
  for (const row of rows) {
    for (const what of ["project", "client"] as const) {
      const key = `${what}:${row[what]}`;
      if (seen.has(key)) continue;
      seen.add(key);
      sql.run("INSERT OR IGNORE INTO session_labels VALUES (?, ?, ?, ?)", session_id, what, row[what], row.position);
    }
  }
}

/** Sums a session up anew from the rows that are left of it, which may be none. */
export function sumUpAgain(sql: Statements, session_id: string): void {
  for (const table of ["sessions", "session_kinds", "session_labels"]) {
    sql.run(`DELETE FROM ${table} WHERE session_id = ?`, session_id);
  }
  const own = "FROM rows WHERE session_id = ? AND session_id <> ''";
  sql.run(
    `INSERT INTO sessions (session_id, first_ms, last_ms, last_position, consolidated_through, cleared_through)
     SELECT session_id, min(created_ms), max(created_ms), max(position), coalesce(max(through), 0),
       coalesce(max(CASE WHEN kind = 'clear' THEN position END), 0) ${own} GROUP BY session_id`,
    session_id,
  );
  sql.run(`INSERT INTO session_kinds SELECT session_id, kind, count(*) ${own} GROUP BY kind`, session_id);
  for (const what of ["project", "client"]) {
    sql.run(
      `INSERT INTO session_labels SELECT session_id, '${what}', ${what}, min(position) ${own} GROUP BY ${what}`,
      session_id,
    );
  }
  const infos = sql.all<{ readonly info: string }>(
    `SELECT info ${own} AND info IS NOT NULL ORDER BY position`,
    session_id,
  );
  if (infos.length > 0) {
    mergeInfo(
      sql,
      session_id,
      infos.map(({ info }) => ({ info: JSON.parse(info) as SessionInfo })),
    );
  }
}

/** Later ones win, key by key. */
function mergeInfo(sql: Statements, session_id: string, rows: readonly Pick<EntryRow, "info">[]): void {
  const known = sql.get<StoredSession>("SELECT * FROM sessions WHERE session_id = ?", session_id) as StoredSession;
  const infos = rows.flatMap((row) => row.info ?? []);
  const pairs = infos.flatMap((info) => Object.entries(info.metadata ?? {}));
  const metadata = Object.fromEntries([...Object.entries(JSON.parse(known.metadata) as JsonObject), ...pairs]);
  sql.run(
    "UPDATE sessions SET title = ?, parent = ?, metadata = ? WHERE session_id = ?",
    infos.findLast((info) => info.title !== undefined)?.title ?? known.title,
    infos.findLast((info) => info.parent !== undefined)?.parent ?? known.parent,
    JSON.stringify(metadata),
    session_id,
  );
}

export function getSession(sql: Statements, session_id: string): SessionRow | undefined {
  const stored = sql.get<StoredSession>("SELECT * FROM sessions WHERE session_id = ?", session_id);
  return stored === undefined ? undefined : toSessionRow(sql, stored);
}

function toSessionRow(sql: Statements, stored: StoredSession): SessionRow {
  const { session_id } = stored;
  const kinds = sql.all<{ readonly kind: string; readonly entries: number }>(
    "SELECT kind, entries FROM session_kinds WHERE session_id = ?",
    session_id,
  );
  const labels = sql.all<{ readonly what: string; readonly label: string }>(
    "SELECT what, label FROM session_labels WHERE session_id = ? AND label <> '' ORDER BY position",
    session_id,
  );
  const labelsOf = (what: string): readonly string[] =>
    labels.filter((row) => row.what === what).map((row) => row.label);
  return {
    ...stored,
    metadata: JSON.parse(stored.metadata) as JsonObject,
    projects: labelsOf("project"),
    clients: labelsOf("client"),
    entries: kinds.reduce((sum, row) => sum + row.entries, 0),
    by_kind: Object.fromEntries(kinds.map((row) => [row.kind, row.entries])),
  };
}

/** Sessions that did not change since `as_of` come from their index; the few that did are looked up one by one. */
export function listSessions(
  sql: Statements,
  query: {
    readonly filter: SessionFilter;
    readonly as_of: number;
    readonly before?: number;
    readonly limit: number;
  },
): readonly { readonly position: number; readonly session: SessionRow }[] {
  const { filter, as_of, limit } = query;
  const before = Math.min(query.before ?? Number.MAX_SAFE_INTEGER, as_of + 1);
  const { condition, values } = labelCondition(filter);
  const unchanged = sql.all<{ readonly session_id: string; readonly position: number }>(
    `SELECT session_id, last_position AS position FROM sessions
     WHERE last_position < ?${condition} ORDER BY last_position DESC LIMIT ?`,
    before,
    ...values,
    limit,
  );
  const changed = sql.all<{ readonly session_id: string; readonly position: number | null }>(
    `SELECT session_id, (
       SELECT max(position) FROM rows
       WHERE rows.session_id = sessions.session_id AND rows.session_id <> '' AND position <= ?
     ) AS position FROM sessions WHERE last_position > ?${condition}`,
    as_of,
    as_of,
    ...values,
  );
  return [...unchanged, ...changed.filter((row) => row.position !== null && row.position < before)]
    .map((row) => ({ session_id: row.session_id, position: row.position as number }))
    .sort((left, right) => right.position - left.position)
    .slice(0, limit)
    .map(({ session_id, position }) => ({ position, session: getSession(sql, session_id) as SessionRow }));
}

function labelCondition(filter: SessionFilter): { readonly condition: string; readonly values: readonly string[] } {
  const conditions: string[] = [];
  const values: string[] = [];
  for (const what of ["project", "client"] as const) {
    const label = filter[what];
    if (label === undefined) continue;
    conditions.push(` AND EXISTS (SELECT 1 FROM session_labels l
      WHERE l.session_id = sessions.session_id AND l.what = '${what}' AND l.label = ?)`);
    values.push(label);
  }
  return { condition: conditions.join(""), values };
}

export function sessionPositions(sql: Statements, range: SessionRange): readonly number[] {
  const { session_id, order, limit, after, above = 0, kinds, role } = range;
  const conditions = ["session_id = ?", "session_id <> ''", "position > ?"];
  const values: unknown[] = [session_id, above];
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
  const rows = sql.all<{ readonly position: number }>(
    `SELECT position FROM rows WHERE ${conditions.join(" AND ")} ORDER BY position ${order === "asc" ? "ASC" : "DESC"} LIMIT ?`,
    ...values,
    limit,
  );
  return rows.map((row) => row.position);
}
