// Reading where the index is shared by servers: the one that holds the lease follows the log in the background.
import type { EntryIndex } from "../ports/entry-index.js";
import type { EntryLog } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import { LocalReading } from "../threads/reading.js";
import type { IndexState } from "./steady.js";

/** New entries are gathered this long before they are indexed: reads do not wait for it, they index by themselves. */
const GATHER_MS = 100;
/** Whoever holds the lease may die, or the database go away, while the index is behind: so it is looked at again. */
const LOOK_AGAIN_MS = 1_000;

export interface Lease {
  /** Whether this process is the one that fills the index in the background. */
  hold(): Promise<boolean>;
  close(): void;
}

export class FollowingReading extends LocalReading {
  readonly #lease: Lease;
  #gathering: NodeJS.Timeout | undefined;
  #following: Promise<void> | undefined;
  #isWatched = false;
  #isToldAgain = false;
  #isClosed = false;

  constructor(parts: {
    readonly log: EntryLog;
    readonly index: EntryIndex;
    readonly mask?: Mask;
    readonly lease: Lease;
  }) {
    super(parts);
    this.#lease = parts.lease;
  }

  /** A server asks this when it starts and ever after; a program that only records is spared the work. */
  override indexState(): Promise<IndexState> {
    this.#isWatched = true;
    return super.indexState();
  }

  override appended(): void {
    if (this.#isClosed || !this.#isWatched) return;
    if (this.#gathering === undefined) this.#followIn(GATHER_MS);
    else this.#isToldAgain = true;
  }

  override async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#gathering);
    await this.#following;
    this.#lease.close();
    await super.close();
  }

  #followIn(ms: number): void {
    this.#gathering = setTimeout(() => {
      this.#following = this.#follow().then((againMs) => {
        this.#gathering = undefined;
        if (againMs !== undefined && !this.#isClosed) this.#followIn(againMs);
      });
    }, ms).unref();
  }

  /**
   * Answers after how long to do so again, if at all. Reads meet whatever fails here and report it; capture goes on
   * without an index.
   */
  async #follow(): Promise<number | undefined> {
    this.#isToldAgain = false;
    try {
      if (!(await this.#lease.hold())) return (await this.#isBehind()) ? LOOK_AGAIN_MS : undefined;
      while (!this.#isClosed && (await this.indexStep())) await new Promise((resolve) => setImmediate(resolve));
      return this.#isToldAgain ? GATHER_MS : undefined;
    } catch {
      this.#lease.close();
      return LOOK_AGAIN_MS;
    }
  }

  async #isBehind(): Promise<boolean> {
    const { position, indexed_through } = await this.progress();
    return indexed_through < position;
  }
}
