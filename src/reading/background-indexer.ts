// Following the log in the background, so that reads find little left to index: batch by batch, with room for reads and
// for capture in between. Where servers share an index, the one that holds the lease follows.
import type { NamedLease } from "../model/lease.js";
import type { IndexState } from "./maintenance.js";

/** Whose index is brought up to the log. */
export interface Indexable {
  progress(): Promise<IndexState & { readonly position: number }>;
  indexStep(): Promise<boolean>;
  mergeStep(): Promise<boolean>;
  finishPurge(): Promise<void>;
}

/** New entries are gathered this long before they are indexed: reads do not wait for it, they index by themselves. */
const GATHER_MS = 100;
/** So many entries a search may look through itself, before those texts are indexed here which others have recorded. */
const TEXTS_BEHIND_MAX = 128;
/** Between two merges, which are never urgent, most of the time is left to reads. */
const MERGE_PAUSE_MS = 20;
/** Whoever holds the lease may die, or the store fail, while the index is behind: so it is looked at again. */
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

  /** Word that the log has grown. */
  noteGrowth(): void {
    if (this.#timer === undefined) this.#followIn(GATHER_MS);
    else this.#isToldAgain = true;
  }

  /**
   * Word that somebody has searched. What other programs record is told to nobody here, and where none of them indexes
   * its texts, every search would have to look through them.
   */
  noteSearch(): void {
    if (this.#timer !== undefined) return;
    this.#isOnlySearched = true;
    this.#followIn(GATHER_MS);
  }

  /** What cannot be done now is done by the next program. */
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
   * One batch; answers after how long to go on, if at all. Reads meet whatever fails here and report it; capture goes on
   * without an index.
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
      // What arrives during merges is gathered as well.
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
