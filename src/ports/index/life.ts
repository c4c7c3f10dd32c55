// The life of an index: how it is filled, what it was made from, and how it is begun again and cleaned.
import type { EntryRow } from "./rows.js";

export interface IndexBatch {
  readonly rows: readonly EntryRow[];
  /**
   * The checkpoint that the batch continues. An index that was begun again meanwhile, by whichever process, has not come
   * that far: it passes the batch over, which would leave a gap.
   */
  readonly after?: number;
  readonly through: number;
  /**
   * Positions that redactions among the entries name: their rows go, and all that was derived from them. Those whose rows
   * are not there are passed over.
   */
  readonly erased?: readonly number[];
  /** Which log the rows come from, and its hash at `through`, kept together; left out by who does not care to find out later. */
  readonly source?: IndexSource;
}

/** What an index was made from: with another log, or another entry at that place, it is worth nothing. */
export interface IndexSource {
  readonly log_id: string;
  readonly position: number;
  readonly hash: string;
}

export interface IndexLife {
  readonly engine: string;
  /** The position through which rows were applied. */
  checkpoint(): Promise<number>;
  /** What the rows through the checkpoint were made from; undefined before the first. */
  source(): Promise<IndexSource | undefined>;
  /**
   * Applies rows in order of position and moves the checkpoint to `through`, which is further where the last entries
   * have no row (erased ones). Rows at or below the checkpoint were applied before and are passed over.
   */
  apply(batch: IndexBatch): Promise<void>;
  /** Forgets everything derived, so that applying starts again at position 1. */
  reset(): Promise<void>;
  /** As the log's: removes what rows that went have left where the index keeps its bytes. */
  purge?(): Promise<string | undefined>;
  /** Whether rows went since it was last purged, by whichever process. */
  isPurgeDue?(): Promise<boolean>;
  close(): Promise<void>;
}
