// Rows of the log's tables as the entries and bodies that they stand for.
import { hash as hashOf } from "node:crypto";
import type Database from "better-sqlite3";
import { IN_PARTS, type LogRow, PLAIN, rowToEntry, unknownEncoding } from "../../log/log-row.js";
import type { StoredBody, StoredEntry } from "../../log/port.js";
import { NOT_RECORDED, SALT_BYTES } from "../../model/chain.js";
import { PiecesFlaw } from "../parts/pieces.js";

/** What all rows of bodies begin with. */
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
  /** Where the body is in parts, and else the beginning of what follows. */
  salt: Buffer | null,
  salted_body: Buffer | null,
  salt_bytes: number | null,
  commitment: string,
];

/** Salts and bodies of several entries one after the other, and as JSON what is known of each. */
type RowTogether = readonly [salted_bodies: Buffer | null, heads: string];
type HeadTogether = readonly [...head: Head, salt_bytes: number | null, body_bytes: number | null, commitment: string];

/** So much is taken in one go, since what is made for each row takes longer than to read it. */
const TOGETHER_BYTES_MAX = 1024 * 1024;

/** Puts a body in parts together behind what it is to follow. */
export type Join = (taken: Buffer, before: Buffer) => Buffer;

/** What to iterate over for these positions: one statement, since each takes the file's locks for itself. */
function given(positions: readonly number[]): string {
  return JSON.stringify(positions);
}

/** As they were asked for; undefined where there is none. */
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
    // Side by side, as they are hashed together.
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

function toBodies([kept, heads]: RowTogether): readonly StoredBody[] {
  const bytes = kept ?? NOTHING;
  let end = 0;
  return (JSON.parse(heads) as readonly HeadTogether[]).map((head): StoredBody => {
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
  if (error instanceof PiecesFlaw) return `${NOT_RECORDED}: ${error.message}`;
  throw error;
}

/** How rows of a statement are read, and how many bytes of bodies an item stands for. */
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

interface Taken<T> {
  readonly found: readonly T[];
  readonly isCut: boolean;
}

/** Reads the rows of a statement, up to a bound on the bytes of bodies. */
export class RowReads {
  readonly #guard: <T>(work: () => T) => T;
  readonly #join: Join;

  constructor(parts: { readonly guard: <T>(work: () => T) => T; readonly join: Join }) {
    this.#guard = parts.guard;
    this.#join = parts.join;
  }

  takeAt<R, T extends { readonly position: number }>(
    statement: Database.Statement,
    positions: readonly number[],
    row: RowForm<R, T>,
    bytes_max: number | undefined,
  ): readonly (T | undefined)[] {
    const { found, isCut } = this.take(statement, [given(positions)], row, bytes_max);
    return inOrder(isCut ? positions.slice(0, positions.indexOf(found.at(-1)?.position ?? 0) + 1) : positions, found);
  }

  /** All in one go where they are small and whole, and else one by one. */
  takeBodiesAt(
    statements: { readonly together: Database.Statement; readonly each: Database.Statement },
    positions: readonly number[],
    bytes_max: number | undefined,
  ): readonly (StoredBody | undefined)[] {
    const found = this.#guard(() => {
      const asked = given(positions);
      const bytesMax = Math.min(bytes_max ?? TOGETHER_BYTES_MAX, TOGETHER_BYTES_MAX);
      return toBodies(statements.together.get(asked, asked, bytesMax) as RowTogether);
    });
    // Nothing comes where it would be too much, as where there is nothing.
    return found.length === 0 ? this.takeAt(statements.each, positions, bodyRow, bytes_max) : inOrder(positions, found);
  }

  /** Row by row where there is a bound, since each of them may be large, and else all at once, which is quicker. */
  take<R, T>(
    statement: Database.Statement,
    values: readonly unknown[],
    form: RowForm<R, T>,
    bytes_max: number | undefined,
  ): Taken<T> {
    return this.#guard(() => {
      if (bytes_max !== undefined) return this.#takeEach(statement, values, form, bytes_max);
      const rows = statement.all(...values) as readonly R[];
      if (rows.some(form.isInParts)) return this.#takeEach(statement, values, form, Number.POSITIVE_INFINITY);
      return { found: rows.map((row) => form.toItem(row, this.#join)), isCut: false };
    });
  }

  /** As long as the rows are walked, parts are those of the same moment, whoever erases some meanwhile. */
  #takeEach<R, T>(
    statement: Database.Statement,
    values: readonly unknown[],
    { toItem, bytesOf }: RowForm<R, T>,
    bytes_max: number,
  ): Taken<T> {
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
