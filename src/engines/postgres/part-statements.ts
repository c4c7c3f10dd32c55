// The statements of parts: looked up by what they are, loaded by where they lie, and removed.
import { IN_PARTS } from "../../log/log-row.js";
import type { Statement } from "./connection.js";
import type { StoredBytes } from "./part-bytes.js";

export interface FoundPart {
  /** None in the row that tells where the parts end. */
  readonly digest: string | null;
  readonly start: number;
  /** In whole. */
  readonly length: number;
  /** Of lists alone. */
  readonly bytes: Buffer | null;
  readonly whole_bytes: number | null;
}

/** Texts and lists by their digests; a row without one tells where the next part begins. */
export const findPartsStatement: Statement = {
  name: "hansard_find_parts",
  isQuick: true,
  text: `
    SELECT digest::text, start, coalesce(whole_bytes, octet_length(bytes)) AS length, NULL::bytea AS bytes, NULL::int AS whole_bytes
      FROM hansard_parts WHERE digest = ANY ($1::uuid[])
    UNION ALL
    SELECT digest::text, start, coalesce(whole_bytes, octet_length(bytes)), bytes, whole_bytes
      FROM hansard_parts WHERE digest = ANY ($2::uuid[])
    UNION ALL
    SELECT NULL, parts_end, 0, NULL, NULL FROM hansard_head`,
};

export const partsSecretStatement: Statement = {
  name: "hansard_parts_secret",
  isQuick: true,
  text: "SELECT parts_secret FROM hansard_head",
};

export interface PartRow extends StoredBytes {
  readonly start: number;
}

/** Lists with all that they go on from, in one round trip; each is stored after the one before it. */
export const loadListsStatement: Statement = {
  name: "hansard_load_lists",
  text: `
    WITH RECURSIVE chain AS (
      SELECT start, follows FROM hansard_parts WHERE start = ANY ($1::bigint[])
      UNION
      SELECT p.start, p.follows FROM chain c JOIN hansard_parts p ON p.start = c.follows AND p.start < c.start
    )
    SELECT start, p.bytes, p.whole_bytes FROM chain JOIN hansard_parts p USING (start)`,
};

/** Numbers one after the other, with commas between. */
export interface TextsTogether {
  readonly starts: string | null;
  readonly lengths: string | null;
  /** Below 0 where the bytes are as they are. */
  readonly wholes: string | null;
  readonly bytes: Buffer | null;
}

export const loadTextsStatement: Statement = {
  name: "hansard_load_texts",
  text: `
    SELECT string_agg(start::text, ',') AS starts, string_agg(octet_length(bytes)::text, ',') AS lengths,
      string_agg(coalesce(whole_bytes, -1)::text, ',') AS wholes, string_agg(bytes, ''::bytea) AS bytes
    FROM (SELECT start, bytes, whole_bytes FROM hansard_parts WHERE start = ANY ($1::bigint[]) ORDER BY start) AS texts`,
};

export interface TakenRow {
  readonly position: number;
  readonly body: Buffer;
}

/** Bodies in parts, page by page. */
export const takenBodiesStatement: Statement = {
  name: "hansard_taken_bodies",
  text: `SELECT position, body FROM hansard_bodies WHERE encoding = ${IN_PARTS} AND position > $1 ORDER BY position LIMIT $2`,
};

export const takenBodyStatement: Statement = {
  name: "hansard_taken_body",
  text: `SELECT position, body FROM hansard_bodies WHERE encoding = ${IN_PARTS} AND position = $1`,
};

export const deletePartsStatement: Statement = {
  name: "hansard_delete_parts",
  text: "DELETE FROM hansard_parts WHERE start = ANY ($1::bigint[])",
};

export interface FiledPart extends PartRow {
  readonly digest: string;
  readonly follows: number | null;
}

/** All parts, page by page, in pages of some megabytes. */
export const filedPartsStatement: Statement = {
  name: "hansard_filed_parts",
  text: `SELECT start, digest::text, follows, bytes, whole_bytes FROM (
      SELECT *, sum(octet_length(bytes)) OVER (ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (SELECT * FROM hansard_parts WHERE start > $1 ORDER BY start LIMIT $2) AS next
    ) AS page WHERE coalesce(bytes_before, 0) < $3 ORDER BY start`,
};

export const partDigestsStatement: Statement = {
  name: "hansard_part_digests",
  text: "SELECT start, digest::text FROM hansard_parts WHERE start = ANY ($1::bigint[])",
};
