// Readers that go on answering whatever happens to the index: lost, damaged, of an older version, on a full disk.
//
// While an index is built from nothing, reads do not wait for all of it. They are answered from the newest entries, and
// the answer says that it is partial. What would be wrong rather than short without the older entries waits.
import { setTimeout as sleep } from "node:timers/promises";
import type { EntryLog } from "../ports/entry-log.js";
import { IndexExchanged, IndexFault, type IndexHolder } from "../ports/index-holder.js";
import type { Mask } from "../ports/mask.js";
import { NewestReaders } from "./newest.js";
import { Readers } from "./readers.js";
import { nextTurn, rebuildBeside } from "./rebuild.js";

export interface IndexState {
  /** Position through which the index has followed the log. */
  readonly indexed_through: number;
  /** The same of its texts, which come behind. */
  readonly texts_through: number;
  /** False while answers lack older entries. */
  readonly is_whole: boolean;
}

export interface RebuildOptions {
  /** How many entries an index that is being rebuilt may lack for a read to wait for them. */
  readonly behind_max: number;
  /** How long reads wait for a rebuild before they are answered from the newest entries. */
  readonly wait_ms: number;
  /** How many entries are taken for the newest. */
  readonly newest: number;
}

const DEFAULTS: RebuildOptions = { behind_max: 20_000, wait_ms: 1_500, newest: 5_000 };
const TRIES = 6;

/** An index that began empty beside a log that was not. */
interface Rebuild {
  readonly readers: Readers;
  /** The log's end when it began: what comes later is ordinary following, which every read waits for. */
  readonly through: number;
  readonly patientUntilMs: number;
  checkpoint: number;
}

export class SteadyReaders {
  readonly #log: EntryLog;
  readonly #holder: IndexHolder;
  readonly #mask: Mask;
  readonly #options: RebuildOptions;
  #readers: Readers | undefined;
  #newest: NewestReaders | undefined;
  #rebuild: Rebuild | undefined;
  #following: Promise<void> | undefined;
  #resets = 0;

  constructor(parts: {
    readonly log: EntryLog;
    readonly holder: IndexHolder;
    readonly mask: Mask;
    readonly options?: Partial<RebuildOptions> | undefined;
  }) {
    this.#log = parts.log;
    this.#holder = parts.holder;
    this.#mask = parts.mask;
    this.#options = { ...DEFAULTS, ...parts.options };
  }

  /** An answer that may lack older entries while the index is rebuilt, and then says so. */
  async read<T extends object>(work: (readers: Readers) => Promise<T>): Promise<T & { readonly partial?: true }> {
    // What the newest entries are is decided now: while an index is waited for, others may record thousands.
    const { position } = await this.#log.head();
    const { answer, trouble } = await this.#attempt((readers) => this.#undisturbed(readers, work), false);
    if (answer !== undefined) return answer;
    const newest = await this.#newestReaders(position, trouble);
    const short = await work(newest.readers);
    return newest.isWhole ? short : { ...short, partial: true };
  }

  /** An answer that would be wrong without the older entries. */
  async readWhole<T>(work: (readers: Readers) => Promise<T>): Promise<T> {
    const boxed = async (readers: Readers): Promise<{ readonly value: T }> => ({ value: await work(readers) });
    const { answer, trouble } = await this.#attempt((readers) => this.#undisturbed(readers, boxed), true);
    if (answer !== undefined) return answer.value;
    const newest = await this.#newestReaders((await this.#log.head()).position, trouble);
    if (!newest.isWhole) throw trouble;
    return work(newest.readers);
  }

  /** Indexes one batch; false when there was nothing left to do here. */
  async step(): Promise<boolean> {
    const { answer, trouble } = await this.#attempt(async (readers) => ({ isMore: await readers.indexStep() }), false);
    if (trouble !== undefined) throw trouble;
    if (answer !== undefined) return answer.isMore;
    // Rows are being caught up with on their own, and texts come after them.
    const followed = this.#following;
    await followed;
    return followed !== undefined;
  }

  /** Whether something is left in the index of what was erased from it. */
  async isPurgeDue(): Promise<boolean> {
    const { index } = await this.#current();
    return (await index.isPurgeDue?.()) ?? false;
  }

  async state(): Promise<IndexState> {
    const readers = await this.#current();
    const behind = await this.#behind(readers);
    const { index } = readers;
    return {
      indexed_through: await index.checkpoint(),
      texts_through: await index.textCheckpoint(),
      is_whole: behind <= this.#options.behind_max,
    };
  }

