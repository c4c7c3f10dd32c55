// Bodies as text, which halves what travels compared with bytes.
import { Fault } from "../../model/fault.js";
import { hexOf } from "../../model/hex.js";
import type { StoredBody } from "../../ports/entry-log.js";
import { type LogRow, PLAIN, unknownEncoding } from "../../ports/log-row.js";
import type { Session, Statement } from "./connection.js";
import { codeOf } from "./faults.js";

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

/** Where a damaged body is no UTF-8, all of them are read as bytes instead, which shows the damage where it is. */
export async function readTexts(
  session: Session,
  query: { readonly texts: Statement; readonly bytes: Statement; readonly values: readonly unknown[] },
): Promise<readonly (StoredBody | undefined)[]> {
  try {
    return (await session.query<TextRow>(query.texts, query.values)).map(rowToBody);
  } catch (error) {
    if (!isNotText(error)) throw error;
    return (await session.query<LogRow>(query.bytes, query.values)).map((row) =>
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
