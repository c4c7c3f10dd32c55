// Rows of the index: what it keeps of an entry, and the lists and counts that are answered from it.
import type { JsonObject } from "../../model/json.js";
import type { RowFilter } from "../row-filter.js";

/** What the index keeps of an entry: all that lists, filters and counts need, and no recorded text. */
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
   * completes. Where there is no row at that position, or no longer, they count for nothing and are not kept.
   */
  readonly about?: number;
  /** Of a message: its role as views read it. */
  readonly role?: string;
  /** Of a session_info: what it says about the session; an absent part says nothing. */
  readonly info?: SessionInfo;
  /** Of a consolidation: the position through which the session's messages are summarised. */
  readonly through?: number;
}

/** What an entry refers to: a memory or a chunk that was used, by its id. Both parts are compared exactly. */
export interface Reference {
  readonly what: string;
  readonly reference: string;
}

export interface SessionInfo {
  readonly title?: string;
  readonly metadata?: JsonObject;
  readonly parent?: string;
}

/** That a reference counts for the entry, whichever entry says so; with `lacks`, that none such does. */
export interface ReferenceCondition extends Reference {
  readonly lacks?: boolean;
}

/** A place in the order of a list: newest `created_ms` first, then the highest position. */
export interface RowKey {
  readonly created_ms: number;
  readonly position: number;
}

export interface RowQuery {
  readonly filter: RowFilter;
  /** Only what comes strictly after this place. */
  readonly after?: RowKey;
  readonly limit: number;
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

export interface RowIndex {
  /** Keys of the rows that pass the filter, newest first. */
  list(query: RowQuery): Promise<readonly RowKey[]>;
  count(): Promise<EntryCounts>;
}
