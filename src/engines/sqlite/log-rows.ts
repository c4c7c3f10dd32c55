// The statements of the log, and how their rows become entries and bodies.
import { hash as hashOf } from "node:crypto";
import { IN_PARTS, type LogRow, PLAIN, rowToEntry, unknownEncoding } from "../../log/log-row.js";
import type { StoredBody, StoredEntry } from "../../log/port.js";
import { lastingKinds } from "../../model/body.js";
import { NOT_RECORDED, SALT_BYTES } from "../../model/chain.js";
import { PiecesError } from "../parts/pieces.js";
import type { Database, SqlValue, Statement } from "./driver.js";
import { ERASED, PURGE_MARK, SECOND_FORMAT_VERSION } from "./log-schema.js";
import { versionOf } from "./migrations.js";

/** The first columns of every body row. */
type Head = readonly [
  position: number,
  kind: string,
  recorded_at: string,
  recorded_by: string | null,
  hash: string,
  encoding: number | null,
];

type BodyRow = readonly [
  ...head: Head,
  /** Set for a body in parts; otherwise the salt is in front of the body. */
  salt: Buffer | null,
  salted_body: Buffer | null,
  salt_bytes: number | null,
  commitment: string,
];

/** Salts and bodies of several entries in one buffer, and the other columns as JSON. */
type JoinedRows = readonly [salted_bodies: Buffer | null, heads: string];
type JoinedHead = readonly [...head: Head, salt_bytes: number | null, body_bytes: number | null, commitment: string];

/** Read together up to this size, since creating each row takes longer than reading it. */
const TOGETHER_BYTES_MAX = 1024 * 1024;

/** Joins a body in parts, behind the given bytes. */
export type Join = (taken: Buffer, before: Buffer) => Buffer;

/** The positions as JSON: one statement, since each takes the file's locks. */
function positionsJson(positions: readonly number[]): string {
  return JSON.stringify(positions);
}

/** In the requested order; undefined where there is none. */
function inOrder<T extends { readonly position: number }>(
  positions: readonly number[],
  found: readonly T[],
): readonly (T | undefined)[] {
  if (found.length === positions.length) return found;
  const byPosition = new Map(found.map((one) => [one.position, one]));
  return positions.map((position) => byPosition.get(position));
}

function rowToWhole(row: LogRow, join: Join): StoredEntry {
  if (row.encoding !== IN_PARTS || row.salt === null || row.body === null) return rowToEntry(row);
  try {
    // Salt and body together, as they are hashed.
    const salted = join(row.body, row.salt);
    const salt = salted.subarray(0, row.salt.length);
    return rowToEntry({ ...row, encoding: PLAIN, salt, body: salted.subarray(row.salt.length) });
  } catch (error) {
    return { ...rowToEntry({ ...row, salt: null, body: null }), flaw: flawOf(error) };
  }
}

function placedIn([position, kind, recorded_at, by, hash]: readonly [...Head, ...unknown[]]): StoredBody {
  return { position, kind, recorded_at, recorded_by: by ?? undefined, hash };
}

const NOTHING = Buffer.alloc(0);

function rowToBody(row: BodyRow, join: Join): StoredBody {
  const placed = placedIn(row);
  const [, , , , , encoding, salt, kept, saltBytes, commitment] = row;
  if (kept === null) return placed;
  if (encoding !== PLAIN && encoding !== IN_PARTS) return { ...placed, flaw: unknownEncoding(encoding) };
  try {
    const salted = salt === null ? kept : join(kept, salt);
    if (!isRecorded(salted, saltBytes, commitment)) return { ...placed, flaw: NOT_RECORDED };
    return { ...placed, body: salted.toString("utf8", SALT_BYTES) };
  } catch (error) {
    return { ...placed, flaw: flawOf(error) };
  }
}

