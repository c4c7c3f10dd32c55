// Everything that answers from one index: the indexer that keeps it up to the log, and the readers on top of it.
import { ContextReader } from "../context/context-reader.js";
import { Indexer } from "../index/indexer.js";
import type { EntryIndex } from "../index/port.js";
import { TextIndexer } from "../index/text-indexer.js";
import type { EntryLog } from "../log/port.js";
import type { ReviewDesk } from "../memories/judge/review-desk.js";
import { MemoryReader } from "../memories/read/memory-reader.js";
import type { Mask } from "../model/mask.js";
import { ReflectionReader } from "../reflect/read/reflection-reader.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import { Reader, type ReadingParts } from "../search/lists/reader.js";
import { Searcher } from "../search/searcher.js";
import { HistoryReader } from "../sessions/history/history.js";
import { SessionReader } from "../sessions/session-reader.js";
import { UsageReader } from "../usage/usage-reader.js";

/** An index, and those who answer from it as it stands. */
export interface Readers {
  readonly index: EntryIndex;
  readonly entries: Reader;
  readonly sessions: SessionReader;
  readonly histories: HistoryReader;
  readonly reflections: ReflectionReader;
  readonly searches: Searcher;
  readonly contexts: ContextReader;
  readonly usage: UsageReader;
  readonly memories: MemoryReader;
  /** Loaded when it is first needed: with its tables of words it takes longer than a command may take to start. */
  readonly review: () => Promise<ReviewDesk>;
}

export function readersOf(parts: ReadingParts): Readers {
  const memories = new MemoryReader(parts);
  const entries = new EntryReader(parts);
  let desk: Promise<ReviewDesk> | undefined;
  return {
    index: parts.index,
    entries: new Reader(parts),
    sessions: new SessionReader(parts),
    histories: new HistoryReader(parts),
    reflections: new ReflectionReader(parts),
    searches: new Searcher(parts),
    contexts: new ContextReader(parts),
    usage: new UsageReader(parts),
    memories,
    review() {
      desk ??= import("../memories/judge/review-desk.js").then(
        ({ ReviewDesk }) => new ReviewDesk({ ...parts, memories, entries }),
      );
      return desk;
    },
  };
}

export class View {
  readonly index: EntryIndex;
  readonly indexer: Indexer;
  readonly textIndexer: TextIndexer;
  readonly readers: Readers;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex; readonly mask: Mask }) {
    this.index = parts.index;
    this.indexer = new Indexer(parts);
    this.textIndexer = new TextIndexer(parts);
    this.readers = readersOf(parts);
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
