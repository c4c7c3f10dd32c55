// A fold derives the documents of one collection from rows. Each is written once, for every engine.
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

export interface Fold {
  readonly collection: string;
  /** The keys of the documents that a row changes. */
  readonly keysOf: (row: EntryRow) => readonly string[];
  /**
   * Adds rows, at least one, in order of position, without changing the arguments. Undefined if these rows alone make
   * no document.
   */
  readonly add: (
    key: string,
    document: IndexDocument | undefined,
    rows: readonly EntryRow[],
  ) => IndexDocument | undefined;
  /** Number of rows in a document: one that has lost all of them is removed. */
  readonly rowsIn: (document: IndexDocument) => number;
  /** Whether rows after a position can no longer change a document; absent if any row may. */
  readonly isDone?: (key: string, position: number) => boolean;
  /** Finds the rows of a document again: positions in order after a place, fewer than the limit at the end. */
  readonly positionsOf: (
    index: EntryIndex,
    place: { readonly key: string; readonly after: number; readonly limit: number },
  ) => Promise<readonly number[]>;
}
