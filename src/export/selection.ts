// Which entries an export holds: in order of position, up to where the log ended when it began.

import { isUtf8 } from "node:buffer";
import { type RowKey, type RowQuery, rowPages, type SessionRange } from "../index/port.js";
import { rowMatches } from "../index/row-filter.js";
import type { EntryLog, Head, StoredBody, StoredEntry } from "../log/port.js";
import { walkLog } from "../log/walk-log.js";
import { bodyToEntry, parseBody, parseBodyText } from "../model/body.js";
import { asRecorded, bodyFlaw } from "../model/chain.js";
import { completionClaim } from "../model/claims.js";
import type { Entry } from "../model/entry.js";
import { corruptEntry, isCorruptEntry } from "../model/fault.js";
import { hexOf } from "../model/hex.js";
import type { Mask } from "../model/mask.js";
import { rowOfEntry } from "../search/lists/row-of-entry.js";
import type { SessionSummary } from "../sessions/session-summary.js";
import type { ExportFilter } from "./exports.js";

const BATCH_ENTRIES = 200;
const PAGE_POSITIONS = 10_000;

/** What an export reads from. */
export interface ExportParts {
  readonly log: EntryLog;
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  /** Places of all entries that pass a filter, a page at a time, newest first. */
  positions(query: RowQuery): Promise<readonly RowKey[]>;
  /** As it was recorded. */
  sessionSummary(session_id: string): Promise<SessionSummary | undefined>;
  /** For the forms that people read. */
  readonly mask: Mask;
}

/**
 * The entries of an export, each compared with its commitment. An altered one comes without its body, and the export fails at
 * its end: it must not pass for complete.
 */
export async function* selectEntries(
  parts: ExportParts,
  options: { readonly filter: ExportFilter; readonly head: Head },
): AsyncGenerator<StoredEntry> {
  let altered: StoredEntry | undefined;
  for await (const stored of matchingEntries(parts, options)) {
    if (stored.flaw !== undefined) altered ??= stored;
    yield stored;
  }
  if (altered?.flaw !== undefined) throw corruptEntry(altered.position, altered.flaw);
}

async function* matchingEntries(
  parts: ExportParts,
  options: { readonly filter: ExportFilter; readonly head: Head },
): AsyncGenerator<StoredEntry> {
  const { filter, head } = options;
  // What counts for an entry because another one says so, a response of its interaction, only the index knows.
  if (filter.references !== undefined) return yield* walkPositions(parts, await positionsOf(parts, options));
  // It also knows where a session's entries are; everything else is a walk through the log.
  const entries = (filter.session_id ?? "") === "" ? walk(parts.log, head) : walkSession(parts, options);
  for await (const stored of entries) if (matches(stored, filter)) yield stored;
}

async function positionsOf(
  parts: ExportParts,
  { filter, head }: { readonly filter: ExportFilter; readonly head: Head },
): Promise<readonly number[]> {
  const positions: number[] = [];
  for await (const page of rowPages((place) => parts.positions({ filter, ...place }), PAGE_POSITIONS)) {
    for (const { position } of page) if (position <= head.position) positions.push(position);
  }
  return [...new Set([...positions, ...(await completionsOf(parts.log, positions, head))])].sort((a, b) => a - b);
}

/** An interaction that was found by what its response says goes with it, or it would be a question without an answer. */
async function completionsOf(log: EntryLog, positions: readonly number[], head: Head): Promise<readonly number[]> {
  const found: number[] = [];
  for (let at = 0; at < positions.length; at += BATCH_ENTRIES) {
    const stored = await log.getBodies(positions.slice(at, at + BATCH_ENTRIES));
    const ids = stored.flatMap((one) => (one?.kind === "interaction" ? idsIn(one) : []));
    for (const position of await log.find(ids.map(completionClaim))) {
      if (position !== undefined && position <= head.position) found.push(position);
    }
  }
  return found;
}

/** None where the body is gone or damaged. */
function idsIn({ position, body = "" }: StoredBody): readonly string[] {
  try {
    return [parseBodyText(position, body).id as string];
  } catch (error) {
    if (isCorruptEntry(error)) return [];
    throw error;
  }
}

/** One at a time: a page of them may hold more text than memory should. */
async function* walkPositions({ log }: ExportParts, positions: readonly number[]): AsyncGenerator<StoredEntry> {
  for (const position of positions) {
    const [stored] = await log.get([position]);
    if (stored !== undefined) yield checked(stored);
  }
}

