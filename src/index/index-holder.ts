// Holds an index that may have to be replaced: its file can be lost, damaged or replaced while the program runs.
import { Fault } from "../model/fault.js";
import type { EntryIndex } from "./port.js";

/** The index failed, not the log: it can be rebuilt. */
export class IndexFault extends Fault {}

/** The index was replaced during a read, so the answer may mix the old and the new one. */
export class IndexReplaced extends IndexFault {
  constructor() {
    super("store_busy", "the index keeps being replaced", { hint: "Try again in a moment." });
  }
}

/** The current index. */
export interface HeldIndex {
  /** The index in use; another one after its file was lost or replaced. */
  readonly index: EntryIndex;
  /** Changes whenever the index, or its content, is replaced by any process. */
  readonly generation: number;
}

export interface IndexHolder {
  current(): Promise<HeldIndex>;
  /** Discards a damaged index and starts an empty one. */
  replace(damaged: EntryIndex): Promise<EntryIndex>;
  close(): Promise<void>;
}

/** An index that cannot be replaced. */
export function fixedIndex(index: EntryIndex): IndexHolder {
  return {
    current: async () => ({ index, generation: 0 }),
    replace: async () => index,
    close: () => index.close(),
  };
}
