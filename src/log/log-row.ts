// Converts a database row to an entry; the columns are the same for every database.
import { withoutAltered } from "../model/chain.js";
import type { StoredEntry } from "./port.js";

/** The body is stored whole. */
export const PLAIN = 0;
/** The body is stored as literal bytes and references to shared parts. */
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
