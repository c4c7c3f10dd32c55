// Calls that keep a store in order: how far its index has come, rebuilding it, and what its log is checked against.
import type { EntryIndex, RowKey, RowQuery, SessionRange } from "../index/port.js";
import { compareRows } from "../index/rows-of-bodies.js";
import { contradictionOf } from "../log/evidence.js";
import type { LogSelection } from "../log/forgetting/log-lookups.js";
import type { StoredBody } from "../log/port.js";
import type { Contradiction } from "../model/verification.js";
import type { Answering } from "./answering.js";
import type { CallsOf } from "./calls.js";
import { selectFromLog } from "./log-selection.js";

export interface IndexState {
  /** Position through which the index has followed the log. */
  readonly indexed_through: number;
  /** The same of its texts, which come behind. */
  readonly texts_through: number;
  /** False while answers lack older entries. */
  readonly is_whole: boolean;
}

type Parts = Answering<{ readonly index: EntryIndex }>;

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
      return (await compareRows({ log, index: readers.index }, stored)).strange;
    }),

  /** What the index remembers of the log and the log no longer holds. */
  contradiction: async ({ log, index }: Parts): Promise<Contradiction | undefined> =>
    contradictionOf(log, await index.knownHeads()),

  /** Brings the index up to the log as it is, and drops what it remembers of another one. */
  async acceptLog({ index }: Parts): Promise<void> {
    await index.whole(async () => undefined);
    const inUse = await index.index();
    await inUse.settle(await inUse.remembered());
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