function toBodies([kept, heads]: JoinedRows): readonly StoredBody[] {
  const bytes = kept ?? NOTHING;
  let end = 0;
  return (JSON.parse(heads) as readonly JoinedHead[]).map((head): StoredBody => {
    const placed = placedIn(head);
    const [, , , , , encoding, saltBytes, bodyBytes, commitment] = head;
    if (saltBytes === null || bodyBytes === null) return placed;
    const from = end;
    end += saltBytes + bodyBytes;
    if (encoding !== PLAIN) return { ...placed, flaw: unknownEncoding(encoding) };
    if (!isRecorded(bytes.subarray(from, end), saltBytes, commitment)) return { ...placed, flaw: NOT_RECORDED };
    return { ...placed, body: bytes.toString("utf8", from + SALT_BYTES, end) };
  });
}

function isRecorded(salted: Buffer, saltBytes: number | null, commitment: string): boolean {
  return saltBytes === SALT_BYTES && hashOf("sha256", salted, "hex") === commitment;
}

function flawOf(error: unknown): string {
  if (error instanceof PiecesError) return `${NOT_RECORDED}: ${error.message}`;
  throw error;
}

/** How the rows of a statement are read, and the size of each. */
export interface RowForm<R, T> {
  readonly toItem: (row: R, join: Join) => T;
  readonly bytesOf: (item: T) => number;
  readonly isInParts: (row: R) => boolean;
}

export const wholeRow: RowForm<LogRow, StoredEntry> = {
  toItem: rowToWhole,
  bytesOf: ({ body }) => body?.length ?? 0,
  isInParts: ({ encoding }) => encoding === IN_PARTS,
};
export const bodyRow: RowForm<BodyRow, StoredBody> = {
  toItem: rowToBody,
  bytesOf: ({ body }) => body?.length ?? 0,
  isInParts: ([, , , , , encoding]) => encoding === IN_PARTS,
};

interface ReadRows<T> {
  readonly found: readonly T[];
  readonly isCut: boolean;
}

/** Reads rows up to a limit on the bytes of bodies. */
export class RowReader {
  readonly #guard: <T>(work: () => T) => T;
  readonly #join: Join;

  constructor(parts: { readonly guard: <T>(work: () => T) => T; readonly join: Join }) {
    this.#guard = parts.guard;
    this.#join = parts.join;
  }

  readAt<R, T extends { readonly position: number }>(
    statement: Statement,
    positions: readonly number[],
    row: RowForm<R, T>,
    bytes_max: number | undefined,
  ): readonly (T | undefined)[] {
    const { found, isCut } = this.read(statement, [positionsJson(positions)], row, bytes_max);
    return inOrder(isCut ? positions.slice(0, positions.indexOf(found.at(-1)?.position ?? 0) + 1) : positions, found);
  }

  /** Together if they are small and whole, otherwise row by row. */
  readBodiesAt(
    statements: { readonly together: Statement; readonly each: Statement },
    positions: readonly number[],
    bytes_max: number | undefined,
  ): readonly (StoredBody | undefined)[] {
    const found = this.#guard(() => {
      const asked = positionsJson(positions);
      const bytesMax = Math.min(bytes_max ?? TOGETHER_BYTES_MAX, TOGETHER_BYTES_MAX);
      return toBodies(statements.together.get(asked, asked, bytesMax) as JoinedRows);
    });
    // Empty if it would be too much, or if nothing was found.
    return found.length === 0 ? this.readAt(statements.each, positions, bodyRow, bytes_max) : inOrder(positions, found);
  }

  /** Row by row if there is a limit, since each may be large; otherwise all at once, which is faster. */
  read<R, T>(
    statement: Statement,
    values: readonly SqlValue[],
    form: RowForm<R, T>,
    bytes_max: number | undefined,
  ): ReadRows<T> {
    return this.#guard(() => {
      if (bytes_max !== undefined) return this.#takeEach(statement, values, form, bytes_max);
      const rows = statement.all(...values) as readonly R[];
      if (rows.some(form.isInParts)) return this.#takeEach(statement, values, form, Number.POSITIVE_INFINITY);
      return { found: rows.map((row) => form.toItem(row, this.#join)), isCut: false };
    });
  }

  /** While rows are iterated, parts are of the same snapshot, even if others erase some. */
  #takeEach<R, T>(
    statement: Statement,
    values: readonly SqlValue[],
    { toItem, bytesOf }: RowForm<R, T>,
    bytes_max: number,
  ): ReadRows<T> {
    const found: T[] = [];
    let bytes = 0;
    for (const row of statement.iterate(...values) as IterableIterator<R>) {
      const item = toItem(row, this.#join);
      found.push(item);
      bytes += bytesOf(item);
      if (bytes >= bytes_max) return { found, isCut: true };
    }
    return { found, isCut: false };
  }
}

