// Reading that goes on whatever happens to the index: lost, damaged, of an older version, on a full disk.
//
// While an index is built from nothing, reads do not wait for all of it. They are answered from the newest entries, and
// the answer says that it is partial. What would be wrong rather than short without the older entries waits.
import { setTimeout as sleep } from "node:timers/promises";
import type { IndexFault, IndexHolder } from "../index/index-holder.js";
import type { EntryIndex } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import { Fault } from "../model/fault.js";
import type { KnownHead } from "../model/verification.js";
import { IndexInUse, type Wish } from "./index-in-use.js";
import type { IndexState } from "./maintenance.js";
import { NewestView } from "./newest.js";
import { Patience, type RebuildOptions, rebuildDefaults } from "./patience.js";
import { nextTurn, rebuildBeside } from "./rebuild.js";
import type { View, ViewParts } from "./view.js";

export class SteadyIndex<R> {
  readonly #log: EntryLog;
  readonly #parts: ViewParts<R>;
  readonly #options: RebuildOptions;
  readonly #inUse: IndexInUse<R>;
  readonly #patience: Patience;
  #newest: NewestView<R> | undefined;
  #following: Promise<void> | undefined;

  constructor(
    parts: ViewParts<R> & { readonly holder: IndexHolder; readonly options?: Partial<RebuildOptions> | undefined },
  ) {
    this.#log = parts.log;
    this.#parts = parts;
    this.#options = { ...rebuildDefaults, ...parts.options };
    this.#inUse = new IndexInUse(parts);
    this.#patience = new Patience(this.#options, () => performance.now());
  }

  /** An answer that may lack older entries while the index is rebuilt, and then says so. */
  async read<T extends object>(
    work: (readers: R) => Promise<T>,
    { texts = false }: { readonly texts?: boolean } = {},
  ): Promise<T & { readonly partial?: true }> {
    // What the newest entries are is decided now: while an index is waited for, others may record thousands.
    const { position } = await this.#log.head();
    const { answer, trouble } = await this.#attempt(work, { position, texts, isPatient: false });
    if (answer !== undefined) return answer.value;
    const newest = await this.#newestView(position, trouble);
    const short = await newest.read(work);
    return newest.isWhole ? short : { ...short, partial: true };
  }

  /** An answer that would be wrong without the older entries. */
  async whole<T>(work: (readers: R) => Promise<T>): Promise<T> {
    const { position } = await this.#log.head();
    const { answer, trouble } = await this.#attempt(work, { position, texts: false, isPatient: true });
    if (answer !== undefined) return answer.value;
    const newest = await this.#newestView(position, trouble);
    if (!newest.isWhole) throw trouble;
    return newest.read(work);
  }

  /** An answer from the index as it stands, however far behind the log it is. */
  async asItStands<T>(work: (readers: R) => Promise<T>): Promise<T> {
    const attempt = await this.#inUse.attempt((view) => work(view.readers));
    if ("trouble" in attempt) throw attempt.trouble;
    return attempt.answer;
  }

  /** Indexes one batch; false when there was nothing left to do here. */
  async step(): Promise<boolean> {
    const attempt = await this.#inUse.attempt(async (view) =>
      (await this.#isUsable(view, false)) ? { isMore: await view.indexStep() } : undefined,
    );
    if ("trouble" in attempt) throw attempt.trouble;
    if (attempt.answer !== undefined) return attempt.answer.isMore;
    // Rows are being caught up with on their own, and texts come after them.
    const followed = this.#following;
    await followed;
    return followed !== undefined;
  }

  async index(): Promise<EntryIndex> {
    return (await this.#inUse.view()).index;
  }

  /** What the index remembers of the log; nothing where there is no index to ask. */
  async knownHeads(): Promise<readonly KnownHead[]> {
    try {
      const attempt = await this.#inUse.attempt((view) => view.index.remembered());
      return "trouble" in attempt ? [] : attempt.answer.map((head) => ({ by: "index", ...head }));
    } catch (error) {
      if (error instanceof Fault) return [];
      throw error;
    }
  }

  async state(): Promise<IndexState> {
    const view = await this.#inUse.view();
    const is_whole = this.#patience.isEnough(await this.#checkpoint(view));
    const { index } = view;
    return { indexed_through: await index.checkpoint(), texts_through: await index.textCheckpoint(), is_whole };
  }

  /** Builds the index anew while the present one goes on answering. */
  async rebuild(onProgress: (position: number) => void): Promise<void> {
    const attempt = await this.#inUse.attempt(async (view) => {
      await this.#isUsable(view, true);
      await rebuildBeside({ log: this.#log, index: view.index, onProgress });
    });
    this.#inUse.exchanged();
    if ("trouble" in attempt) throw attempt.trouble;
    await this.whole(async () => undefined);
  }

  close(): Promise<void> {
    return this.#inUse.close();
  }

  async #attempt<T>(
    work: (readers: R) => Promise<T>,
    { isPatient, ...wish }: Wish & { readonly isPatient: boolean },
  ): Promise<{ readonly answer?: { readonly value: T } | undefined; readonly trouble?: IndexFault | undefined }> {
    const attempt = await this.#inUse.attempt(async (view, steadily) => {
      if (!(await this.#isUsable(view, isPatient))) return undefined;
      return { value: await steadily(wish, () => work(view.readers)) };
    });
    if ("trouble" in attempt) return attempt;
    if (attempt.answer !== undefined) this.#newest = undefined;
    return attempt;
  }

  async #isUsable(view: View<R>, isPatient: boolean): Promise<boolean> {
    if (this.#patience.isEnough(await this.#checkpoint(view))) return true;
    this.#following ??= this.#follow(view);
    const followed = this.#following;
    if (isPatient) {
      await followed;
      return true;
    }
    // Whoever waits for it meets its failure, and there may be nobody.
    followed.catch(() => undefined);
    const restMs = this.#patience.restMs();
    if (restMs === 0) return false;
    await Promise.race([followed, sleep(restMs)]);
    return this.#patience.isEnough(await this.#checkpoint(view));
  }

  /** How far an index has come that patience knows of: the first look at one takes a step with it. */
  async #checkpoint({ index, indexer }: View<R>): Promise<number> {
    const before = await index.checkpoint();
    if (this.#patience.knows(index, before)) return before;
    await this.#patience.look(index, before, async () => {
      // The first step finds out whether the index was made from this log, and starts it over if not.
      await indexer.step();
      return { checkpoint: await index.checkpoint(), position: (await this.#log.head()).position };
    });
    return index.checkpoint();
  }

  /** Batch by batch, so that reads come through in between. */
  async #follow(view: View<R>): Promise<void> {
    try {
      while (this.#patience.lack(await this.#checkpoint(view)) > 0 && (await view.indexer.step())) await nextTurn();
    } finally {
      this.#following = undefined;
    }
  }

  async #newestView(position: number, trouble: IndexFault | undefined): Promise<NewestView<R>> {
    const { newest: entries } = this.#options;
    try {
      if (this.#newest?.suits(position, entries)) return this.#newest;
      const newest = await NewestView.open({ ...this.#parts, position, entries });
      this.#newest = newest;
      return newest;
    } catch (error) {
      throw trouble ?? error;
    }
  }
}
