// The index in use: the holder's current one, and another one if it turns out to be lost, damaged or replaced during a
// read.

import { IndexFault, type IndexHolder, IndexReplaced } from "../index/index-holder.js";
import { Indexer, TextIndexer } from "../index/indexer.js";
import type { EntryIndex } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { Mask } from "../model/mask.js";

const TRIES = 6;

/** The result of an attempt, or why there is no index to answer from. */
export type Attempt<T> = { readonly answer: T } | { readonly trouble: IndexFault };

/** What the index must contain before it is read: all rows up to a position and, for searches, most texts. */
export interface Freshness {
  readonly position: number;
  readonly texts: boolean;
}

type StableRead = <T>(freshness: Freshness, read: () => Promise<T>) => Promise<T>;

interface Seen<R> {
  readonly view: IndexView<R>;
  readonly generation: number;
}

export class IndexInUse<R> {
  readonly #parts: ViewParts<R>;
  readonly #holder: IndexHolder;
  #view: IndexView<R> | undefined;
  #replacements = 0;

  constructor(parts: ViewParts<R> & { readonly holder: IndexHolder }) {
    this.#parts = parts;
    this.#holder = parts.holder;
  }

  async view(): Promise<IndexView<R>> {
    return (await this.#current()).view;
  }

  /**
   * Does the work with the index in use, and repeats it if that failed and there is another one. What is read through
   * `StableRead` is of one snapshot that contains everything up to the position.
   */
  async attempt<T>(work: (view: IndexView<R>, readStably: StableRead) => Promise<T>): Promise<Attempt<T>> {
    let trouble: IndexFault | undefined;
    for (let tries = 0; tries < TRIES; tries += 1) {
      let view: IndexView<R> | undefined;
      try {
        const seen = await this.#current();
        view = seen.view;
        return { answer: await work(view, (freshness, read) => this.#readStably(seen, freshness, read)) };
      } catch (error) {
        if (!(error instanceof IndexFault)) throw error;
        trouble = error;
        if (!(await this.#isOther(view, error))) break;
      }
    }
    return { trouble: trouble as IndexFault };
  }

  /** Call it when this process has swapped in another index. */
  noteReplaced(): void {
    this.#replacements += 1;
  }

  close(): Promise<void> {
    return this.#holder.close();
  }

  async #current(): Promise<Seen<R>> {
    const { index, generation } = await this.#holder.current();
    if (this.#view?.index !== index) this.#view = new IndexView({ ...this.#parts, index });
    return { view: this.#view, generation: generation + this.#replacements };
  }

  /** An index that is emptied or replaced between indexing and reading would seem to contain nothing. */
  async #readStably<T>({ view, generation }: Seen<R>, freshness: Freshness, read: () => Promise<T>): Promise<T> {
    if (freshness.texts) await view.helpTexts(freshness.position);
    const { release, epoch } = await view.snapshotAt(freshness.position);
    let hasLasted = false;
    try {
      const answer = await read();
      hasLasted = release();
      if (!hasLasted && (await this.#current()).generation !== generation) throw new IndexReplaced();
      // Another server on the database may have emptied it, which no file tells.
      if (!hasLasted && (await view.index.revision()).epoch !== epoch) throw new IndexReplaced();
      return answer;
    } finally {
      if (!hasLasted) release();
    }
  }

  /** Whether another index can be tried after this fault. */
  async #isOther(view: IndexView<R> | undefined, fault: IndexFault): Promise<boolean> {
    if (view === undefined) return false;
    if (fault instanceof IndexReplaced) return true;
    try {
      if (fault.code === "store_corrupt") await this.#holder.replace(view.index);
      return (await this.view()) !== view;
    } catch (error) {
      if (error instanceof IndexFault) return false;
      throw error;
    }
  }
}

/** Makes the readers of an index. */
export type ReadersOf<R> = (parts: { readonly log: EntryLog; readonly index: EntryIndex; readonly mask: Mask }) => R;

export interface ViewParts<R> {
  readonly log: EntryLog;
  readonly mask: Mask;
  readonly readersOf: ReadersOf<R>;
}

export class IndexView<R> {
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
   * One batch of rows, which every read waits for, and one of texts: under steady load there are always new rows, and
   * texts must not fall behind permanently. False if nothing was left of either.
   */
  async indexStep(): Promise<boolean> {
    const areRowsLeft = await this.indexer.step();
    return (await this.textIndexer.step()) || areRowsLeft;
  }

  /** Before a search: indexes the rows up to a position, and some texts if many are missing. */
  async helpTexts(position: number): Promise<void> {
    await this.indexer.bringTo(position);
    await this.textIndexer.help();
  }

  /** Indexes the rows up to a position, and keeps a snapshot for reading until it is released. */
  async snapshotAt(position: number): Promise<{ readonly release: () => boolean; readonly epoch: string }> {
    for (;;) {
      const release = this.index.hold?.() ?? (() => false);
      try {
        const revision = await this.index.revision();
        if (this.indexer.holds(revision, position)) return { release, epoch: revision.epoch };
      } catch (error) {
        release();
        throw error;
      }
      release();
      await this.indexer.stepTowards(position);
    }
  }
}
