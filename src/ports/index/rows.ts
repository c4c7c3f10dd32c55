// Rows of the index: what it keeps of an entry, and the lists and counts that are answered from it.
import type { JsonObject } from "../../model/json.js";

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

/** Filters of a list; an absent one filters nothing, `""` of a label selects entries without it. */
export interface RowFilter {
  readonly kinds?: readonly string[];
  readonly session_id?: string;
  readonly project?: string;
  readonly client?: string;
  readonly since_ms?: number;
  readonly until_ms?: number;
  readonly memory?: string;
  readonly chunk?: string;
  /** Messages of this role, as views read it. */
  readonly role?: string;
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
