// The statements of the log, how a batch becomes their values, and how their rows become entries and bodies.

import { createHash } from "node:crypto";
import { IN_PARTS, type LogRow, PLAIN, rowToEntry, unknownEncoding } from "../../log/log-row.js";
import type { Head, StoredBody, StoredEntry } from "../../log/port.js";
import { lastingKinds } from "../../model/body.js";
import { HASH_BYTES, NOT_RECORDED, SALT_BYTES } from "../../model/chain.js";
import { claimKey } from "../../model/claims.js";
import { Fault } from "../../model/fault.js";
import { hexOf } from "../../model/hex.js";
import type { Connections, Statement } from "./driver.js";
import { codeOf } from "./faults.js";
import { readWhole, type SplitBody, type WholeBody } from "./part-reading.js";
import type { SplitBatch } from "./part-splitting.js";

/** An entry with its position, ready to be written. */
export interface PlacedEntry {
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by?: string | undefined;
  readonly claims_digest?: Uint8Array | undefined;
  readonly commitment: Uint8Array;
  readonly hash: Uint8Array;
  readonly salt?: Uint8Array;
  readonly body?: Uint8Array;
  readonly claims: readonly string[];
}

/** The channel that tells every server that the log has grown. */
export const GROWTH_CHANNEL = "hansard_growth";

/**
 * Inserts head, entries, bodies and claims with one statement: one round trip and, alone, one transaction. It moves the
 * head only from where the caller expects it; otherwise it writes nothing and returns no row. All bytes travel as a few
 * long values that are cut here, since each value costs more than its bytes, and the statement stays the same for any
 * number of entries.
 */
const appendStatement: Statement = { name: "hansard_append", isQuick: true, text: appendText("") };

/** As `appendStatement`, with bodies that refer to parts, and new parts. */
const appendInPartsStatement: Statement = {
  name: "hansard_append_in_parts",
  isQuick: true,
  text: appendText(`, new_parts AS (
      INSERT INTO hansard_parts (start, follows, whole_bytes, digest, bytes)
      SELECT start, follows, whole_bytes, digest, substr($24::bytea, part_from, part_bytes)
      FROM unnest($18::bigint[], $19::bigint[], $20::int[], $21::uuid[], $22::int[], $23::int[])
        AS p (start, follows, whole_bytes, digest, part_from, part_bytes)
      WHERE EXISTS (SELECT 1 FROM head)
    )`),
};

function appendText(newParts: string): string {
  const inParts = newParts !== "";
  return `
    WITH head AS (
      UPDATE hansard_head SET position = $3, parts_position = $3, hash = $4${inParts ? ", parts_end = $17" : ""}
      WHERE position = $1 AND hash = $2 RETURNING position
    ), batch AS MATERIALIZED (
      SELECT $1::bigint + item AS position, b.* FROM unnest($5::text[], $6::text[], $15::text[], $7::int[], $8::int[]${inParts ? ", $16::int[]" : ""})
        WITH ORDINALITY AS b (kind, recorded_at, recorded_by, body_from, body_bytes${inParts ? ", whole_bytes" : ""}, item)
      WHERE EXISTS (SELECT 1 FROM head)
    ), new_entries AS (
      INSERT INTO hansard_entries (position, kind, recorded_at, recorded_by, claims_digest, commitment, hash)
      SELECT position, kind, recorded_at, recorded_by,
        CASE WHEN recorded_by IS NOT NULL THEN substr($9::bytea, (96 * item - 95)::int, 32) END,
        substr($9::bytea, (96 * item - 63)::int, 32), substr($9::bytea, (96 * item - 31)::int, 32) FROM batch
    ), new_bodies AS (
      INSERT INTO hansard_bodies (position, salt, encoding, body${inParts ? ", whole_bytes" : ""})
      SELECT position, substr($10::bytea, body_from, 16), ${inParts ? `CASE WHEN whole_bytes IS NULL THEN ${PLAIN} ELSE ${IN_PARTS} END` : PLAIN},
        substr($10::bytea, body_from + 16, body_bytes)${inParts ? ", whole_bytes" : ""}
      FROM batch WHERE body_bytes >= 0
    ), new_claims AS (
      INSERT INTO hansard_claims (claim, position)
      SELECT substr($11::bytea, claim_from, claim_bytes), $1::bigint + item
      FROM unnest($12::int[], $13::int[], $14::int[]) AS c (claim_from, claim_bytes, item)
      WHERE EXISTS (SELECT 1 FROM head)
    )${newParts}
    SELECT pg_notify('${GROWTH_CHANNEL}', position::text)::text AS told FROM head`;
}

