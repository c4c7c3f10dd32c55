// What an index engine must be able to do: apply rows in order of position, and answer lists and counts from them.

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
}

export interface IndexBatch {
  readonly rows: readonly EntryRow[];
  readonly through: number;
}

export interface EntryIndex {
  readonly engine: string;
  /** The position through which rows were applied. */
  checkpoint(): Promise<number>;
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
  count(): Promise<EntryCounts>;
  /** Forgets everything derived, so that applying starts again at position 1. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
