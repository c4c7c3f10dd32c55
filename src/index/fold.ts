// What a fold is: how the documents of one collection follow from rows. Each is written once, for every engine there is.
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

export interface Fold {
  readonly collection: string;
  /** The keys of the documents that a row changes. */
  readonly keysOf: (row: EntryRow) => readonly string[];
  /**
   * A document with further rows, one at least, in order of position; nothing that was handed in is changed. Undefined where
   * these rows alone make none.
   */
  readonly add: (
    key: string,
    document: IndexDocument | undefined,
    rows: readonly EntryRow[],
  ) => IndexDocument | undefined;
  /** How many rows a document was made from: one that has lost so many is gone. */
  readonly rowsIn: (document: IndexDocument) => number;
  /** Whether no row after a position changes a document any more; absent where any row may. */
  readonly isDone?: (key: string, position: number) => boolean;
  /** Where the rows of a document are found again: positions in order, those after a place, fewer than asked for at the end. */
  readonly positionsOf: (
    index: EntryIndex,
    place: { readonly key: string; readonly after: number; readonly limit: number },
  ) => Promise<readonly number[]>;
}