const COLUMNS = `e.position, e.kind, e.recorded_at, e.recorded_by, e.claims_digest, e.commitment, e.hash,
  b.salt, b.encoding, b.body, b.whole_bytes`;

/** Bodies in parts are not text, and travel as bytes. */
const TEXT = `CASE WHEN encoding <> ${IN_PARTS} THEN convert_from(body, 'UTF8') END AS text,
  CASE WHEN encoding = ${IN_PARTS} THEN body END AS body, whole_bytes`;

export const headStatement: Statement = {
  name: "hansard_head",
  isQuick: true,
  text: "SELECT log_id, position, hash FROM hansard_head",
};

export const lockHeadStatement: Statement = {
  name: "hansard_lock_head",
  isQuick: true,
  text: "SELECT log_id, position, hash FROM hansard_head FOR UPDATE",
};

export const adoptStatement: Statement = { name: "hansard_adopt", text: "UPDATE hansard_head SET log_id = $1" };

export const readStatement: Statement = {
  name: "hansard_read",
  text: readText(
    "position, kind, recorded_at, recorded_by, claims_digest, commitment, hash, salt, encoding, body, whole_bytes",
  ),
};

export const readTextsStatement: Statement = {
  name: "hansard_read_texts",
  text: readText(`position, kind, recorded_at, recorded_by, commitment, hash, salt, encoding, ${TEXT}`),
};

/** Lengths are known without reading the bodies, so only those within the limit are sent. */
function readText(wanted: string): string {
  return `SELECT ${wanted} FROM (
      SELECT ${COLUMNS}, coalesce(sum(coalesce(b.whole_bytes, octet_length(b.body))) OVER (
        ORDER BY e.position ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
      FROM (SELECT * FROM hansard_entries WHERE position > $1 ORDER BY position LIMIT $2) e
      LEFT JOIN hansard_bodies b ON b.position = e.position AND b.position > $1 AND b.position <= $1::bigint + $2::bigint
    ) read WHERE bytes_before < $3 ORDER BY position`;
}

export const getStatement: Statement = {
  name: "hansard_get",
  text: getText(
    "position, kind, recorded_at, recorded_by, claims_digest, commitment, hash, salt, encoding, body, whole_bytes",
  ),
};

export const getBytesStatement: Statement = {
  name: "hansard_get_bytes",
  text: getText("position, kind, recorded_at, recorded_by, commitment, hash, salt, encoding, body, whole_bytes"),
};

export const getTextsStatement: Statement = {
  name: "hansard_get_texts",
  text: getText(`position, kind, recorded_at, recorded_by, commitment, hash, salt, encoding, ${TEXT}`),
};

/** As `readText`, for given positions in their order; missing ones are rows without a kind. */
function getText(wanted: string): string {
  return `SELECT ${wanted} FROM (
      SELECT g.nth, g.position, e.kind, e.recorded_at, e.recorded_by, e.claims_digest, e.commitment, e.hash,
        b.salt, b.encoding, b.body, b.whole_bytes, coalesce(sum(coalesce(b.whole_bytes, octet_length(b.body))) OVER (
        ORDER BY g.nth ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
      FROM unnest($1::bigint[]) WITH ORDINALITY AS g (position, nth)
      LEFT JOIN hansard_entries e ON e.position = g.position
      LEFT JOIN hansard_bodies b ON b.position = g.position
    ) read WHERE bytes_before < $2 ORDER BY nth`;
}

export const findStatement: Statement = {
  name: "hansard_find",
  isQuick: true,
  text: "SELECT claim, position FROM hansard_claims WHERE claim = ANY ($1::bytea[])",
};

const LASTING = lastingKinds.map((kind) => `'${kind}'`).join(", ");

/** Only existing entries that are not noted yet and may be erased. */
export const noteErasedStatement: Statement = {
  name: "hansard_name_erased",
  text: `INSERT INTO hansard_erasures (position, redaction)
    SELECT e.position, $2 FROM hansard_entries e WHERE e.position = ANY ($1::bigint[]) AND e.kind NOT IN (${LASTING})
      AND NOT EXISTS (SELECT 1 FROM hansard_erasures known WHERE known.position = e.position)`,
};

/**
 * It depends on whether a body exists, not on a note of its erasure: such a note may be forged, or the body restored.
 */
