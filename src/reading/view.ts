// Everything that answers from one index: the indexer that keeps it up to the log, and the readers on top of it.
import { Indexer } from "../indexing/indexer.js";
import { TextIndexer } from "../indexing/text-indexer.js";
import type { EntryIndex } from "../ports/entry-index.js";
import type { EntryLog } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import { HistoryReader } from "../read/history/history.js";
import { Reader } from "../read/reader.js";
import { ReflectionReader } from "../read/reflection-reader.js";
import { Searcher } from "../read/search/searcher.js";
import { SessionReader } from "../read/session-reader.js";

export class View {
  readonly index: EntryIndex;
  readonly indexer: Indexer;
  readonly textIndexer: TextIndexer;
  readonly entries: Reader;
  readonly sessions: SessionReader;
  readonly histories: HistoryReader;
  readonly reflections: ReflectionReader;
  readonly searches: Searcher;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex; readonly mask: Mask }) {
    this.index = parts.index;
    this.indexer = new Indexer(parts);
    this.textIndexer = new TextIndexer(parts);
    const readingParts = { ...parts, catchUp: () => this.indexer.catchUp() };
    this.entries = new Reader(readingParts);
    this.sessions = new SessionReader(readingParts);
    this.histories = new HistoryReader(readingParts);
    this.reflections = new ReflectionReader(readingParts);
    this.searches = new Searcher({ ...parts, catchUp: () => this.#catchUpForSearch() });
  }

  /** One batch of rows, which every read waits for, or else of texts; false when there was nothing left of either. */
  async indexStep(): Promise<boolean> {
    return (await this.indexer.step()) || (await this.textIndexer.step());
  }

  async #catchUpForSearch(): Promise<void> {
    await this.indexer.catchUp();
    await this.textIndexer.help();
  }
}
