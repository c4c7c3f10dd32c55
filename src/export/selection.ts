// Which entries an export holds: in order of position, up to where the log ended when it began.
import { bodyToEntry, parseBody } from "../model/body.js";
import type { Entry } from "../model/entry.js";
import { Fault } from "../model/fault.js";
import { hexOf } from "../model/hex.js";
import type { SessionRange } from "../ports/entry-index.js";
import type { EntryLog, Head, StoredEntry } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import { rowMatches } from "../ports/row-filter.js";
import { walkLog } from "../ports/walk-log.js";
import { rowOfEntry } from "../read/row-of-entry.js";
import type { SessionSummary } from "../read/session-reader.js";
import type { ExportFilter } from "./export-query.js";

const BATCH_ENTRIES = 200;

/** What an export reads from. */
export interface ExportParts {
  readonly log: EntryLog;
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  /** As it was recorded. */
  sessionSummary(session_id: string): Promise<SessionSummary | undefined>;
  /** For the forms that people read. */
  readonly mask: Mask;
}

export async function* selectEntries(
  parts: ExportParts,
  options: { readonly filter: ExportFilter; readonly head: Head },
): AsyncGenerator<StoredEntry> {
  const { filter, head } = options;
  // The index knows where a session's entries are; everything else is a walk through the log.
  const entries = (filter.session_id ?? "") === "" ? walk(parts.log, head) : walkSession(parts, options);
  for await (const stored of entries) if (matches(stored, filter)) yield stored;
}

async function* walk(log: EntryLog, head: Head): AsyncGenerator<StoredEntry> {
  for await (const batch of walkLog(log, { through: head.position, entries_max: BATCH_ENTRIES })) yield* batch;
}

async function* walkSession(
  parts: ExportParts,
  { filter, head }: { readonly filter: ExportFilter; readonly head: Head },
): AsyncGenerator<StoredEntry> {
  const session_id = filter.session_id as string;
  for (let after = 0; ; ) {
    const range = { session_id, order: "asc", limit: BATCH_ENTRIES, after } as const;
    const positions = await parts.sessionPositions(range);
    for (const position of positions) {
      if (position > head.position) return;
      // One at a time: a page of them may hold more text than memory should.
      const [stored] = await parts.log.get([position]);
      if (stored !== undefined) yield stored;
    }
    const last = positions.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

function matches(stored: StoredEntry, filter: ExportFilter): boolean {
  const { kinds, ...rest } = filter;
  // The kind is known of every entry, also where its body is gone.
  if (!rowMatches(stored, kinds === undefined ? {} : { kinds })) return false;
  if (Object.keys(rest).length === 0) return true;
  const entry = readable(stored);
  const row = entry === undefined ? undefined : rowOfEntry(entry);
  return row !== undefined && rowMatches(row, rest);
}

/** The entry, or undefined where its body is gone or damaged: nobody can say any more what it was about. */
export function readable(stored: StoredEntry): Entry | undefined {
  if (stored.body === undefined) return undefined;
  try {
    return bodyToEntry({ ...stored, hash: hexOf(stored.hash) }, parseBody(stored.position, stored.body));
  } catch (error) {
    if (error instanceof Fault && error.code === "entry_corrupt") return undefined;
    throw error;
  }
}
