// The bodies of rows: as bytes, or as text, which halves what travels; those in parts are put together.
import { createHash } from "node:crypto";
import { IN_PARTS, type LogRow, PLAIN, rowToEntry, unknownEncoding } from "../../log/log-row.js";
import type { StoredBody, StoredEntry } from "../../log/port.js";
import { NOT_RECORDED, SALT_BYTES } from "../../model/chain.js";
import { Fault } from "../../model/fault.js";
import { hexOf } from "../../model/hex.js";
import type { Connections, Statement } from "./connection.js";
import { codeOf } from "./faults.js";
import { readWhole, type TakenBody, type WholeBody } from "./part-reading.js";

/** Without a kind where there is no entry at the position. */
type EntryRow = LogRow & { readonly whole_bytes: number | null };

interface TextRow {
  readonly position: number;
  /** None of it where there is no entry at the position. */
  readonly kind: string | null;
  readonly recorded_at: string | null;
  readonly recorded_by: string | null;
  readonly commitment: Buffer | null;
  readonly hash: Buffer | null;
  readonly salt: Buffer | null;
  readonly encoding: number | null;
  readonly text?: string | null;
  /** Where there is no text. */
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

/** Where a damaged body is no UTF-8, all of them are read as bytes instead, which shows the damage where it is. */
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

function takenIn({ encoding, body, whole_bytes }: EntryRow | TextRow): TakenBody | undefined {
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
