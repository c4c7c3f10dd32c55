// Indexes new entries in the background, so reads find little left to do: batch by batch, with pauses for reads and
// capture. If servers share an index, the one with the lease does it.
import type { NamedLease } from "../model/lease.js";
import type { IndexState } from "./maintenance.js";

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
