// What an index engine must be able to do: rows, sessions, texts and documents, and how the index is filled, reset and cleaned.
import type { JsonObject } from "../model/json.js";
import type { Reference } from "./references.js";
import type { RowFilter } from "./row-filter.js";

export type { Reference, ReferenceCondition } from "./references.js";
export type { RowFilter } from "./row-filter.js";

export interface EntryIndex extends RowIndex, SessionIndex, TextIndex, DocumentIndex, IndexLife {
  /** Begins an empty index beside this one, which goes on answering. What cannot do that is reset instead. */
  draft?(): Promise<IndexDraft>;
}

/** An index that is filled beside the one in use, to take its place. */
export interface IndexDraft {
  readonly index: EntryIndex;
  /** False once it was adopted or removed, by whichever process. */
  isThere(): Promise<boolean>;
  /**
   * Puts it in the place of the index in use, at once and for every process. Behind means that the one in use knows more
   * as yet; gone, that it was removed and never took its place, since forgetting removes drafts.
   */
  adopt(): Promise<"adopted" | "behind" | "gone">;
  remove(): Promise<void>;
}

/** What the index keeps of an entry: all that lists, filters and counts need, and of recorded text only what a document is folded from. */
export interface EntryRow {
  readonly position: number;
  readonly kind: string;
  readonly created_ms: number;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  /** What the entry refers to; naming the same twice says no more than once. */
  readonly references: readonly Reference[];
  /**
   * The position of the entry that the references count for in place of this one: of a response, the interaction that it
   * completes, of feedback the entry that somebody thought something of. Where there is no row at that position, or no longer, they count for nothing and are not kept.
   */
  readonly about?: number;
  /** Of a message: its role as views read it. */
  readonly role?: string;
  /**
   * What the entry says of more than itself, for the folds: of a session_info, what it tells about the session, of feedback
   * which entry it is about, of an answer what the call to the model took. It is kept with the row, because a document that loses an entry is folded again from the rows that are left.
   */
  readonly facts?: JsonObject;
}

/** A place in the order of a list: newest `created_ms` first, then the highest position. */
export interface RowKey {
  readonly created_ms: number;
  readonly position: number;
}

/** That order, for whoever sorts. */
export function newestFirst(left: RowKey, right: RowKey): number {
  return right.created_ms - left.created_ms || right.position - left.position;
}

export interface RowQuery {
  readonly filter: RowFilter;
  /** Only what comes strictly after this place. */
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

/** The same as readers show it. */
export interface EntryCounts extends Omit<RowCounts, "first_ms" | "last_ms"> {
  readonly sessions: number;
  /** When the first entry and the last one happened; null where there is none. */
  readonly first_at: string | null;
  readonly last_at: string | null;
  /** While the index is rebuilt: older entries are not counted. */
  readonly partial?: true;
}

interface RowIndex {
  /** Keys of the rows that pass the filter, newest first. */
  list(query: RowQuery): Promise<readonly RowKey[]>;
  /** The rows at these positions, those that are there, in order of position. */
  rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]>;
  count(): Promise<RowCounts>;
}

/** Where in a session's entries to read, by position. */
export interface SessionRange {
  readonly session_id: string;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Only positions beyond this one in the given order. */
  readonly after?: number;
  /** Only positions greater than this one, whatever the order. */
  readonly above?: number;
  readonly kinds?: readonly string[];
  readonly role?: string;
}