  /** Builds the index anew while the present one goes on answering. */
  async rebuild(onProgress: (position: number) => void): Promise<void> {
    const log = this.#log;
    const { answer, trouble } = await this.#attempt(async ({ index }) => {
      await rebuildBeside({ log, index, onProgress });
      return true;
    }, true);
    this.#resets += 1;
    if (answer === undefined) throw trouble;
    await this.readWhole(({ indexer }) => indexer.catchUp());
  }

  close(): Promise<void> {
    return this.#holder.close();
  }

  /** Tries the index, another one where it turns out to be damaged; without an answer where it cannot be used now. */
  async #attempt<T>(
    work: (readers: Readers) => Promise<T>,
    isPatient: boolean,
  ): Promise<{ readonly answer?: T; readonly trouble?: IndexFault }> {
    let trouble: IndexFault | undefined;
    for (let tries = 0; tries < TRIES; tries += 1) {
      let readers: Readers | undefined;
      try {
        readers = await this.#current();
        if (!(await this.#isUsable(readers, isPatient))) return {};
        const answer = await work(readers);
        this.#newest = undefined;
        return { answer };
      } catch (error) {
        if (!(error instanceof IndexFault)) throw error;
        trouble = error;
        if (!(await this.#isOther(readers, error))) break;
      }
    }
    return { ...(trouble === undefined ? {} : { trouble }) };
  }

  /** An index that is emptied or exchanged between following the log and answering would seem to hold nothing. */
  async #undisturbed<T>(readers: Readers, work: (readers: Readers) => Promise<T>): Promise<T> {
    const before = await this.#generation();
    const answer = await work(readers);
    if ((await this.#generation()) !== before) throw new IndexExchanged();
    return answer;
  }

  async #generation(): Promise<number> {
    return (await this.#holder.generation()) + this.#resets;
  }

  /** Whether there is another index to try after this fault. */
  async #isOther(readers: Readers | undefined, fault: IndexFault): Promise<boolean> {
    if (readers === undefined) return false;
    if (fault instanceof IndexExchanged) return true;
    try {
      if (fault.code === "store_corrupt") await this.#holder.replace(readers.index);
      return (await this.#current()) !== readers;
    } catch (error) {
      if (error instanceof IndexFault) return false;
      throw error;
    }
  }

  async #current(): Promise<Readers> {
    const index = await this.#holder.current();
    if (this.#readers?.index !== index) this.#readers = new Readers({ log: this.#log, index, mask: this.#mask });
    return this.#readers;
  }

  async #isUsable(readers: Readers, isPatient: boolean): Promise<boolean> {
    if ((await this.#behind(readers)) <= this.#options.behind_max) return true;
    this.#following ??= this.#follow(readers);
    const followed = this.#following;
    if (isPatient) {
      await followed;
      return true;
    }
    // Whoever waits for it meets its failure, and there may be nobody.
    followed.catch(() => undefined);
    const restMs = (this.#rebuild?.patientUntilMs ?? 0) - performance.now();
    if (restMs <= 0) return false;
    await Promise.race([followed, sleep(restMs)]);
    return (await this.#behind(readers)) <= this.#options.behind_max;
  }

  /** How many entries an index that was begun anew lacks of those that were there when it began. */
  async #behind(readers: Readers): Promise<number> {
    const known = this.#rebuild;
    let checkpoint = await readers.index.checkpoint();
    if (known === undefined || known.readers !== readers || checkpoint < known.checkpoint) {
      const before = checkpoint;
      // The first step finds out whether the index was made from this log, and starts it over if not.
      await readers.indexer.step();
      checkpoint = await readers.index.checkpoint();
      // Another process may have begun to fill the index that has taken the place of a lost one.
      const isNew = before === 0 || checkpoint < before || known !== undefined;
      const { position } = await this.#log.head();
      const patientUntilMs = performance.now() + this.#options.wait_ms;
      // Several reads may look at the same time; the first of them saw the index as it was.
      if (this.#rebuild === known) {
        this.#rebuild = { readers, through: isNew ? position : 0, patientUntilMs, checkpoint };
      }
    } else known.checkpoint = checkpoint;
    return (this.#rebuild?.through ?? 0) - checkpoint;
  }

  /** Batch by batch, so that reads come through in between. */
  async #follow(readers: Readers): Promise<void> {
    try {
      while ((await this.#behind(readers)) > 0 && (await readers.indexer.step())) await nextTurn();
    } finally {
      this.#following = undefined;
    }
  }

  async #newestReaders(position: number, trouble: IndexFault | undefined): Promise<NewestReaders> {
    const { newest: entries } = this.#options;
    try {
      if (this.#newest?.suits(position, entries)) return this.#newest;
      const newest = await NewestReaders.open({ log: this.#log, mask: this.#mask, position, entries });
      this.#newest = newest;
      return newest;
    } catch (error) {
      throw trouble ?? error;
    }
  }
}
