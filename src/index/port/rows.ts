// Rows of the index: what it keeps of an entry, and the lists and counts that are answered from it.
import type { JsonObject } from "../../model/json.js";
import type { Reference } from "../references.js";
import type { RowFilter } from "../row-filter.js";

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

export interface RowIndex {
  /** Keys of the rows that pass the filter, newest first. */
  list(query: RowQuery): Promise<readonly RowKey[]>;
  /** The rows at these positions, those that are there, in order of position. */
  rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]>;
  count(): Promise<RowCounts>;
}
