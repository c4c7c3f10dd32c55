// What an index engine must be able to do: apply rows in order of position, and answer lists and counts from them.
import type { JsonObject } from "../model/json.js";
import type { RowFilter } from "./row-filter.js";

export type { RowFilter } from "./row-filter.js";

/** What the index keeps of an entry: all that lists, filters and counts need, and no recorded text. */
export interface EntryRow {
  readonly position: number;
  readonly kind: string;
  readonly created_ms: number;
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  /** References of an interaction, or of the response that completes it. */
  readonly memories: readonly string[];
  readonly chunks: readonly string[];
  /** Of a response: the position of the interaction it completes, which its references count for. */
  readonly completes?: number;
  /** Of a message: its role as views read it. */
  readonly role?: string;
  /** Of a session_info: what it says about the session; an absent part says nothing. */
  readonly info?: SessionInfo;
  /** Of a consolidation: the position through which the session's messages are summarised. */
  readonly through?: number;
}

export interface SessionInfo {
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly parent?: string;
}

/** What is known of a session, summed up over its entries. */
export interface SessionRow {
  readonly session_id: string;
  readonly title: string;
  readonly metadata: JsonObject;
  readonly parent: string;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly projects: readonly string[];
  readonly clients: readonly string[];
  readonly entries: number;
  readonly by_kind: { readonly [kind: string]: number };
  /** The greatest `through` of its consolidations, 0 without any. */
  readonly consolidated_through: number;
  /** Position of its last clear marker, 0 without any. */
  readonly cleared_through: number;
  /** Position of its newest entry. */
  readonly last_position: number;
}

/** Filters of the list of sessions: those that hold an entry with the label; `""` asks for one without it. */
export interface SessionFilter {
  readonly project?: string;
  readonly client?: string;
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

/** A place in the order of a list: newest `created_ms` first, then the highest position. */
export interface RowKey {
  readonly created_ms: number;
  readonly position: number;
}

export interface EntryCounts {
  readonly entries: number;
  readonly sessions: number;
  readonly by_kind: { readonly [kind: string]: number };
  readonly projects: readonly { readonly project: string; readonly entries: number }[];
  readonly first_ms?: number;
  readonly last_ms?: number;
  /** While the index is rebuilt: older entries are not counted. No index says so itself. */
  readonly partial?: true;
}

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

export interface EntryIndex {
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
  /** Keys newest first, those strictly after `after` in that order. */
  list(query: {
    readonly filter: RowFilter;
    readonly after?: RowKey;
    readonly limit: number;
  }): Promise<readonly RowKey[]>;
  /** The position through which texts were applied; at most that of the rows. */
  textCheckpoint(): Promise<number>;
  /**
   * Applies the texts that follow the text checkpoint, in order. An engine may keep them back until enough has come
   * together: its checkpoint then stays where it is, and after a restart they are given again. Answers with the position
   * after which texts are to be given next, which goes back to the checkpoint where another process got ahead.
   */
  applyTexts(batch: TextBatch): Promise<number>;
  /**
   * Called when no more texts are to be given for now: writes what was kept back, and puts in better order what is
   * written, a step of some milliseconds at a time. False once nothing is left to do. No answer depends on it.
   */
  tidyTexts?(): Promise<boolean>;
  /**
   * As `list`, but only what may hold all of the needles (each a piece of one text, in the form of the texts): every
   * entry that does, those whose texts are not applied yet, and perhaps some that do not. Whoever asks looks at the
   * entries themselves.
   */
  candidates(query: {
    readonly filter: RowFilter;
    readonly needles: readonly string[];
    readonly after?: RowKey;
    readonly limit: number;
  }): Promise<readonly RowKey[]>;
  count(): Promise<EntryCounts>;
  /**
   * Sessions by their newest position at or below `as_of`, highest first, those strictly below `before`. Entries that
   * arrive later move no session across a page, so that every session is reached exactly once.
   */
  listSessions(query: {
    readonly filter: SessionFilter;
    readonly as_of: number;
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly { readonly position: number; readonly session: SessionRow }[]>;
  getSession(session_id: string): Promise<SessionRow | undefined>;
  /** Positions of a session's entries. */
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  /**
   * Keeps all that is read from now on as of one moment, until it is let go; whoever holds or writes meanwhile ends it.
   * Letting go answers whether it lasted. What cannot do that is asked for its generation instead.
   */
  hold?(): () => boolean;
  /** Forgets everything derived, so that applying starts again at position 1. */
  reset(): Promise<void>;
  /** Begins an empty index beside this one, which goes on answering. What cannot do that is reset instead. */
  draft?(): Promise<IndexDraft>;
  /** As the log's: removes what rows that went have left where the index keeps its bytes. */
  purge?(): Promise<string | undefined>;
  /** Whether rows went since it was last purged, by whichever process. */
  isPurgeDue?(): Promise<boolean>;
  close(): Promise<void>;
}
