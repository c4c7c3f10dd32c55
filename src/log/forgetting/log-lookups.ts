// What forgetting needs from the reading side.

/** Fields that every body has by itself. */
export interface LogFilter {
  readonly session_id?: string;
  readonly project?: string;
  readonly kinds?: readonly string[];
  readonly until_ms?: number;
}

export interface LogSelection {
  readonly filter: LogFilter;
  /** Only entries in this range of the log. */
  readonly after: number;
  readonly through: number;
}

export interface LogLookups {
  /** Positions selected from the log itself, whatever state the index is in. */
  selectFromLog(selection: LogSelection): Promise<readonly number[]>;
  /** Positions whose index rows differ from what the log yields. */
  mismatchedRows(positions: readonly number[]): Promise<readonly number[]>;
  rebuildIndex(): Promise<void>;
  /** Removes leftovers of forgotten entries from the index's files; returns what is left, in words. */
  purgeIndex(): Promise<string | undefined>;
}
