// What an index engine must be able to do: rows, sessions, texts and documents, and how the index is filled, reset and cleaned.
import type { JsonObject } from "../model/json.js";
import type { Reference } from "./references.js";
import type { RowFilter } from "./row-filter.js";

export type { Reference, ReferenceCondition } from "./references.js";
export type { RowFilter } from "./row-filter.js";

export interface EntryIndex extends RowIndex, SessionIndex, TextIndex, DocumentIndex, IndexLife {
  /** Starts an empty index next to this one, which keeps answering. Engines that cannot are reset instead. */
  draft?(): Promise<IndexDraft>;
}

/** An index that is filled next to the one in use, to replace it. */
export interface IndexDraft {
  readonly index: EntryIndex;
  /** False once any process has adopted or removed it. */
  isThere(): Promise<boolean>;
  /**
   * Replaces the index in use, atomically for every process. `behind`: the one in use still has more. `gone`: it was
   * removed, because forgetting removes drafts.
   */
  adopt(): Promise<"adopted" | "behind" | "gone">;
  remove(): Promise<void>;
}

/** What the index stores of an entry: what lists, filters and counts need, and recorded text only for folding. */
export interface EntryRow {
  readonly position: number;
  readonly kind: string;
  readonly created_ms: number;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  /** The entry's references; duplicates count once. */
  readonly references: readonly Reference[];
  /**
   * The entry that the references count for instead: for a response its interaction, for feedback the rated entry. If
   * that has no row, they count for nothing and are not stored.
   */
  readonly about?: number;
  /** For messages: the role as views read it. */
  readonly role?: string;
  /**
   * Facts for folds: of a session_info, about the session; of feedback, which entry it is about; of an answer, its
   * model call. Stored with the row, because documents that lose an entry are folded again from the remaining rows.
   */
  readonly facts?: JsonObject;
}

/** A place in a list: newest `created_ms` first, then the highest position. */
export interface RowKey {
  readonly created_ms: number;
  readonly position: number;
}

/** Compares in that order. */
export function newestFirst(left: RowKey, right: RowKey): number {
  return right.created_ms - left.created_ms || right.position - left.position;
}

/** The first of several lists together, each key once. */
export function newestKeys(keys: readonly RowKey[], limit: number): readonly RowKey[] {
  const byPosition = new Map(keys.map((key) => [key.position, key]));
  return [...byPosition.values()].sort(newestFirst).slice(0, limit);
}

export interface RowQuery {
  readonly filter: RowFilter;
  /** Only rows strictly after this place. */
  readonly after?: RowKey;
  readonly limit: number;
}

export interface RowCounts {
  readonly entries: number;
  readonly by_kind: { readonly [kind: string]: number };
  /** Those with the most entries first. */
  readonly projects: readonly { readonly project: string; readonly entries: number }[];
  readonly first_ms?: number;
  readonly last_ms?: number;
}

/** The counts as shown to users. */
export interface EntryCounts extends Omit<RowCounts, "first_ms" | "last_ms"> {
  readonly sessions: number;
  /** Times of the first and last entry; null if there is none. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  /** Set during a rebuild: older entries are not counted. */
  readonly partial?: true;
}

interface RowIndex {
  /** Keys of the rows that pass the filter, newest first. */
  list(query: RowQuery): Promise<readonly RowKey[]>;
  /** The rows at these positions, those that are there, in order of position. */
  rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]>;
  count(): Promise<RowCounts>;
}

/** A range of a session's entries, by position. */
export interface SessionRange {
  readonly session_id: string;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Only positions after this one in the given order. */
  readonly after?: number;
  /** Only positions greater than this one, whatever the order. */
  readonly above?: number;
  readonly kinds?: readonly string[];
  readonly role?: string;
}

interface SessionIndex {
  /** Positions of a session's entries. The empty session has none. */
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  /** The state of each session when `through` was the newest position; later sessions are left out. */
  sessionPlaces(query: SessionPlacesQuery): Promise<readonly SessionPlace[]>;
}

export interface SessionPlacesQuery {
  readonly session_ids: readonly string[];
  readonly through: number;
}