export const eraseStatement: Statement = {
  name: "hansard_erase",
  text: `DELETE FROM hansard_bodies b USING hansard_entries e
    WHERE b.position = ANY ($1::bigint[]) AND e.position = b.position AND e.kind NOT IN (${LASTING})
    RETURNING CASE WHEN b.encoding = ${IN_PARTS} THEN b.body END AS taken`,
};

/** The statement for these entries, and its values. */
export function appendQuery(
  start: Pick<Head, "position" | "hash">,
  entries: readonly PlacedEntry[],
  taken: SplitBatch | undefined,
): readonly [statement: Statement, values: readonly unknown[]] {
  if (taken === undefined) return [appendStatement, appendValues(start, entries)];
  const stored = entries.map((entry, index) => {
    const body = taken.bodies[index];
    return body === undefined ? entry : { ...entry, body };
  });
  const whole = entries.map(({ body }, index) => (taken.bodies[index] === undefined ? null : body?.byteLength));
  const bytes = new PackedBytes();
  for (const part of taken.parts) bytes.add(part.bytes);
  const columns = [
    taken.parts.map(({ start: from }) => from),
    taken.parts.map(({ follows }) => follows),
    taken.parts.map(({ whole_bytes }) => whole_bytes),
    taken.parts.map(({ digest }) => digest),
  ];
  const parts = [whole, taken.end, ...columns, bytes.starts, bytes.lengths, bytes.bytes()];
  return [appendInPartsStatement, [...appendValues(start, stored), ...parts]];
}

function appendValues(start: Pick<Head, "position" | "hash">, entries: readonly PlacedEntry[]): unknown[] {
  const last = entries.at(-1) as PlacedEntry;
  const bodies = new PackedBytes();
  const claims = new PackedBytes();
  const bodyFrom: number[] = [];
  const bodyBytes: number[] = [];
  const claimItems: number[] = [];
  for (const [index, entry] of entries.entries()) {
    const { salt, body } = entry;
    bodyFrom.push(bodies.next);
    bodyBytes.push(salt === undefined || body === undefined ? -1 : body.byteLength);
    if (salt !== undefined && body !== undefined) bodies.add(salt, body);
    for (const claim of entry.claims) {
      claims.add(claimKey(claim));
      claimItems.push(index + 1);
    }
  }
  return [
    ...[start.position, start.hash, start.position + entries.length, last.hash],
    ...[entries.map((entry) => entry.kind), entries.map((entry) => entry.recorded_at), bodyFrom, bodyBytes],
    Buffer.concat(entries.flatMap((entry) => [entry.claims_digest ?? NO_DIGEST, entry.commitment, entry.hash])),
    ...[bodies.bytes(), claims.bytes(), claims.starts, claims.lengths, claimItems],
    entries.map((entry) => entry.recorded_by ?? null),
  ];
}

/** Stands in for a missing digest, so all items have the same length. */
const NO_DIGEST = Buffer.alloc(HASH_BYTES);

/** Concatenated bytes with the start (counted from 1, as in SQL) and length of each item. */
class PackedBytes {
  readonly starts: number[] = [];
  readonly lengths: number[] = [];
  readonly #pieces: Uint8Array[] = [];
  next = 1;

