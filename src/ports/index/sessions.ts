// Sessions in the index: what is known of each as a whole, and which entries it has.
import type { JsonObject } from "../../model/json.js";

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

export interface SessionIndex {
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
}