interface SessionIndex {
  /** Positions of a session's entries. The empty session has none. */
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  /** Where each session stood when `through` was the newest position; sessions that began later are left out. */
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

/** What a search looks through in one entry: each text of its own, in the form that searches compare. */
export interface EntryTexts {
  readonly position: number;
  readonly texts: readonly string[];
}

export interface TextBatch {
  readonly texts: readonly EntryTexts[];
  /** The position that the batch continues; an index that has not come that far passes it over, which would leave a gap. */
  readonly after?: number;
  readonly through: number;
}

export interface CandidateQuery extends RowQuery {
  /** Each a piece of one text, in the form of the texts. */
  readonly needles: readonly string[];
}

/** A look at the newest rows of one kind, which costs no more however large the index is. */
export interface NewestQuery {
  readonly kind: string;
  /** What else has to hold. */
  readonly filter: Omit<RowFilter, "kinds">;
  readonly needles: readonly string[];
  /** So many rows of the kind, within the times of the filter, are looked at. */
  readonly rows_max: number;
}

export interface NewestCandidates {
  readonly keys: readonly RowKey[];
  /** False where rows of the kind were left out, which may be candidates, too. */
  readonly is_all: boolean;
}

interface TextIndex {
  /** The position through which texts were applied; at most that of the rows. */
  textCheckpoint(): Promise<number>;
  /**
   * Applies the texts that follow the text checkpoint, in order. An engine may keep them back until enough has come
   * together: its checkpoint then stays where it is, and after a restart they are given again. Answers with the position
   * after which texts are to be given next, which goes back to the checkpoint where another process got ahead.
   */
  applyTexts(batch: TextBatch): Promise<number>;
  /**
   * Called when no more texts are to be given for now: writes what was kept back, or does one merge of what is written,
   * which may take a tenth of a second. False once nothing is left to do. No answer depends on it.
   */
  mergeTexts?(): Promise<boolean>;
  /**
   * As `list`, but only what may hold all of the needles: every entry that does, those whose texts are not applied yet,
   * and perhaps some that do not. Whoever asks looks at the entries themselves.
   */
  candidates(query: CandidateQuery): Promise<readonly RowKey[]>;
  /** The candidates among the newest rows of a kind, newest first; all of them where the engine finds those as quickly. */
  newestCandidates(query: NewestQuery): Promise<NewestCandidates>;
}

export interface DocumentName {
  readonly collection: string;
  readonly key: string;
}

export interface IndexDocument extends DocumentName {
  /** Where it stands in its collection: any number that is finite. */
  readonly sort: number;
  /** The position of the newest entry that it was made from: it decides where sorts are equal, and tells what changed. */
  readonly position: number;
  /** What lists select it by, each once. They are given back in this order. */
  readonly labels: readonly string[];
  readonly body: JsonObject;
}

export interface DocumentQuery {
  readonly collection: string;
  /** By `sort`, then by position, then by key (as UTF-8, byte by byte), all in this direction. */
  readonly order: "asc" | "desc";
  /** Only documents that have all of these labels. */
  readonly labels?: readonly string[];
  /** Only documents strictly beyond this place in the given order; what it leaves out, it is beyond all of. */
  readonly beyond?: DocumentPlace;
  /** Only documents that no entry after this position has changed. */
  readonly through?: number;
  readonly limit: number;
}

export interface DocumentPlace {
  readonly sort: number;
  readonly position?: number;
  /** Counts only with a position. */
  readonly key?: string;
}

/** Documents that entries after a position have changed: by their position, then by key, both upwards. */
export interface ChangeQuery {
  readonly collection: string;
  readonly labels?: readonly string[];
  /** Strictly beyond this place; without a key, beyond all of that position. */
  readonly beyond: { readonly position: number; readonly key?: string };
  readonly limit: number;
}

/** All texts are compared exactly. What is answered is of one moment: that of a checkpoint, never of a batch half applied. */
interface DocumentIndex {
  /** Those of these keys that are there, in no particular order. */
  getDocuments(query: {
    readonly collection: string;
    readonly keys: readonly string[];
  }): Promise<readonly IndexDocument[]>;
  listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]>;
  changedDocuments(query: ChangeQuery): Promise<readonly IndexDocument[]>;
  countDocuments(collection: string): Promise<number>;
}

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

interface IndexLife {
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
  rememberedHeads(): Promise<readonly IndexSource[]>;
  /** Forgets these, but for what it is made from now: the log holds them, or a person has accepted that it does not. */
  forgetHeads(heads: readonly IndexSource[]): Promise<void>;
  /** As the log's: removes what rows that went have left where the index keeps its bytes. */
  purge?(): Promise<string | undefined>;
  /** Whether rows went since it was last purged, by whichever process. */
  isPurgeDue?(): Promise<boolean>;
  close(): Promise<void>;
}

/** All that a list has, in its order. It holds still for nobody: what comes meanwhile may be among it or not. */
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
