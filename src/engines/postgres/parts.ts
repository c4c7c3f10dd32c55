// The statements of parts, and their bytes as stored: compressed where that helps.

import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { IN_PARTS } from "../../log/log-row.js";
import type { Statement } from "./driver.js";

export interface FoundPart {
  /** Null in the row that has the end of the parts. */
  readonly digest: string | null;
  readonly start: number;
  /** In whole. */
  readonly length: number;
  /** Only for lists. */
  readonly bytes: Buffer | null;
  readonly whole_bytes: number | null;
}

/** Finds texts and lists by digest; a row without a digest has the start of the next part. */
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

/** Lists with all lists they continue, in one round trip; each is stored after the one it continues. */
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

/** Comma-separated numbers. */
export interface TextsTogether {
  readonly starts: string | null;
  readonly lengths: string | null;
  /** -1 if not compressed. */
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

export interface SplitRow {
  readonly position: number;
  readonly body: Buffer;
}

/** Bodies in parts, page by page. */
export const splitBodiesStatement: Statement = {
  name: "hansard_taken_bodies",
  text: `SELECT position, body FROM hansard_bodies WHERE encoding = ${IN_PARTS} AND position > $1 ORDER BY position LIMIT $2`,
};

export const splitBodyStatement: Statement = {
  name: "hansard_taken_body",
  text: `SELECT position, body FROM hansard_bodies WHERE encoding = ${IN_PARTS} AND position = $1`,
};

export const deletePartsStatement: Statement = {
  name: "hansard_delete_parts",
  text: "DELETE FROM hansard_parts WHERE start = ANY ($1::bigint[])",
};

export interface DigestedPart extends PartRow {
  readonly digest: string;
  readonly follows: number | null;
}

/** All parts, page by page, in pages of some megabytes. */
export const digestedPartsStatement: Statement = {
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

/** Shorter parts hardly compress. */
const DEFLATED_BYTES_MIN = 256;
/** A smaller gain is not worth the time to read it. */
const DEFLATED_SHARE_MAX = 0.9;
/**
 * Fast for texts of some kilobytes: larger tables take longer to set up than to use. Parts are not separate streams but
 * sections of one, so all parts of a body are inflated at once: setting up a stream takes as long as inflating a
 * kilobyte. PostgreSQL's own compression skips rows below 2 KB, which most of them are.
 */
const STRETCH = { level: 1, windowBits: 13, memLevel: 6, finishFlush: constants.Z_SYNC_FLUSH };
/** The constant end of a section, which is not stored. */
const STRETCH_END = Buffer.from([0, 0, 0xff, 0xff]);
const STREAM_END = Buffer.from([3, 0]);
/** zlib's minimum. */
const ROOM_MIN = 64;
/** No part is longer; no memory is allocated for one that claims to be. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;

export interface StoredBytes {
  readonly bytes: Buffer;
  /** Uncompressed size; null if stored uncompressed. */
  readonly whole_bytes: number | null;
}

export function toStored(bytes: Buffer): StoredBytes {
  if (bytes.length >= DEFLATED_BYTES_MIN) {
    const deflated = deflateRawSync(bytes, STRETCH);
    const kept = deflated.length - STRETCH_END.length;
    const isShorter = kept <= bytes.length * DEFLATED_SHARE_MAX;
    if (isShorter && deflated.subarray(kept).equals(STRETCH_END)) {
      return { bytes: deflated.subarray(0, kept), whole_bytes: bytes.length };
    }
  }
  return { bytes, whole_bytes: null };
}

/** Undefined for those that are damaged. */
export function fromStored(all: readonly StoredBytes[]): readonly (Buffer | undefined)[] {
  const deflated = all.filter(({ whole_bytes }) => whole_bytes !== null);
  const whole = inflated(deflated);
  // If one is damaged, the others are read one by one.
  if (whole === undefined && deflated.length > 0 && all.length > 1) return all.flatMap((one) => fromStored([one]));
  let at = 0;
  return all.map(({ bytes, whole_bytes }) => {
    if (whole_bytes === null) return bytes;
    at += whole_bytes;
    return whole?.subarray(at - whole_bytes, at);
  });
}

function inflated(all: readonly StoredBytes[]): Buffer | undefined {
  if (all.length === 0) return undefined;
  const lengths = all.map(({ whole_bytes }) => whole_bytes ?? 0);
  if (lengths.some((length) => length < 0 || length > WHOLE_BYTES_MAX)) return undefined;
  const length = lengths.reduce((sum, one) => sum + one, 0);
  try {
    const stream = Buffer.concat([...all.flatMap(({ bytes }) => [bytes, STRETCH_END]), STREAM_END]);
    const room = Math.max(ROOM_MIN, length);
    const whole = inflateRawSync(stream, { maxOutputLength: room, chunkSize: room });
    return whole.length === length ? whole : undefined;
  } catch {
    return undefined;
  }
}
