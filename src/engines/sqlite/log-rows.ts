// Rows of the log's tables as the entries and bodies that they stand for.
import { hash as hashOf } from "node:crypto";
import { SALT_BYTES } from "../../model/chain.js";
import { NOT_RECORDED } from "../../model/chain-walk.js";
import type { StoredBody, StoredEntry } from "../../ports/entry-log.js";
import { type LogRow, PLAIN, rowToEntry, unknownEncoding } from "../../ports/log-row.js";

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

/** How a row of a statement is read, and how much of it is body. */
export interface RowForm<R, T> {
  readonly toItem: (row: R) => T;
  readonly bytesOf: (row: R) => number;
}

export const wholeRow: RowForm<LogRow, StoredEntry> = { toItem: rowToEntry, bytesOf: ({ body }) => body?.length ?? 0 };
export const bodyRow: RowForm<BodyRow, StoredBody> = {
  toItem: rowToBody,
  bytesOf: ([, , , , , , body]) => body?.length ?? 0,
};
export const checkedRow: RowForm<CheckedRow, StoredBody> = {
  toItem: rowToChecked,
  bytesOf: ([, , , , , , , salted]) => salted?.length ?? 0,
};
