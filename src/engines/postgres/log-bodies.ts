// Entries as they are kept, and bodies as text, which halves what travels compared with bytes.
import { Fault } from "../../model/fault.js";
import { hexOf } from "../../model/hex.js";
import type { StoredBody, StoredEntry } from "../../ports/entry-log.js";
import type { Session, Statement } from "./connection.js";
import { codeOf } from "./faults.js";
import type { StoredRow } from "./log-statements.js";

/** The only encoding so far: the body's bytes as they are. */
const PLAIN = 0;

interface TextRow {
  readonly position: number;
  /** None of it where there is no entry at the position. */
  readonly kind: string | null;
  readonly recorded_at: string | null;
  readonly recorded_by: string | null;
  readonly hash: Buffer | null;
  readonly encoding: number | null;
  readonly body: string | null;
}

export function rowToEntry(row: StoredRow): StoredEntry {
  const { position, kind, recorded_at, commitment, hash } = row;
  const recorded_by = row.recorded_by ?? undefined;
  const claims_digest = row.claims_digest ?? undefined;
  const placed = { position, kind, recorded_at, recorded_by, claims_digest, commitment, hash };
  if (row.body === null || row.salt === null) return placed;
  if (row.encoding !== PLAIN) return { ...placed, flaw: unknownEncoding(row.encoding) };
  return { ...placed, salt: row.salt, body: row.body };
}

/** Where a damaged body is no UTF-8, all of them are read as bytes instead, which shows the damage where it is. */
export async function readTexts(
  session: Session,
  query: { readonly texts: Statement; readonly bytes: Statement; readonly values: readonly unknown[] },
): Promise<readonly (StoredBody | undefined)[]> {
  try {
    return (await session.query<TextRow>(query.texts, query.values)).map(rowToBody);
  } catch (error) {
    if (!isNotText(error)) throw error;
    return (await session.query<StoredRow>(query.bytes, query.values)).map((row) =>
      rowToBody({ ...row, body: row.body === null ? null : row.body.toString("utf8") }),
    );
  }
}

function rowToBody({ position, kind, recorded_at, hash, encoding, body, ...row }: TextRow): StoredBody | undefined {
  if (kind === null || recorded_at === null || hash === null) return undefined;
  const placed = { position, kind, recorded_at, recorded_by: row.recorded_by ?? undefined, hash: hexOf(hash) };
  if (body === null) return placed;
  if (encoding !== PLAIN) return { ...placed, flaw: unknownEncoding(encoding) };
  return { ...placed, body };
}

function isNotText(error: unknown): boolean {
  return ["22021", "22P05"].includes(codeOf(error instanceof Fault ? error.cause : error));
}

function unknownEncoding(encoding: number | null): string {
  return `its body has the unknown encoding ${encoding}`;
}
