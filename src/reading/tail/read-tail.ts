// Following the log: the entries after a position as they were appended, ready to be sent.

import type { EntryRow } from "../../index/port.js";
import { columnsOf, type FilteredRow, rowMatches } from "../../index/row-filter.js";
import type { EntryLog, StoredBody } from "../../log/port.js";
import { bodyToEntry, parseBodyText, toAltered } from "../../model/body.js";
import type { AlteredEntry, Entry } from "../../model/entry.js";
import type { Mask } from "../../model/mask.js";
import { rowOfEntry } from "../../search/lists/row-of-entry.js";
import { type TailFilter, tailFilters } from "./tail-query.js";

/** One entry for tails: the text to send, and the fields for filters. */
export interface TailRow extends FilteredRow<keyof TailFilter> {
  readonly position: number;
  /** Its body is not the recorded one, so only its kind is known. */
  readonly is_altered?: true;
  /** The entry as one line of JSON, in bytes: many listeners share it, and V8 need not move it around. */
  readonly json: Uint8Array;
}

export interface TailRange {
  readonly after: number;
  readonly filter?: TailFilter | undefined;
}

/** The log, and the mask that hides secrets. */
export interface TailParts {
  readonly log: Pick<EntryLog, "readBodies">;
  readonly mask: Mask;
}

export interface TailRead {
  readonly rows: readonly TailRow[];
  /** Position through which the log was read, including entries that do not match. */
  readonly through: number;
  /** Whether there may be more. */
  readonly isFull: boolean;
}

/** The fields that filters need. */
const columns = columnsOf(Object.values(tailFilters).map(({ condition }) => condition));
/** A stalled reader keeps at most this much, plus the entry that exceeded it. */
const READ_BYTES = 128 * 1024;
const READ_ENTRIES = 250;
/** With a selective filter, this many reads are done before it answers. */
const READS_MAX = 16;

/** Labels of an altered entry are unknown, so only its kind is filtered. */
export function matches(row: Omit<TailRow, "json">, filter: TailFilter | undefined): boolean {
  if (filter === undefined) return true;
  return rowMatches(row, row.is_altered === true ? kindsOf(filter) : filter);
}

function kindsOf({ kinds }: TailFilter): Pick<TailFilter, "kinds"> {
  return kinds === undefined ? {} : { kinds };
}

/** The next matching entries, a bounded amount; none at the log's end or after a long range without a match. */
export async function readTail(parts: TailParts, range: TailRange): Promise<TailRead> {
  let through = range.after;
  let isFull = true;
  let rows: readonly TextRow[] = [];
  for (let reads = 0; reads < READS_MAX && isFull && rows.length === 0; reads += 1) {
    const stored = await parts.log.readBodies({ after: through, limit: READ_ENTRIES, bytes_max: READ_BYTES });
    rows = stored.flatMap((one) => toRow(one, range.filter, parts.mask));
    through = stored.at(-1)?.position ?? through;
    isFull = stored.length === READ_ENTRIES || bytesOf(stored) >= READ_BYTES;
  }
  return { rows: packed(rows), through, isFull };
}

/** The entry of a row. */
export function rowEntry({ json }: TailRow): Entry | AlteredEntry {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()) as Entry | AlteredEntry;
}

interface TextRow extends Omit<TailRow, "json"> {
  readonly json: string;
}

/** All rows share one buffer, which can be transferred to another thread. */
function packed(rows: readonly TextRow[]): readonly TailRow[] {
  const memory = Buffer.from(new ArrayBuffer(rows.reduce((bytes, { json }) => bytes + Buffer.byteLength(json), 0)));
  let end = 0;
  return rows.map((row) => {
    const start = end;
    end += memory.write(row.json, start);
    return { ...row, json: new Uint8Array(memory.buffer, start, end - start) };
  });
}

function toRow(stored: StoredBody, filter: TailFilter | undefined, mask: Mask): readonly TextRow[] {
  // Entries of other kinds need not be parsed.
  if (!rowMatches(stored, kindsOf(filter ?? {}))) return [];
  if (stored.flaw !== undefined) {
    const entry = toAltered(stored);
    return [{ position: entry.position, kind: entry.kind, is_altered: true, json: JSON.stringify(entry) } as TextRow];
  }
  if (stored.body === undefined) return [];
  const entry = bodyToEntry(stored, parseBodyText(stored.position, stored.body));
  const row = rowOfEntry(entry);
  if (row === undefined || !matches(row, filter)) return [];
  return [{ ...carried(row), json: JSON.stringify(mask.entry(entry)) }];
}

/** Only the fields that filters need, since many rows wait, some on another thread. */
function carried(row: EntryRow): Omit<TailRow, "json"> {
  const kept: { [column: string]: unknown } = { position: row.position };
  for (const column of columns) if (row[column] !== undefined) kept[column] = row[column];
  return kept as unknown as Omit<TailRow, "json">;
}

function bytesOf(stored: readonly StoredBody[]): number {
  return stored.reduce((bytes, one) => bytes + (one.body?.length ?? 0), 0);
}

export interface TailSource {
  read(range: TailRange): Promise<TailRead>;
  close(): Promise<void>;
}

export class LocalTailSource implements TailSource {
  readonly #log: EntryLog;
  readonly #mask: Mask;

  constructor(log: EntryLog, mask: Mask) {
    this.#log = log;
    this.#mask = mask;
  }

  read(range: TailRange): Promise<TailRead> {
    return readTail({ log: this.#log, mask: this.#mask }, range);
  }

  /** The log is closed by its owner. */
  async close(): Promise<void> {}
}
