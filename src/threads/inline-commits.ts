// Which appends the caller's thread commits itself. Handing one entry to the writer thread and back takes longer than a fast
// disk's sync: a caller alone needs 0.18 ms for an entry inline and 0.29 ms through the thread.
import type { AppendUnit } from "../log/port.js";

const INLINE_BYTES_MAX = 64 * 1024;
/** After two slower commits in a row the writer thread takes over for a while: it may wait for a disk, the caller may not. */
const SLOW_COMMIT_MS = 2;
const SLOW_COMMITS = 2;
const SLOW_DISK_MS = 1_000;

export class InlineCommits {
  readonly #now: () => number;
  #slowInARow = 0;
  #slowUntilMs = Number.NEGATIVE_INFINITY;

  /** The clock counts milliseconds from any moment on, and never backwards. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** One small entry, and no redaction: overwriting many bodies takes longer than the caller may be kept. */
  suits(units: readonly AppendUnit[], bytes: number): boolean {
    const isErasing = units.some((unit) => unit.some(({ kind }) => kind === "redaction"));
    return units.length === 1 && bytes <= INLINE_BYTES_MAX && !isErasing && this.#now() >= this.#slowUntilMs;
  }

  /** How long an inline commit took, or the attempt at one. */
  noteCommit(ms: number): void {
    this.#slowInARow = ms > SLOW_COMMIT_MS ? this.#slowInARow + 1 : 0;
    if (this.#slowInARow < SLOW_COMMITS) return;
    this.#slowInARow = 0;
    this.#slowUntilMs = this.#now() + SLOW_DISK_MS;
  }
}
