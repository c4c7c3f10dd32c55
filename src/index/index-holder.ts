// Who holds an index that may have to be given up: its file can be lost, damaged or replaced while the program runs.
import { Fault } from "../model/fault.js";
import type { EntryIndex } from "./port.js";

/** What failed was the index, not the log: everything in it can be derived again. */
export class IndexFault extends Fault {}

/** The index was exchanged while it was read, so that the answer may be of neither the old one nor the new. */
export class IndexExchanged extends IndexFault {
  constructor() {
    super("store_busy", "the index is being exchanged again and again", { hint: "Try again in a moment." });
  }
}

/** What is held at this moment. */
export interface HeldIndex {
  /** The index in use; another one than before where its file was lost or replaced in the meantime. */
  readonly index: EntryIndex;
  /** Another number each time that the index in use, or what it is made of, was exchanged, by whichever process. */
  readonly generation: number;
}

export interface IndexHolder {
  current(): Promise<HeldIndex>;
  /** Gives up an index that turned out to be damaged, and begins an empty one in its place. */
  replace(damaged: EntryIndex): Promise<EntryIndex>;
  close(): Promise<void>;
}

/** An index that nothing can happen to. */
export function fixedIndex(index: EntryIndex): IndexHolder {
  return {
    current: async () => ({ index, generation: 0 }),
    replace: async () => index,
    close: () => index.close(),
  };
}
