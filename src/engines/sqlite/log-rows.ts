// Rows of the log's tables as the entries and bodies that they stand for.
import { hash as hashOf } from "node:crypto";
import { SALT_BYTES } from "../../model/chain.js";
import { NOT_RECORDED } from "../../model/chain-walk.js";
import type { StoredBody, StoredEntry } from "../../ports/entry-log.js";

/** The only encoding so far: the body's bytes as they are. */
export const PLAIN = 0;

interface Row {
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

type BodyRow = readonly [
  position: number,
  kind: string,
  recorded_at: string,
  recorded_by: string | null,
  hash: string,
  encoding: number | null,
  body: string | null,
];

type CheckedRow = readonly [
  position: number,
  kind: string,
  recorded_at: string,
  recorded_by: string | null,
  hash: string,
  encoding: number | null,
  salt_bytes: number | null,
  salted_body: Buffer | null,
  commitment: string,
];

/** What to iterate over for these positions: one statement, since each takes the file's locks for itself. */
export function given(positions: readonly number[]): string {
  return JSON.stringify(positions);
}

/** As they were asked for; undefined where there is none. */
export function inOrder<T extends { readonly position: number }>(
  positions: readonly number[],
  found: readonly T[],
): readonly (T | undefined)[] {
  if (found.length === positions.length) return found;
  const byPosition = new Map(found.map((one) => [one.position, one]));
  return positions.map((position) => byPosition.get(position));
}

function rowToEntry(row: Row): StoredEntry {
  const { position, kind, recorded_at, commitment, hash } = row;
  const recorded_by = row.recorded_by ?? undefined;
  const claims_digest = row.claims_digest ?? undefined;
  const placed = { position, kind, recorded_at, recorded_by, claims_digest, commitment, hash };
  if (row.body === null || row.salt === null) return placed;
  if (row.encoding !== PLAIN) return { ...placed, flaw: unknownEncoding(row.encoding) };
  return { ...placed, salt: row.salt, body: row.body };
}

function rowToBody([position, kind, recorded_at, by, hash, encoding, body]: BodyRow): StoredBody {
  const placed = { position, kind, recorded_at, recorded_by: by ?? undefined, hash };
  if (body === null) return placed;
  return encoding === PLAIN ? { ...placed, body } : { ...placed, flaw: unknownEncoding(encoding) };
}

function rowToChecked(row: CheckedRow): StoredBody {
  const [position, kind, recorded_at, by, hash, encoding, saltBytes, salted, commitment] = row;
  if (salted === null) return rowToBody([position, kind, recorded_at, by, hash, encoding, null]);
  const isRecorded = saltBytes === SALT_BYTES && hashOf("sha256", salted, "hex") === commitment;
  if (encoding === PLAIN && !isRecorded) {
    return { position, kind, recorded_at, recorded_by: by ?? undefined, hash, flaw: NOT_RECORDED };
  }
  return rowToBody([position, kind, recorded_at, by, hash, encoding, salted.toString("utf8", SALT_BYTES)]);
}

function unknownEncoding(encoding: number | null): string {
  return `its body has the unknown encoding ${encoding}`;
}

/** How a row of a statement is read, and how much of it is body. */
export interface RowForm<R, T> {
  readonly toItem: (row: R) => T;
  readonly bytesOf: (row: R) => number;
}

export const wholeRow: RowForm<Row, StoredEntry> = { toItem: rowToEntry, bytesOf: ({ body }) => body?.length ?? 0 };
export const bodyRow: RowForm<BodyRow, StoredBody> = {
  toItem: rowToBody,
  bytesOf: ([, , , , , , body]) => body?.length ?? 0,
};
export const checkedRow: RowForm<CheckedRow, StoredBody> = {
  toItem: rowToChecked,
  bytesOf: ([, , , , , , , salted]) => salted?.length ?? 0,
};
