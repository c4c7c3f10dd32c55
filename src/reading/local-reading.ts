// Answers reads in this thread, from a log and an index that it has open, whatever happens to the index: lost, damaged, of an
// older version, on a full disk.
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryIndex } from "../engines/memory/index.js";
import { fixedIndex, type IndexFault, type IndexHolder } from "../index/index-holder.js";
import type { EntryIndex } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import { Fault } from "../model/fault.js";
import type { NamedLease } from "../model/lease.js";
import type { Mask } from "../model/mask.js";
import type { KnownHead } from "../model/verification.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { AnswerContext, AnswerForm, CallTable, Reading } from "./call-table.js";
import { type Freshness, IndexInUse, IndexView, type ReadersOf, type ViewParts } from "./index-in-use.js";
import type { IndexState } from "./maintenance.js";
import {
  nextTurn,
  RebuildGrace,
  type RebuildOptions,
  rebuildBeside,
  rebuildDefaults,
  SharedRebuild,
} from "./rebuild.js";

export class LocalReading<R> implements Reading {
  readonly #answering: AnswerContext<R>;
  readonly #calls: CallTable<AnswerContext<R>>;

  constructor(parts: {
    readonly log: EntryLog;
    readonly index: EntryIndex | IndexHolder;
    readonly mask: Mask;
    /** Makes the readers of an index. */
    readonly readersOf: ReadersOf<R>;
    /** The calls and how they are answered. */
    readonly calls: CallTable<AnswerContext<R>>;
    readonly rebuild?: Partial<RebuildOptions> | undefined;
    /** Cleans the index's files, if the index does not do that itself. */
    readonly purge?: (() => Promise<string | undefined>) | undefined;
  }) {
    const { log, mask, readersOf } = parts;
    const holder = "replace" in parts.index ? parts.index : fixedIndex(parts.index);
    const index = new ResilientIndex({ log, holder, mask, readersOf, options: parts.rebuild });
    const purge = parts.purge ?? (async () => (await index.index()).purge?.());
    this.#calls = parts.calls;
    this.#answering = {
      log,
      mask,
      index,
      entries: new EntryReader({ log, mask }),
      rebuilding: new SharedRebuild(index),
      purge,
    };
  }

  async ask(name: string, query: unknown, form: AnswerForm = "value"): Promise<unknown> {
    const call = this.#calls[name];
    if (call === undefined) throw new Error(`unknown call ${name}`);
    const answer = await call(this.#answering, query as never);
    return form === "value" || answer === undefined ? answer : Buffer.from(JSON.stringify(answer));
  }

  /** Positions of the log and of the index behind it. */
  async progress(): Promise<IndexState & { readonly position: number }> {
    const { position } = await this.#answering.log.head();
    return { position, ...(await this.#answering.index.state()) };
  }

  /** Indexes one batch; false if nothing was left. */
  indexStep(): Promise<boolean> {
    return this.#answering.index.step();
  }

  /** Does one merge in the text index; false if nothing was left. */
  async mergeStep(): Promise<boolean> {
    return (await (await this.#answering.index.index()).mergeTexts?.()) ?? false;
  }

  /** Finishes the purge of a process that was killed before it could. */
  async finishPurge(): Promise<void> {
    if (await (await this.#answering.index.index()).isPurgeDue?.()) await this.#answering.purge();
  }

  /** Every answer updates the index first. */
  grown(): void {}

  async close(): Promise<void> {
    await this.#answering.index.close();
    await this.#answering.log.close();
  }
}

/**
 * While an index is built from empty, reads are answered from the newest entries and marked as partial. Answers that would be
 * wrong without older entries wait.
 */
export class ResilientIndex<R> {
  readonly #log: EntryLog;
  readonly #parts: ViewParts<R>;
  readonly #options: RebuildOptions;
  readonly #inUse: IndexInUse<R>;
  readonly #grace: RebuildGrace;
  #newest: NewestEntriesView<R> | undefined;
  #following: Promise<void> | undefined;

  constructor(
    parts: ViewParts<R> & { readonly holder: IndexHolder; readonly options?: Partial<RebuildOptions> | undefined },
  ) {
    this.#log = parts.log;
    this.#parts = parts;
    this.#options = { ...rebuildDefaults, ...parts.options };
    this.#inUse = new IndexInUse(parts);
    this.#grace = new RebuildGrace(this.#options, () => performance.now());
  }

  /** Answers that may lack older entries while the index is rebuilt, and then say so. */
  async read<T extends object>(
    work: (readers: R) => Promise<T>,
    { texts = false }: { readonly texts?: boolean } = {},
  ): Promise<T & { readonly partial?: true }> {
    // Taken now: while an index is waited for, others may record thousands.
    const { position } = await this.#log.head();
    const { answer, trouble } = await this.#attempt(work, { position, texts, mustWait: false });
    if (answer !== undefined) return answer.value;
    const newest = await this.#newestView(position, trouble);
    const short = await newest.read(work);
    return newest.isWhole ? short : { ...short, partial: true };
  }

  /** Answers that would be wrong without older entries. */
  async whole<T>(work: (readers: R) => Promise<T>): Promise<T> {
    const { position } = await this.#log.head();
    const { answer, trouble } = await this.#attempt(work, { position, texts: false, mustWait: true });
    if (answer !== undefined) return answer.value;
    const newest = await this.#newestView(position, trouble);
    if (!newest.isWhole) throw trouble;
    return newest.read(work);
  }

  /** Answers from the index as it is, however far behind. */
  async asItStands<T>(work: (readers: R) => Promise<T>): Promise<T> {
    const attempt = await this.#inUse.attempt((view) => work(view.readers));
    if ("trouble" in attempt) throw attempt.trouble;
    return attempt.answer;
  }

  /** Indexes one batch; false if nothing was left here. */
  async step(): Promise<boolean> {
    const attempt = await this.#inUse.attempt(async (view) =>
      (await this.#isUsable(view, false)) ? { isMore: await view.indexStep() } : undefined,
    );
    if ("trouble" in attempt) throw attempt.trouble;
    if (attempt.answer !== undefined) return attempt.answer.isMore;
    // Rows are being indexed already, and texts come after them.
    const followed = this.#following;
    await followed;
    return followed !== undefined;
  }

  async index(): Promise<EntryIndex> {
    return (await this.#inUse.view()).index;
  }

  /** Log heads that the index remembers; none if there is no index. */
  async knownHeads(): Promise<readonly KnownHead[]> {
    try {
      const attempt = await this.#inUse.attempt((view) => view.index.rememberedHeads());
      return "trouble" in attempt ? [] : attempt.answer.map((head) => ({ by: "index", ...head }));
    } catch (error) {
      if (error instanceof Fault) return [];
      throw error;
    }
  }

  async state(): Promise<IndexState> {
    const view = await this.#inUse.view();
    const is_whole = this.#grace.isEnough(await this.#checkpoint(view));
    const { index } = view;
    return { indexed_through: await index.checkpoint(), texts_through: await index.textCheckpoint(), is_whole };
  }

  /** Rebuilds the index while the present one answers. */
  async rebuild(onProgress: (position: number) => void): Promise<void> {
    const attempt = await this.#inUse.attempt(async (view) => {
      await this.#isUsable(view, true);
      await rebuildBeside({ log: this.#log, index: view.index, onProgress });
    });
    this.#inUse.noteReplaced();
    if ("trouble" in attempt) throw attempt.trouble;
    await this.whole(async () => undefined);
  }

  close(): Promise<void> {
    return this.#inUse.close();
  }

  async #attempt<T>(
    work: (readers: R) => Promise<T>,
    { mustWait, ...freshness }: Freshness & { readonly mustWait: boolean },
  ): Promise<{ readonly answer?: { readonly value: T } | undefined; readonly trouble?: IndexFault | undefined }> {
    const attempt = await this.#inUse.attempt(async (view, readStably) => {
      if (!(await this.#isUsable(view, mustWait))) return undefined;
      return { value: await readStably(freshness, () => work(view.readers)) };
    });
    if ("trouble" in attempt) return attempt;
    if (attempt.answer !== undefined) this.#newest = undefined;
    return attempt;
  }

  async #isUsable(view: IndexView<R>, mustWait: boolean): Promise<boolean> {
    if (this.#grace.isEnough(await this.#checkpoint(view))) return true;
    this.#following ??= this.#follow(view);
    const followed = this.#following;
    if (mustWait) {
      await followed;
      return true;
    }
    // Its failure is reported to those who wait, and there may be none.
    followed.catch(() => undefined);
    const restMs = this.#grace.restMs();
    if (restMs === 0) return false;
    await Promise.race([followed, sleep(restMs)]);
    return this.#grace.isEnough(await this.#checkpoint(view));
  }

  /** The checkpoint of an index; the first read takes one step. */
  async #checkpoint({ index, indexer }: IndexView<R>): Promise<number> {
    const before = await index.checkpoint();
    if (this.#grace.knows(index, before)) return before;
    await this.#grace.observe(index, before, async () => {
      // The first step finds out whether the index was built from this log, and resets it if not.
      await indexer.step();
      return { checkpoint: await index.checkpoint(), position: (await this.#log.head()).position };
    });
    return index.checkpoint();
  }

  /** Batch by batch, so reads run in between. */
  async #follow(view: IndexView<R>): Promise<void> {
    try {
      while (this.#grace.lack(await this.#checkpoint(view)) > 0 && (await view.indexer.step())) await nextTurn();
    } finally {
      this.#following = undefined;
    }
  }

  async #newestView(position: number, trouble: IndexFault | undefined): Promise<NewestEntriesView<R>> {
    const { newest: entries } = this.#options;
    try {
      if (this.#newest?.suits(position, entries)) return this.#newest;
      const newest = await NewestEntriesView.open({ ...this.#parts, position, entries });
      this.#newest = newest;
      return newest;
    } catch (error) {
      throw trouble ?? error;
    }
  }
}

/** Filling takes no longer than this: entries may be large. */
const FILLING_MS_MAX = 2_000;
const ENTRIES_MIN = 16;
/** It is reused until it has grown to this many times its initial size. */
const GROWTH_MAX = 4;

class NewestEntriesView<R> {
  readonly #view: IndexView<R>;
  readonly #start: number;

  private constructor(view: IndexView<R>, start: number) {
    this.#view = view;
    this.#start = start;
  }

  /** The newest entries before a position, and all later ones. */
  static async open<R>(
    options: ViewParts<R> & { readonly position: number; readonly entries: number },
  ): Promise<NewestEntriesView<R>> {
    for (let entries = options.entries; ; entries = Math.ceil(entries / 8)) {
      const start = Math.max(0, options.position - entries);
      const view = await startingAfter(options, start);
      if (await isFilled(view, entries <= ENTRIES_MIN)) return new NewestEntriesView(view, start);
    }
  }

  async read<T>(work: (readers: R) => Promise<T>): Promise<T> {
    await this.#view.indexer.catchUp();
    return work(this.#view.readers);
  }

  /** Whether it is complete, because there are no older entries. */
  get isWhole(): boolean {
    return this.#start === 0;
  }

  /** Whether it contains the newest before this position and has not grown too large. */
  suits(position: number, entries: number): boolean {
    return (this.isWhole || this.#start <= position - ENTRIES_MIN) && position - this.#start <= entries * GROWTH_MAX;
  }
}

async function startingAfter<R>(parts: ViewParts<R>, start: number): Promise<IndexView<R>> {
  const index = new MemoryIndex();
  await index.apply({ after: await index.revision(), rows: [], through: start });
  await index.applyTexts({ texts: [], through: start });
  return new IndexView({ ...parts, index });
}

async function isFilled(view: IndexView<unknown>, isLeast: boolean): Promise<boolean> {
  const untilMs = performance.now() + FILLING_MS_MAX;
  while (await view.indexer.step()) if (!isLeast && performance.now() > untilMs) return false;
  return true;
}

// Indexes new entries in the background, so reads find little left to do: batch by batch, with pauses for reads and
// capture. If servers share an index, the one with the lease does it.

/** What is indexed. */
export interface Indexable {
  progress(): Promise<IndexState & { readonly position: number }>;
  indexStep(): Promise<boolean>;
  mergeStep(): Promise<boolean>;
  finishPurge(): Promise<void>;
}

/** New entries are gathered this long; reads do not wait for it, they index themselves. */
const GATHER_MS = 100;
/** Searches scan this many entries themselves before texts recorded by other programs are indexed here. */
const TEXTS_BEHIND_MAX = 128;
/** Pause between merges, which are never urgent. */
const MERGE_PAUSE_MS = 20;
/** The lease holder may die, or the store fail, while the index is behind: so it checks again. */
const LOOK_AGAIN_MS = 1_000;

export class BackgroundIndexer {
  readonly #follower: Indexable;
  readonly #lease: NamedLease | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isToldAgain = false;
  #isOnlySearched = false;
  #isClosed = false;
  #caughtUpAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: {
    readonly follower: Indexable;
    readonly lease?: NamedLease | undefined;
  }) {
    this.#follower = parts.follower;
    this.#lease = parts.lease;
  }

  /** Call it when the log has grown. */
  noteGrowth(): void {
    if (this.#timer === undefined) this.#followIn(GATHER_MS);
    else this.#isToldAgain = true;
  }

  /**
   * Call it on searches. Entries of other programs are not announced here, and if nothing indexed their texts, every
   * search would have to scan them.
   */
  noteSearch(): void {
    if (this.#timer !== undefined) return;
    this.#isOnlySearched = true;
    this.#followIn(GATHER_MS);
  }

  /** What cannot be finished now is left to the next program. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#follower.finishPurge().catch(() => undefined);
    this.#lease?.close();
  }

  #followIn(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#follow().then((againMs) => {
        this.#timer = undefined;
        if (againMs !== undefined) this.#followIn(againMs);
      });
    }, ms);
    this.#timer.unref();
  }

  /**
   * One batch; returns the delay until the next, if any. Failures are left to reads, which report them; capture
   * continues without an index.
   */
  async #follow(): Promise<number | undefined> {
    const isToldAgain = this.#isToldAgain;
    this.#isToldAgain = false;
    const isOnlySearched = this.#isOnlySearched && !isToldAgain;
    this.#isOnlySearched = false;
    const hasMerged = async (): Promise<boolean> => {
      if (!(await this.#follower.mergeStep())) return false;
      this.#isToldAgain ||= isToldAgain;
      return true;
    };
    try {
      // Entries that arrive during merges are gathered as well.
      if (performance.now() - this.#caughtUpAtMs < GATHER_MS && (await hasMerged())) return MERGE_PAUSE_MS;
      if (isOnlySearched && !(await this.#areTextsBehind())) return this.#isToldAgain ? GATHER_MS : undefined;
      if (this.#lease !== undefined && !(await this.#lease.hold()))
        return (await this.#isBehind()) ? LOOK_AGAIN_MS : undefined;
      if (await this.#follower.indexStep()) return 0;
      this.#caughtUpAtMs = performance.now();
      await this.#follower.finishPurge();
      if (await hasMerged()) return MERGE_PAUSE_MS;
      return isToldAgain || this.#isToldAgain ? GATHER_MS : undefined;
    } catch {
      this.#lease?.close();
      return LOOK_AGAIN_MS;
    }
  }

  async #isBehind(): Promise<boolean> {
    const { position, indexed_through } = await this.#follower.progress();
    return indexed_through < position;
  }

  async #areTextsBehind(): Promise<boolean> {
    const { position, texts_through } = await this.#follower.progress();
    return position - texts_through > TEXTS_BEHIND_MAX;
  }
}