export interface SessionPlace {
  readonly session_id: string;
  /** The latest time of its entries. */
  readonly last_ms: number;
  /** The newest position of its entries. */
  readonly position: number;
}

/** The texts of one entry, in the form that searches compare. */
export interface EntryTexts {
  readonly position: number;
  readonly texts: readonly string[];
}

export interface TextBatch {
  readonly texts: readonly EntryTexts[];
  /** The position that the batch continues; an index that is not there yet rejects it, to avoid a gap. */
  readonly after?: number;
  readonly through: number;
}

export interface CandidateQuery extends RowQuery {
  /** Substrings of one text, in the form of the texts. */
  readonly needles: readonly string[];
}

/** Queries the newest rows of one kind, at a cost independent of the index's size. */
export interface NewestQuery {
  readonly kind: string;
  /** Other conditions. */
  readonly filter: Omit<RowFilter, "kinds">;
  readonly needles: readonly string[];
  /** Number of rows of the kind, within the filter's times, to check. */
  readonly rows_max: number;
}

export interface NewestCandidates {
  readonly keys: readonly RowKey[];
  /** False if rows of the kind were not checked. */
  readonly is_all: boolean;
}

interface TextIndex {
  /** Position through which texts were applied; at most that of the rows. */
  textCheckpoint(): Promise<number>;
  /**
   * Applies the texts after the text checkpoint, in order. An engine may buffer them: its checkpoint then stays, and
   * after a restart they are given again. Returns the position after which to continue, which falls back to the
   * checkpoint if another process got ahead.
   */
  applyTexts(batch: TextBatch): Promise<number>;
  /**
   * Call it when no more texts follow for now: writes buffered texts, or does one merge, which may take a tenth of a
   * second. False once nothing is left. Answers do not depend on it.
   */
  mergeTexts?(): Promise<boolean>;
  /**
   * Like `list`, but only entries that may contain all needles: all that do, those without indexed texts, and possibly
   * others. The caller checks the entries.
   */
  candidates(query: CandidateQuery): Promise<readonly RowKey[]>;
  /** Candidates among the newest rows of a kind, newest first; or all, if the engine finds those as fast. */
  newestCandidates(query: NewestQuery): Promise<NewestCandidates>;
}

export interface DocumentName {
  readonly collection: string;
  readonly key: string;
}

export interface IndexDocument extends DocumentName {
  /** Its place in the collection: any finite number. */
  readonly sort: number;
  /** Position of the newest entry in it: breaks ties of sort, and tells what changed. */
  readonly position: number;
  /** Labels to select it by, without duplicates; they are returned in this order. */
  readonly labels: readonly string[];
  readonly body: JsonObject;
}

export interface DocumentQuery {
  readonly collection: string;
  /** By `sort`, then position, then key (as UTF-8 bytes), all in this direction. */
  readonly order: "asc" | "desc";
  /** Only documents that have all of these labels. */
  readonly labels?: readonly string[];
  /** Only documents strictly after this place in the given order; missing fields count as equal. */
  readonly beyond?: DocumentPlace;
  /** Only documents unchanged after this position. */
  readonly through?: number;
  readonly limit: number;
}

export interface DocumentPlace {
  readonly sort: number;
  readonly position?: number;
  /** Requires a position. */
  readonly key?: string;
}

/** Documents changed after a position: by position, then by key, ascending. */
export interface ChangeQuery {
  readonly collection: string;
  readonly labels?: readonly string[];
  /** Strictly after this place; without a key, after all of that position. */
  readonly beyond: { readonly position: number; readonly key?: string };
  readonly limit: number;
}

/** Texts are compared exactly. Answers are of one checkpoint, never of a half-applied batch. */
interface DocumentIndex {
  /** Existing documents with these keys, in no particular order. */
  getDocuments(query: {
    readonly collection: string;
    readonly keys: readonly string[];
  }): Promise<readonly IndexDocument[]>;
  listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]>;
  changedDocuments(query: ChangeQuery): Promise<readonly IndexDocument[]>;
  countDocuments(collection: string): Promise<number>;
}

