// A row of a log that a database keeps, as the entry that it stands for: whichever database, the columns are the same.
import { withoutAltered } from "../model/chain.js";
import type { StoredEntry } from "./port.js";

/** The body's bytes as they are. */
export const PLAIN = 0;
/** Bytes of its own and references to parts that it shares with others. */
export const IN_PARTS = 1;

export interface LogRow {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by: string | null;
  readonly claims_digest: Buffer | null;
  readonly commitment: Buffer;
  readonly hash: Buffer;
  readonly salt: Buffer | null;
  readonly encoding: number | null;
  readonly body: Buffer | null;
}

export function rowToEntry(row: LogRow): StoredEntry {
  const { position, kind, recorded_at, commitment, hash } = row;
  const recorded_by = row.recorded_by ?? undefined;
  const claims_digest = row.claims_digest ?? undefined;
  const placed = { position, kind, recorded_at, recorded_by, claims_digest, commitment, hash };
  if (row.body === null || row.salt === null) return placed;
  if (row.encoding !== PLAIN) return { ...placed, flaw: unknownEncoding(row.encoding) };
  return withoutAltered({ ...placed, salt: row.salt, body: row.body });
}

export function unknownEncoding(encoding: number | null): string {
  return `its body has the unknown encoding ${encoding}`;
}
