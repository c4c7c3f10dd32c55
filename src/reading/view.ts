// Everything that answers from one index: the indexer that keeps it up to the log, and the readers on top of it.
import { Indexer } from "../index/indexer.js";
import type { EntryIndex } from "../index/port.js";
import { TextIndexer } from "../index/text-indexer.js";
import type { EntryLog } from "../log/port.js";
import type { Mask } from "../model/mask.js";

/** Makes the readers of an index. */
export type ReadersOf<R> = (parts: { readonly log: EntryLog; readonly index: EntryIndex; readonly mask: Mask }) => R;

export interface ViewParts<R> {
  readonly log: EntryLog;
  readonly mask: Mask;
  readonly readersOf: ReadersOf<R>;
}

export class View<R> {
  readonly index: EntryIndex;
  readonly indexer: Indexer;
  readonly textIndexer: TextIndexer;
  readonly readers: R;

  constructor(parts: ViewParts<R> & { readonly index: EntryIndex }) {
    this.index = parts.index;
    this.indexer = new Indexer(parts);
    this.textIndexer = new TextIndexer(parts);
    this.readers = parts.readersOf(parts);
  }

  /**
   * One batch of rows, which every read waits for, and one of texts: under a steady load there are always new rows, and
   * texts that came only after the last of them would fall behind for good. False when there was nothing left of either.
   */
  async indexStep(): Promise<boolean> {
    const areRowsLeft = await this.indexer.step();
    return (await this.textIndexer.step()) || areRowsLeft;
  }

  /** Before a search: the rows up to a position, and some of the texts where many are missing. */
  async helpTexts(position: number): Promise<void> {
    await this.indexer.bringTo(position);
    await this.textIndexer.help();
  }

  /** Brings the rows up to a position, and keeps what is read of them as of one moment until it is let go. */
  async holdAt(position: number): Promise<{ readonly letGo: () => boolean; readonly epoch: string }> {
    for (;;) {
      const letGo = this.index.hold?.() ?? (() => false);
      try {
        const standing = await this.index.standing();
        if (this.indexer.holds(standing, position)) return { letGo, epoch: standing.epoch };
      } catch (error) {
        letGo();
        throw error;
      }
      letGo();
      await this.indexer.stepTowards(position);
    }
  }
}
