// Following the log in the background, so that reads find little left to index: batch by batch, with room for reads and
// for capture in between. Where servers share an index, the one that holds the lease follows.
import type { NamedLease } from "../model/lease.js";
import type { IndexState } from "./maintenance.js";

/** Whose index is brought up to the log. */
export interface Follower {
  progress(): Promise<IndexState & { readonly position: number }>;
  indexStep(): Promise<boolean>;
  tidyStep(): Promise<boolean>;
  finishPurge(): Promise<void>;
}

/** How much may wait while more is recorded than a reader could keep up with without slowing capture down. */
export interface Leisure {
  /** While more than this many entries come per second, processors are left to capture … */
  readonly calm_entries_per_s: number;
  /** … until so many wait for their rows, which a read would have to index first, … */
  readonly rows_waiting_max: number;
  /** … or for their texts, which a search would have to look through itself. */
  readonly texts_waiting_max: number;
}

/** New entries are gathered this long before they are indexed: reads do not wait for it, they index by themselves. */
const GATHER_MS = 100;
/** So many entries a search may look through itself, before those texts are indexed here which others have recorded. */
const TEXTS_BEHIND_MAX = 128;
/** For so long after a search nothing is put off: whoever searches will do so again, and should find little left to do. */
const ATTENTIVE_MS = 10_000;
/** Between two steps of tidying, which is never urgent, most of the time is left to reads. */
const TIDY_MS = 20;
/** Whoever holds the lease may die, or the store fail, while the index is behind: so it is looked at again. */
const LOOK_AGAIN_MS = 1_000;

export class Following {
  readonly #follower: Follower;
  readonly #lease: NamedLease | undefined;
  readonly #leisure: Leisure | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isToldAgain = false;
  #isOnlySearched = false;
  #isClosed = false;
  #caughtUpAtMs = Number.NEGATIVE_INFINITY;
  #searchedAtMs = Number.NEGATIVE_INFINITY;
  #seen = { position: 0, atMs: 0, isStream: false };

  constructor(parts: {
    readonly follower: Follower;
    readonly lease?: NamedLease | undefined;
    /** Left out where an index takes longer to follow than anybody would wait for a read. */
    readonly leisure?: Leisure | undefined;
  }) {
    this.#follower = parts.follower;
    this.#lease = parts.lease;
    this.#leisure = parts.leisure;
  }

  /** Word that the log has grown. */
  grown(): void {
    if (this.#timer === undefined) this.#followIn(GATHER_MS);
    else this.#isToldAgain = true;
  }

  /**
   * Word that somebody has searched. What other programs record is told to nobody here, and where none of them indexes
   * its texts, every search would have to look through them.
   */
  searched(): void {
    this.#searchedAtMs = performance.now();
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
    const isTidied = async (): Promise<boolean> => {
      if (!(await this.#follower.tidyStep())) return false;
      this.#isToldAgain ||= isToldAgain;
      return true;
    };
    try {
      // What arrives while it is being tidied is gathered as well.
      if (performance.now() - this.#caughtUpAtMs < GATHER_MS && (await isTidied())) return TIDY_MS;
      if (isOnlySearched && !(await this.#areTextsBehind())) return this.#isToldAgain ? GATHER_MS : undefined;
      if (this.#lease !== undefined && !(await this.#lease.hold()))
        return (await this.#isBehind()) ? LOOK_AGAIN_MS : undefined;
      if (await this.#isPutOff()) return GATHER_MS;
      if (await this.#follower.indexStep()) return 0;
      this.#caughtUpAtMs = performance.now();
      await this.#follower.finishPurge();
      if (await isTidied()) return TIDY_MS;
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

  /** Whether so much is being recorded at this moment that indexing would slow it down, and can wait. */
  async #isPutOff(): Promise<boolean> {
    const leisure = this.#leisure;
    if (leisure === undefined || performance.now() - this.#searchedAtMs < ATTENTIVE_MS) return false;
    const { position, indexed_through, texts_through } = await this.#follower.progress();
    const seconds = (performance.now() - this.#seen.atMs) / 1000;
    if (seconds * 1000 >= GATHER_MS) {
      const isStream = position - this.#seen.position > seconds * leisure.calm_entries_per_s;
      this.#seen = { position, atMs: performance.now(), isStream };
    }
    const canWait =
      position - indexed_through < leisure.rows_waiting_max && position - texts_through < leisure.texts_waiting_max;
    return this.#seen.isStream && canWait;
  }
}
