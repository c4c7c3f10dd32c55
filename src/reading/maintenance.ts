// Calls that keep a store in order: how far its index has come, rebuilding it, and what its log is checked against.

import { compareRows } from "../index/entry-row.js";
import type { EntryIndex, RowKey, RowQuery, SessionRange } from "../index/port.js";
import { type FilteredRow, rowMatches } from "../index/row-filter.js";
import type { LogFilter, LogSelection } from "../log/forgetting/log-lookups.js";
import type { EntryLog, StoredBody } from "../log/port.js";
import { contradictionOf } from "../log/verify.js";
import { walkBodies } from "../log/walk-log.js";
import { parseJsonObject } from "../model/json.js";
import { parseTime } from "../model/time.js";
import type { Contradiction } from "../model/verification.js";
import type { AnswerContext, CallsOf } from "./calls.js";

export interface IndexState {
  /** Position through which the index has followed the log. */
  readonly indexed_through: number;
  /** The same of its texts, which come behind. */
  readonly texts_through: number;
  /** False while answers lack older entries. */
  readonly is_whole: boolean;
}

type Parts = AnswerContext<{ readonly index: EntryIndex }>;

export const maintenanceCalls = {
  /** Places of entries, newest first, for those who may pass over none. */
  positions: ({ index }: Parts, query: RowQuery): Promise<readonly RowKey[]> =>
    index.whole((readers) => readers.index.list(query)),

  sessionPositions: ({ index }: Parts, range: SessionRange): Promise<readonly number[]> =>
    index.whole((readers) => readers.index.sessionPositions(range)),

  /** Positions by what the log itself says, in order, for those who may pass over none whatever became of the index. */
  selectFromLog: ({ log, index }: Parts, selection: LogSelection): Promise<readonly number[]> =>
    // Whatever keeps the index from answering must not keep anything from being forgotten.
    selectFromLog(log, selection, (positions) =>
      index.whole((readers) => readers.index.rowsAt(positions)).catch(() => []),
    ),

  /** Those of these positions, of entries that are there, whose rows in the index are not what the log makes of them. */
  mismatchedRows: ({ log, index }: Parts, positions: readonly number[]): Promise<readonly number[]> =>
    index.whole(async (readers) => {
      const stored = (await log.getBodies(positions)).filter((one) => one?.body !== undefined) as readonly StoredBody[];
      return (await compareRows({ log, index: readers.index }, stored)).mismatched;
    }),

  /** What the index remembers of the log and the log no longer holds. */
  contradiction: async ({ log, index }: Parts): Promise<Contradiction | undefined> =>
    contradictionOf(log, await index.knownHeads()),

  /** Brings the index up to the log as it is, and drops what it remembers of another one. */
  async acceptLog({ index }: Parts): Promise<void> {
    await index.whole(async () => undefined);
    const inUse = await index.index();
    await inUse.forgetHeads(await inUse.rememberedHeads());
  },

  indexState: ({ index }: Parts): Promise<IndexState> => index.state(),

  /** Rebuilds the index beside the present one, which answers until the new one takes its place. */
  rebuildIndex: ({ rebuilding }: Parts): Promise<void> => rebuilding.run(),

  /** Position through which a rebuild has come; undefined while there is none. */
  rebuiltThrough: async ({ rebuilding }: Parts): Promise<number | undefined> => rebuilding.through,

  /** Removes what forgotten entries left in the index's files; answers with what is left, in words. */
  async purgeIndex({ index, purge }: Parts): Promise<string | undefined> {
    // Only once it has come to the redactions.
    await index.whole(async () => undefined);
    return purge();
  },
};

export type MaintenanceCalls = CallsOf<typeof maintenanceCalls>;

// Entries selected by reading the log itself, for whoever may pass over none: an index can lack a row, or have another one.

/**
 * In order. What was erased is left out. An altered entry does not say any more whose it is: it is selected by the row that the
 * index made of it before, if it has one.
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

/** JSON has only these ways to write a text other than the usual one. Parsing takes many times as long as looking. */
function mayHold(json: string, text: string): boolean {
  return json.includes(JSON.stringify(text)) || json.includes("\\u") || json.includes("\\/");
}

function isSelected(
  { kind, recorded_at, body: json }: Pick<StoredBody, "kind" | "recorded_at"> & { readonly body: string },
  filter: LogFilter,
): boolean {
  const body = parseJsonObject(json);
  // A damaged body does not say whose it is; `verify` names it, and it is forgotten by its position.
  if (body === undefined) return false;
  const { session_id, project, created_at = recorded_at } = body as { readonly [name: string]: string | undefined };
  const created_ms = typeof created_at === "string" ? parseTime(created_at) : undefined;
  return rowMatches({ kind, session_id, project, created_ms } as FilteredRow<keyof LogFilter>, filter);
}
