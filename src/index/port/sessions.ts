// Sessions in the index: which entries each of them has. What is known of one as a whole is a document.

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
