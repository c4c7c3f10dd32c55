// What forgetting asks the reading side for.

/** What every body says of its entry without the others. */
export interface LogFilter {
  readonly session_id?: string;
  readonly project?: string;
  readonly kinds?: readonly string[];
  readonly until_ms?: number;
}

export interface LogSelection {
  readonly filter: LogFilter;
  /** Only entries of this stretch of the log. */
  readonly after: number;
  readonly through: number;
}

export interface LogLookups {
  /** Positions by what the log itself says, whatever became of the index. */
  selectFromLog(selection: LogSelection): Promise<readonly number[]>;
  /** Those of these positions whose rows in the index are not what the log makes of them. */
  mismatchedRows(positions: readonly number[]): Promise<readonly number[]>;
  rebuildIndex(): Promise<void>;
  /** Removes what forgotten entries left in the index's files; answers with what is left, in words. */
  purgeIndex(): Promise<string | undefined>;
}
