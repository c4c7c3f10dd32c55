// Maintenance: the state of the index, rebuilding it, what the log is checked against, and selecting entries from the
// log itself, for callers who must not miss any: an index may lack rows.

import { compareRows } from "../index/derivation.js";
import type { EntryIndex, RowKey, RowQuery, SessionRange } from "../index/port.js";
import { type FilteredRow, rowMatches } from "../index/row-filter.js";
import type { LogFilter, LogSelection } from "../log/forgetting/log-lookups.js";
import type { EntryLog, StoredBody } from "../log/port.js";
import { contradictionOf } from "../log/verify.js";
import { walkBodies } from "../log/walk-log.js";
import { parseJsonObject } from "../model/json.js";
import { parseTime } from "../model/time.js";
import type { Contradiction } from "../model/verification.js";
import type { AnswerContext, CallsOf } from "./call-table.js";

export interface IndexState {
  /** Position through which rows are indexed. */
  readonly indexed_through: number;
  /** The same for texts, which follow later. */
  readonly texts_through: number;
  /** False while answers lack older entries. */
  readonly is_whole: boolean;
}

type Parts = AnswerContext<{ readonly index: EntryIndex }>;

export const maintenanceCalls = {
  /** Keys of entries, newest first, complete. */
  positions: ({ index }: Parts, query: RowQuery): Promise<readonly RowKey[]> =>
    index.whole((readers) => readers.index.list(query)),

  sessionPositions: ({ index }: Parts, range: SessionRange): Promise<readonly number[]> =>
    index.whole((readers) => readers.index.sessionPositions(range)),

  /** Positions selected from the log itself, in order, whatever state the index is in. */
  selectFromLog: ({ log, index }: Parts, selection: LogSelection): Promise<readonly number[]> =>
    // A broken index must not keep anything from being forgotten.
    selectFromLog(log, selection, (positions) =>
      index.whole((readers) => readers.index.rowsAt(positions)).catch(() => []),
    ),

  /** Positions of existing entries whose index rows differ from what the log yields. */
  mismatchedRows: ({ log, index }: Parts, positions: readonly number[]): Promise<readonly number[]> =>
    index.whole(async (readers) => {
      const stored = (await log.getBodies(positions)).filter((one) => one?.body !== undefined) as readonly StoredBody[];
      return (await compareRows({ log, index: readers.index }, stored)).mismatched;
    }),

  /** What the index remembers of the log and the log no longer contains. */
  contradiction: async ({ log, index }: Parts): Promise<Contradiction | undefined> =>
    contradictionOf(log, await index.knownHeads()),

  /** Indexes the log as it is, and drops what the index remembers of another one. */
  async acceptLog({ index }: Parts): Promise<void> {
    await index.whole(async () => undefined);
    const inUse = await index.index();
    await inUse.forgetHeads(await inUse.rememberedHeads());
  },

  indexState: ({ index }: Parts): Promise<IndexState> => index.state(),

  /** Rebuilds the index next to the present one, which answers until it is replaced. */
  rebuildIndex: ({ rebuilding }: Parts): Promise<void> => rebuilding.run(),

  /** Progress of a rebuild; undefined if there is none. */
  rebuiltThrough: async ({ rebuilding }: Parts): Promise<number | undefined> => rebuilding.through,

  /** Removes leftovers of forgotten entries from the index's files; returns what is left, in words. */
  async purgeIndex({ index, purge }: Parts): Promise<string | undefined> {
    // Index the redactions first.
    await index.whole(async () => undefined);
    return purge();
  },
};

export type MaintenanceCalls = CallsOf<typeof maintenanceCalls>;

/**
 * Selects entries by reading the log, in order, without erased ones. The body of an altered entry cannot be trusted: it
 * is selected by the row that was indexed before, if there is one.
 *
 * @internal Exported for tests.
 */
export async function selectFromLog(
  log: Pick<EntryLog, "readBodies">,
  { filter, after, through }: LogSelection,
  rowsAt: EntryIndex["rowsAt"] = async () => [],
): Promise<readonly number[]> {
  const { kinds, session_id, project } = filter;
  const texts = [session_id, project].filter((label) => label !== undefined);
  const positions: number[] = [];
  const altered: number[] = [];
  for await (const batch of walkBodies(log, { after, through })) {
    for (const { position, kind, recorded_at, body = "", flaw } of batch) {
      if (flaw !== undefined) altered.push(position);
      if (kinds !== undefined && !kinds.includes(kind)) continue;
      if (!texts.every((text) => mayHold(body, text))) continue;
      if (isSelected({ kind, recorded_at, body }, filter)) positions.push(position);
    }
  }
  if (altered.length === 0) return positions;
  const kept = (await rowsAt(altered)).filter((row) => rowMatches(row, filter)).map(({ position }) => position);
  return [...positions, ...kept].sort((left, right) => left - right);
}

/** JSON can only differ from the usual form in these ways. Parsing takes many times as long as a text search. */
function mayHold(json: string, text: string): boolean {
  return json.includes(JSON.stringify(text)) || json.includes("\\u") || json.includes("\\/");
}

function isSelected(
  { kind, recorded_at, body: json }: Pick<StoredBody, "kind" | "recorded_at"> & { readonly body: string },
  filter: LogFilter,
): boolean {
  const body = parseJsonObject(json);
  // A damaged body cannot be attributed; `verify` reports it, and it is forgotten by its position.
  if (body === undefined) return false;
  const { session_id, project, created_at = recorded_at } = body as { readonly [name: string]: string | undefined };
  const created_ms = typeof created_at === "string" ? parseTime(created_at) : undefined;
  return rowMatches({ kind, session_id, project, created_ms } as FilteredRow<keyof LogFilter>, filter);
}