/** Readers do not migrate an older file, which lacks these columns. */
function columnsOf(db: Database): { readonly [what in "entry" | "body" | "together"]: string } {
  const isOlder = versionOf(db) < SECOND_FORMAT_VERSION;
  const by = isOlder ? "NULL" : "e.recorded_by";
  const digest = isOlder ? "NULL AS claims_digest" : "e.claims_digest";
  return {
    entry: `e.position, e.kind, e.recorded_at, ${by} AS recorded_by, ${digest}, e.commitment, e.hash, b.salt, b.encoding, b.body`,
    // One buffer of what is hashed, since each buffer costs as much as several texts.
    body: `e.position, e.kind, e.recorded_at, ${by}, lower(hex(e.hash)), b.encoding, iif(b.encoding = ${IN_PARTS}, b.salt, NULL),
      iif(b.encoding = ${IN_PARTS}, b.body, CAST(b.salt || b.body AS BLOB)), length(b.salt), lower(hex(e.commitment))`,
    // All bytes in one buffer, all other columns in one text.
    together: `CAST(group_concat(CAST(b.salt || b.body AS TEXT), '') AS BLOB), json_group_array(json_array(e.position, e.kind,
      e.recorded_at, ${by}, lower(hex(e.hash)), b.encoding, length(b.salt), length(b.body), lower(hex(e.commitment))))`,
  };
}

/** In the given order; only integers, since nothing else is a position. */
const GIVEN = "json_each(?) g CROSS JOIN entries e ON e.position = g.value";
const HAS_BODY = `b.position = e.position AND b.encoding <> ${ERASED}`;
/** Total size of bodies; those in parts count as too large, since they need to be read one by one. */
const GIVEN_BYTES = `(SELECT total(iif(b.encoding = ${IN_PARTS}, 1e18, length(b.body)))
  FROM json_each(?) g CROSS JOIN bodies b ON b.position = g.value)`;
const JOINED = `entries e LEFT JOIN bodies b ON ${HAS_BODY}`;

/**
 * Inserts the rows of one entry with one statement, which is a transaction of its own and is bound and stepped once
 * instead of three times: a tenth of a lone commit. The view belongs to the connection, not to the file.
 */
const ARRIVALS = `
  CREATE TEMP VIEW arrivals AS
    SELECT position, kind, recorded_at, recorded_by, claims_digest, commitment, hash, NULL AS salt,
      NULL AS encoding, NULL AS body, NULL AS claim
    FROM entries;
  CREATE TEMP TRIGGER arrivals_taken INSTEAD OF INSERT ON arrivals BEGIN
    INSERT INTO entries (position, kind, recorded_at, recorded_by, claims_digest, commitment, hash) VALUES
      (NEW.position, NEW.kind, NEW.recorded_at, NEW.recorded_by, NEW.claims_digest, NEW.commitment, NEW.hash);
    INSERT INTO bodies (position, salt, encoding, body) VALUES (NEW.position, NEW.salt, NEW.encoding, NEW.body);
    INSERT INTO claims (claim, position) VALUES (NEW.claim, NEW.position);
  END;
`;

export type LogStatements = {
  readonly [name in
    | "begin"
    | "commit"
    | "readLogId"
    | "writeLogId"
    | "readTip"
    | "readAfter"
    | "get"
    | "readBodiesAfter"
    | "getBodies"
    | "getTogether"
    | "findClaim"
    | "redactionsAfter"
    | "insertBody"
    | "insertClaim"
    | "isErasable"
    | "insertErasure"
    | "markForPurge"]: Statement;
};