  add(...pieces: readonly Uint8Array[]): void {
    this.starts.push(this.next);
    const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
    this.lengths.push(length);
    this.#pieces.push(...pieces);
    this.next += length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

export const keptClaimsStatement: Statement = {
  name: "hansard_kept_claims",
  text: "SELECT claim, position FROM hansard_claims WHERE position > $1 AND position <= $2",
};

export const erasuresStatement: Statement = {
  name: "hansard_erasures",
  text: "SELECT position, redaction FROM hansard_erasures WHERE position > $1 ORDER BY position LIMIT $2",
};

/** One statement, so nothing is appended in between; the positions come as JSON. */
export const redactionsAfterStatement: Statement = {
  name: "hansard_redactions_after",
  isQuick: true,
  text: `SELECT h.position AS through, array_to_json(ARRAY (
      SELECT e.position FROM hansard_entries e
      WHERE e.position > $1 AND e.position <= h.position AND e.kind = 'redaction' ORDER BY e.position
    )) AS positions FROM hansard_head h`,
};

/** One statement, so concurrent appends are seen whole or not at all. */
export const orphanStatement: Statement = {
  name: "hansard_orphan",
  text: `
    WITH head AS MATERIALIZED (SELECT position, hash FROM hansard_head)
    SELECT position, reason FROM (
      SELECT h.position, 'the head of the log is not its last entry' AS reason
      FROM head h LEFT JOIN hansard_entries e USING (position) WHERE h.position > 0 AND e.hash IS DISTINCT FROM h.hash
      UNION ALL
      SELECT r.position, 'stored data was never recorded as an entry' FROM (
        SELECT min(position) FROM hansard_entries WHERE position < 1
        UNION ALL
        SELECT min(position) FROM hansard_entries WHERE position > (SELECT position FROM head)
        UNION ALL
        SELECT min(position) FROM hansard_bodies WHERE position < 1
        UNION ALL
        SELECT min(position) FROM hansard_bodies WHERE position > (SELECT position FROM head)
        UNION ALL
        SELECT min(position) FROM hansard_claims WHERE position < 1 OR position > (SELECT position FROM head)
        UNION ALL
        SELECT min(position) FROM hansard_erasures WHERE position < 1 OR position > (SELECT position FROM head)
      ) AS r (position) WHERE r.position IS NOT NULL
    ) AS orphans ORDER BY position LIMIT 1`,
};

/** Without a kind where there is no entry at the position. */
type EntryRow = LogRow & { readonly whole_bytes: number | null };

interface TextRow {
  readonly position: number;
  /** All null if there is no entry at the position. */
  readonly kind: string | null;
  readonly recorded_at: string | null;
  readonly recorded_by: string | null;
  readonly commitment: Buffer | null;
  readonly hash: Buffer | null;
  readonly salt: Buffer | null;
  readonly encoding: number | null;
  readonly text?: string | null;
  /** Set if there is no text. */
  readonly body: Buffer | null;
  readonly whole_bytes: number | null;
}

export async function readEntries(
  connections: Connections,
  statement: Statement,
  values: readonly unknown[],
): Promise<readonly (StoredEntry | undefined)[]> {
  const rows = await readWhole(connections, (session) => session.query<EntryRow>(statement, values), takenIn);
  return rows.map(([row, whole]) => ((row.kind as string | null) === null ? undefined : toEntry(row, whole)));
}

/** If a damaged body is not UTF-8, all are read as bytes instead, which shows where the damage is. */
export async function readTexts(
  connections: Connections,
  query: { readonly texts: Statement; readonly bytes: Statement; readonly values: readonly unknown[] },
): Promise<readonly (StoredBody | undefined)[]> {
  const read = async (statement: Statement): Promise<readonly (StoredBody | undefined)[]> => {
    const rows = await readWhole(connections, (session) => session.query<TextRow>(statement, query.values), takenIn);
    return rows.map(([row, whole]) => toBody(row, whole));
  };
  try {
    return await read(query.texts);
  } catch (error) {
    if (!isNotText(error)) throw error;
    return read(query.bytes);
  }
}

function takenIn({ encoding, body, whole_bytes }: EntryRow | TextRow): SplitBody | undefined {
  return encoding === IN_PARTS && body !== null ? { taken: body, whole_bytes } : undefined;
}

function toEntry(row: EntryRow, whole: WholeBody | undefined): StoredEntry {
  if (whole === undefined) return rowToEntry(row);
  if ("body" in whole) return rowToEntry({ ...row, encoding: PLAIN, body: whole.body });
  return { ...rowToEntry({ ...row, salt: null, body: null }), flaw: whole.flaw };
}

function toBody(row: TextRow, whole: WholeBody | undefined): StoredBody | undefined {
  const { position, kind, recorded_at, hash, encoding } = row;
  if (kind === null || recorded_at === null || hash === null) return undefined;
  const placed = { position, kind, recorded_at, recorded_by: row.recorded_by ?? undefined, hash: hexOf(hash) };
  if (whole !== undefined && "flaw" in whole) return { ...placed, flaw: whole.flaw };
  const body = whole?.body ?? row.text ?? row.body ?? undefined;
  if (body === undefined) return placed;
  if (whole === undefined && encoding !== PLAIN) return { ...placed, flaw: unknownEncoding(encoding) };
  if (!isRecorded(row, body)) return { ...placed, flaw: NOT_RECORDED };
  return { ...placed, body: typeof body === "string" ? body : body.toString("utf8") };
}

function isRecorded({ salt, commitment }: TextRow, body: string | Buffer): boolean {
  if (salt?.byteLength !== SALT_BYTES || commitment === null) return false;
  return createHash("sha256").update(salt).update(body).digest().equals(commitment);
}

function isNotText(error: unknown): boolean {
  return ["22021", "22P05"].includes(codeOf(error instanceof Fault ? error.cause : error));
}
