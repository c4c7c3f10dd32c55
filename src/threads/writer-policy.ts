// Who commits an append: the caller itself where it comes alone and the disk is quick, else the writer thread. It knows no
// thread and no log, and is given its clock.
import type { AppendUnit } from "../log/port.js";

/** Handing a lone entry to a thread and back wakes two sleepers, which takes longer than a fast disk's sync. */
const LONE_BYTES_MAX = 64 * 1024;
/** Where commits take longer than this on average, the thread takes over for a while: it may wait, the caller may not. */
const COMMIT_MS_MAX = 2;
/** A longer one counts as this: one hiccup of the disk is no slow disk, two among ten commits are. */
const COMMIT_MS_COUNTED_MAX = 12;
const COMMITS_AVERAGED = 10;
const THREAD_TURN_MS = 1_000;

export class WriterPolicy {
  readonly #now: () => number;
  #underWay = 0;
  /** Appends in a row that came alone; the first after a crowd still goes to the thread. */
  #lone = 1;
  #callerAgainAt = 0;
  #commitMs = 0;

  /** The clock counts milliseconds from any moment on, and never backwards. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the caller commits these itself. To be asked once for every append, since what comes alone is counted. */
  isCallers(units: readonly AppendUnit[], bytes: number): boolean {
    this.#lone = units.length === 1 && this.#underWay === 0 ? this.#lone + 1 : 0;
    return this.#lone > 1 && bytes <= LONE_BYTES_MAX && this.#now() >= this.#callerAgainAt && !isErasing(units);
  }

  /** How long a caller's own commit took, or its trying. */
  noteCommit(ms: number): void {
    this.#commitMs += (Math.min(ms, COMMIT_MS_COUNTED_MAX) - this.#commitMs) / COMMITS_AVERAGED;
    if (this.#commitMs <= COMMIT_MS_MAX) return;
    this.#commitMs = 0;
    this.#callerAgainAt = this.#now() + THREAD_TURN_MS;
  }

  /** Whether the thread has nothing to write. */
  get isThreadIdle(): boolean {
    return this.#underWay === 0;
  }

  handOver(): void {
    this.#underWay += 1;
  }

  takeBack(): void {
    this.#underWay -= 1;
  }
}

/** Overwriting many bodies takes longer than a lone commit may. */
function isErasing(units: readonly AppendUnit[]): boolean {
  return units.some((unit) => unit.some(({ kind }) => kind === "redaction"));
}