/** Only for writers; a reading connection cannot create it. */
export function prepareArrival(db: Database): Statement {
  db.exec(ARRIVALS);
  return db.prepare("INSERT INTO arrivals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
}

/** For entries of a copy; prepared on use, since an older file that is only read lacks the columns. */
export function prepareCopied(db: Database): Statement {
  return db.prepare(`INSERT INTO entries (position, kind, recorded_at, recorded_by, claims_digest, commitment, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
}

export function prepareLog(db: Database): LogStatements {
  const columns = columnsOf(db);
  const lasting = lastingKinds.map((kind) => `'${kind}'`).join(", ");
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    readLogId: db.prepare("SELECT value FROM meta WHERE name = 'log_id'"),
    writeLogId: db.prepare("UPDATE meta SET value = ? WHERE name = 'log_id'"),
    readTip: db.prepare("SELECT position, hash FROM entries ORDER BY position DESC LIMIT 1"),
    readAfter: db.prepare(`SELECT ${columns.entry} FROM ${JOINED} WHERE e.position > ? ORDER BY e.position LIMIT ?`),
    readBodiesAfter: db
      .prepare(`SELECT ${columns.body} FROM ${JOINED} WHERE e.position > ? ORDER BY e.position LIMIT ?`)
      .raw(),
    get: db.prepare(`SELECT ${columns.entry} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY}`),
    getBodies: db.prepare(`SELECT ${columns.body} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY}`).raw(),
    getTogether: db
      .prepare(`SELECT ${columns.together} FROM ${GIVEN} LEFT JOIN bodies b ON ${HAS_BODY} WHERE ${GIVEN_BYTES} < ?`)
      .raw(),
    findClaim: db.prepare("SELECT position FROM claims WHERE claim = ?"),
    // One statement, so nothing is appended in between.
    redactionsAfter: db.prepare(`SELECT (SELECT coalesce(max(position), 0) FROM entries) AS through,
      (SELECT json_group_array(position) FROM entries WHERE position > ? AND kind = 'redaction') AS positions`),
    insertBody: db.prepare("INSERT INTO bodies (position, salt, encoding, body) VALUES (?, ?, ?, ?)"),
    insertClaim: db.prepare("INSERT INTO claims (claim, position) VALUES (?, ?)"),
    isErasable: db.prepare(`SELECT 1 FROM entries WHERE position = ? AND kind NOT IN (${lasting})`),
    insertErasure: db.prepare(`INSERT INTO erasures (position, redaction) SELECT :position, :redaction
      WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE position = :position)`),
    markForPurge: db.prepare(`INSERT OR IGNORE INTO meta (name, value) VALUES ('${PURGE_MARK}', '1')`),
  };
}

/** One statement, so concurrent appends are seen whole or not at all. */
export const orphanQuery = `
  WITH head AS (SELECT coalesce(max(position), 0) AS position FROM entries)
  SELECT position, 'stored data was never recorded as an entry' AS reason FROM (
    SELECT min(position) AS position FROM entries WHERE position < 1
    UNION ALL SELECT min(position) FROM bodies WHERE position < 1
    UNION ALL SELECT min(position) FROM bodies WHERE position > (SELECT position FROM head)
    UNION ALL SELECT min(position) FROM claims WHERE position < 1 OR position > (SELECT position FROM head)
    UNION ALL SELECT min(position) FROM erasures WHERE position < 1
    UNION ALL SELECT min(position) FROM erasures WHERE position > (SELECT position FROM head)
    UNION ALL SELECT min(position) FROM erasures JOIN bodies USING (position) WHERE encoding = ${ERASED}
      AND (salt <> zeroblob(length(salt)) OR body <> zeroblob(length(body)))
  ) WHERE position IS NOT NULL ORDER BY position LIMIT 1`;

export const keptClaims = "SELECT claim, position FROM claims WHERE position > ? AND position <= ?";

export const erasuresAfter = "SELECT position, redaction FROM erasures WHERE position > ? ORDER BY position LIMIT ?";