async function* walk(log: EntryLog, head: Head): AsyncGenerator<StoredEntry> {
  for await (const batch of walkLog(log, { through: head.position, entries_max: BATCH_ENTRIES })) {
    for (const stored of batch) yield checked(stored);
  }
}

/** Without salt and body, and with the reason, where they are not what was recorded. */
function checked(stored: StoredEntry): StoredEntry {
  const flaw = bodyFlaw(stored) ?? (isReadable(stored) ? undefined : "its body is no entry");
  if (flaw === undefined) return stored;
  const { salt: _, body: __, ...left } = stored;
  return { ...left, flaw };
}

/** Whether the line that an export has for it can be read again. */
function isReadable(stored: StoredEntry): boolean {
  if (stored.body === undefined) return true;
  const bytes = Buffer.from(stored.body);
  return readable(stored) !== undefined && isUtf8(bytes) && bytes.indexOf('{"') === 0 && !bytes.includes(0x0a);
}

async function* walkSession(
  parts: ExportParts,
  { filter, head }: { readonly filter: ExportFilter; readonly head: Head },
): AsyncGenerator<StoredEntry> {
  const session_id = filter.session_id as string;
  for (let after = 0; ; ) {
    const range = { session_id, order: "asc", limit: BATCH_ENTRIES, after } as const;
    const positions = await parts.sessionPositions(range);
    const within = positions.filter((position) => position <= head.position);
    yield* walkPositions(parts, within);
    const last = within.at(-1);
    if (last === undefined || within.length < positions.length) return;
    after = last;
  }
}

function matches(stored: StoredEntry, filter: ExportFilter): boolean {
  const { kinds, ...rest } = filter;
  // The kind is known of every entry, also where its body is gone.
  if (!rowMatches(stored, kinds === undefined ? {} : { kinds })) return false;
  // It is unknown what an altered entry was about, so it is always included.
  if (Object.keys(rest).length === 0 || stored.flaw !== undefined) return true;
  const entry = readable(stored);
  const row = entry === undefined ? undefined : rowOfEntry(entry);
  return row !== undefined && rowMatches(row, rest);
}

/** The entry; undefined where its body is erased or damaged. */
export function readable(stored: StoredEntry): Entry | undefined {
  if (stored.body === undefined || stored.flaw !== undefined) return undefined;
  try {
    return bodyToEntry({ ...stored, hash: hexOf(stored.hash) }, parseBody(stored.position, stored.body));
  } catch (error) {
    if (isCorruptEntry(error)) return undefined;
    throw error;
  }
}

/**
 * Messages of a session that were withdrawn. A format that has no withdrawals leaves them out, as history does; the log and its
 * own format keep them.
 */
export class Withdrawn {
  readonly #positions: ReadonlySet<number>;
  /** Calls of messages that were taken back; what answers one of them answers nothing. */
  readonly #calls = new Set<string>();

  private constructor(positions: ReadonlySet<number>) {
    this.#positions = positions;
  }

  /** Those among the entries of one session that are at hand. */
  static among(entries: readonly Entry[]): Withdrawn {
    return new Withdrawn(new Set(entries.flatMap((entry) => (entry.kind === "withdrawal" ? [entry.withdraws] : []))));
  }

  /** Those of one session. */
  static async in(parts: ExportParts, session_id: string): Promise<Withdrawn> {
    const withdrawn = new Set<number>();
    for (let after = 0, isMore = true; isMore; ) {
      const range = { session_id, order: "asc", limit: PAGE_POSITIONS, after, kinds: ["withdrawal"] } as const;
      const positions = await parts.sessionPositions(range);
      for (const position of positions) {
        const [stored] = await parts.log.get([position]);
        const entry = stored === undefined ? undefined : readable(asRecorded(stored));
        if (entry?.kind === "withdrawal") withdrawn.add(entry.withdraws);
      }
      after = positions.at(-1) ?? after;
      isMore = positions.length === PAGE_POSITIONS;
    }
    return new Withdrawn(withdrawn);
  }

  /** Asked of every entry in order: an id may be used again by a later call, whose result counts. */
  leavesOut(entry: Entry): boolean {
    const isWithdrawn = this.#positions.has(entry.position);
    const calls = entry.kind === "message" ? entry.tool_calls.map(({ id }) => String(id)) : [];
    for (const id of calls) {
      if (isWithdrawn) this.#calls.add(id);
      else this.#calls.delete(id);
    }
    const answers = entry.kind === "message" || entry.kind === "tool_call" ? entry.tool_call_id : "";
    return isWithdrawn || (answers !== "" && this.#calls.has(answers));
  }
}