/** The state of an index: its content is derived from all entries of its log through this position. */
export interface IndexRevision {
  readonly position: number;
  /**
   * Changes with every reset and replacement. Two indexes with the same position may differ: the later one has never
   * seen what was forgotten before it began.
   */
  readonly epoch: string;
}

export function isSameRevision(one: IndexRevision, other: IndexRevision): boolean {
  return one.position === other.position && one.epoch === other.epoch;
}

export interface IndexBatch {
  /** The state that the batch was computed from: it is accepted only there. */
  readonly after: IndexRevision;
  /** In order of position, all after the index's position. */
  readonly rows: readonly EntryRow[];
  /** The position through which the batch goes; later than its last row if erased entries follow. */
  readonly through: number;
  /**
   * Positions named by redactions in the batch: their rows go, and what the index derived from them. Missing rows are
   * ignored.
   */
  readonly erased?: readonly number[];
  /** Documents after these entries, replacing earlier versions. */
  readonly put?: readonly IndexDocument[];
  /** Documents to remove; missing ones are ignored. */
  readonly removed?: readonly DocumentName[];
  /** The log that the rows are from and its hash at `through`; optional. */
  readonly source?: IndexSource;
}

/** What an index was built from: with another log, or another entry at that position, it is useless. */
export interface IndexSource {
  readonly log_id: string;
  readonly position: number;
  readonly hash: string;
}

interface IndexLife {
  readonly engine: string;
  /** The position through which entries were applied. */
  checkpoint(): Promise<number>;
  /** The position and the epoch, to compute a batch from. */
  revision(): Promise<IndexRevision>;
  /** What the rows were derived from; undefined before the first. */
  source(): Promise<IndexSource | undefined>;
  /**
   * Applies a batch as a whole and moves the checkpoint to `through`; or rejects it as a whole if the index is no
   * longer in the state that the batch was computed from, because another process was faster or the index was reset.
   * Returns whether it was applied. After a rejection, the caller reads the checkpoint and tries again, a moment later
   * if the index has not moved. So documents can be folded outside of the engine. Rows, documents, erasures and
   * checkpoint are one change, for every reader and after every crash. Anybody may apply at any time: reads, the
   * background indexer, a rebuild. An engine without transactions takes a lease of the store with the log inside
   * `apply`, checks the state, writes, and releases the lease; if another process has the lease, it rejects. So no
   * caller needs a lease. It writes rows and documents first, each with the batch's `through`, and the checkpoint last.
   * Reads skip rows past the checkpoint, and use the newest version of each document at or below it. What a crash left
   * past the checkpoint is replaced when the entries are applied again. Erasures may happen before the checkpoint
   * moves: the log no longer has them.
   */
  apply(batch: IndexBatch): Promise<boolean>;
  /**
   * Holds a snapshot for all following reads until it is released; another hold or a write ends it. Releasing tells
   * whether it lasted. Engines that cannot hold one are asked for their generation instead.
   */
  hold?(): () => boolean;
  /** Deletes everything derived, so indexing starts again at position 1; remembered heads stay. */
  reset(): Promise<void>;
  /**
   * All log heads that this index was ever built from, also before resets and by other versions: evidence against a
   * truncated or replaced log, removed only by `forgetHeads`.
   */
  rememberedHeads(): Promise<readonly IndexSource[]>;
  /**
   * Forgets these heads, except the current source: the log contains them, or a person has accepted that it does not.
   */
  forgetHeads(heads: readonly IndexSource[]): Promise<void>;
  /** Like the log's: removes leftovers of deleted rows from storage. */
  purge?(): Promise<string | undefined>;
  /** Whether any process deleted rows since the last purge. */
  isPurgeDue?(): Promise<boolean>;
  close(): Promise<void>;
}

/** Pages through a list; entries that arrive meanwhile may be included or not. */
export async function* rowPages(
  list: (place: { readonly limit: number; readonly after?: RowKey }) => Promise<readonly RowKey[]>,
  limit: number,
): AsyncGenerator<readonly RowKey[]> {
  for (let after: RowKey | undefined; ; ) {
    const page = await list({ limit, ...(after === undefined ? {} : { after }) });
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    after = page.at(-1);
  }
}
