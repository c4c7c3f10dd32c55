// The life of an index: how it is filled, what it was made from, and how it is begun again and cleaned.
import type { DocumentName, IndexDocument } from "./documents.js";
import type { EntryRow } from "./rows.js";

/** Where an index stands: all that is in it follows from the entries of its log through this position. */
export interface IndexStanding {
  readonly position: number;
  /**
   * Another one after every reset, and in every index that takes the place of another. Two indexes that came equally far
   * may differ nevertheless: the later one has never seen what was forgotten before it began.
   */
  readonly epoch: string;
}

export function isSameStanding(one: IndexStanding, other: IndexStanding): boolean {
  return one.position === other.position && one.epoch === other.epoch;
}

export interface IndexBatch {
  /** Where the index stood when the batch was made, by what was read from it: the batch is taken nowhere else. */
  readonly after: IndexStanding;
  /** In order of position, all of them beyond where the index stands. */
  readonly rows: readonly EntryRow[];
  /** How far the entries go, which is further than the rows where the last of them have none (erased ones). */
  readonly through: number;
  /**
   * Positions that redactions among the entries name: their rows go, and what the index derived from them by itself. Those
   * whose rows are not there are passed over.
   */
  readonly erased?: readonly number[];
  /** Documents as they are after these entries, each in the place of the one it had before. */
  readonly put?: readonly IndexDocument[];
  /** Documents of which nothing is left; those that are not there are passed over. */
  readonly removed?: readonly DocumentName[];
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
  /** The position through which entries were applied. */
  checkpoint(): Promise<number>;
  /** The same with the epoch, to make a batch from. */
  standing(): Promise<IndexStanding>;
  /** What the rows through the checkpoint were made from; undefined before the first. */
  source(): Promise<IndexSource | undefined>;
  /**
   * Takes a batch whole and moves the checkpoint to `through`, or passes it over whole, where the index no longer stands
   * where the batch was made from: another process was faster, or the index was begun again. Answers whether it was taken.
   * Whoever made one that was not looks at the checkpoint and comes again, a moment later where the index has not moved. So
   * documents can be folded outside of the engine, from what was read there.
   *
   * Rows, documents, erasures and checkpoint are one change, for every reader and after every crash. Anybody may apply at
   * any time: a read that brings the index up to the log, whoever follows in the background, a rebuild.
   *
   * An engine that cannot make the change one transaction does as follows. `apply` itself takes a lease of the store that
   * has the log, looks where the index stands, writes, and gives the lease back. Where another process has the lease, it
   * passes the batch over. So no caller needs a lease or can forget one. Rows and documents are written first, each with the
   * `through` of its batch, and the checkpoint last. Reading passes over rows beyond the checkpoint, and takes of each
   * document the newest version at or below it, so that the version before stays until the checkpoint has moved. What a
   * crash left beyond the checkpoint is replaced when the same entries are applied again, perhaps in other batches. What is
   * erased may go before the checkpoint moves: the log has it no more.
   */
  apply(batch: IndexBatch): Promise<boolean>;
  /**
   * Keeps all that is read from now on as of one moment, until it is let go; whoever holds or writes meanwhile ends it.
   * Letting go answers whether it lasted. What cannot do that is asked for its generation instead.
   */
  hold?(): () => boolean;
  /** Forgets everything derived, so that applying starts again at position 1; what it was made from it goes on remembering. */
  reset(): Promise<void>;
  /**
   * Every head of a log that this index was made from, now or before it was begun again or exchanged for another, also by
   * another version: evidence against a log that was cut off or exchanged, which nothing but settling it takes away.
   */
  remembered(): Promise<readonly IndexSource[]>;
  /** Forgets these, but for what it is made from now: the log holds them, or a person has accepted that it does not. */
  settle(heads: readonly IndexSource[]): Promise<void>;
  /** As the log's: removes what rows that went have left where the index keeps its bytes. */
  purge?(): Promise<string | undefined>;
  /** Whether rows went since it was last purged, by whichever process. */
  isPurgeDue?(): Promise<boolean>;
  close(): Promise<void>;
}
