// One tail: an async iterable over the log's entries from a position, each once and in order.
import type { AlteredEntry, Entry } from "../../model/entry.js";
import { rowEntry, type TailRead, type TailRow } from "./read-tail.js";
import type { TailFilter } from "./tail-query.js";

/** What a tail needs from its hub. */
export interface TailWindow {
  pull(after: number, filter: TailFilter | undefined): TailRead | Promise<TailRead> | undefined;
  /** Resolves once there may be more, or the tail was closed; rejects if the log cannot be read. */
  wait(tail: Tail): Promise<void>;
  /** Whether cached rows may be handed out; otherwise redactions are applied first, which may drop some. */
  readonly isFresh: boolean;
  applyRedactions(): Promise<void>;
  leave(tail: Tail): void;
}

type Next = Promise<IteratorResult<Entry | AlteredEntry, undefined>>;

/** A row with its answer, shared by all tails: a hundred of them parse it once. */
interface AnsweredRow extends TailRow {
  answer?: Next;
}

export function forgetAnswer(row: AnsweredRow): void {
  delete row.answer;
}

export interface TailParts {
  /** The position it starts after. */
  readonly start: Promise<number>;
  readonly filter: TailFilter | undefined;
  readonly window: TailWindow;
}

export class Tail implements AsyncIterableIterator<Entry | AlteredEntry, undefined, undefined> {
  readonly #parts: TailParts;
  /** Rows pulled and not handed out yet, from `#taken` on. */
  #rows: readonly TailRow[] = [];
  #taken = 0;
  /** Number of queued calls of `next`, and the last of them. */
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();
  #position = Number.POSITIVE_INFINITY;
  #isEnded = false;

  constructor(parts: TailParts) {
    this.#parts = parts;
  }

  /** Position through which it has read the log, matching or not. */
  get position(): number {
    return this.#position;
  }

  /** The position it starts after: nothing later is missed. */
  started(): Promise<number> {
    return this.#parts.start;
  }

  /** The next entry; it ends only with `return()` or when the recorder closes. */
  next(): Next {
    // No generator: its garbage, times a hundred listeners, makes V8 collect so often that capture slows down.
    if (this.#waiting === 0 && this.#taken < this.#rows.length && this.#parts.window.isFresh) return this.#take();
    this.#waiting += 1;
    const next = this.#last.then(() => this.#pulled());
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Ends the tail, also during a pending `next`. */
  async return(): Next {
    this.#end();
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * The next available entries as JSON in bytes; undefined at the end. For surfaces that forward them; do not mix it
   * with iterating.
   */
  async nextRows(): Promise<readonly TailRow[] | undefined> {
    try {
      if (this.#position === Number.POSITIVE_INFINITY) this.#position = await this.#parts.start;
      while (!this.#isEnded) {
        const read = await this.#parts.window.pull(this.#position, this.#parts.filter);
        if (this.#isEnded) break;
        if (read === undefined) await this.#parts.window.wait(this);
        else this.#position = read.through;
        if (read !== undefined && read.rows.length > 0) return read.rows;
      }
    } catch (error) {
      // A read interrupted by ending the tail may fail when the store closes.
      if (this.#isEnded) return undefined;
      this.#end();
      throw error;
    }
    return undefined;
  }

  /** Drops erased entries. */
  drop(erased: ReadonlySet<number>): void {
    this.#rows = this.#rows.slice(this.#taken).filter(({ position }) => !erased.has(position));
    this.#taken = 0;
  }

  /** Drops everything not handed out yet, and reads it again. */
  dropAll(): void {
    const next = this.#rows[this.#taken];
    if (next !== undefined) this.#position = next.position - 1;
    this.#rows = [];
    this.#taken = 0;
  }

  async #pulled(): Next {
    try {
      if (this.#taken < this.#rows.length && !this.#parts.window.isFresh) await this.#parts.window.applyRedactions();
      if (this.#taken === this.#rows.length) {
        // Handed-out rows are dropped while it waits.
        this.#rows = [];
        this.#taken = 0;
        this.#rows = (await this.nextRows()) ?? [];
      }
      return this.#take();
    } finally {
      this.#waiting -= 1;
    }
  }

  #take(): Next {
    const row: AnsweredRow | undefined = this.#isEnded ? undefined : this.#rows[this.#taken];
    if (row === undefined) return Promise.resolve(END);
    this.#taken += 1;
    row.answer ??= Promise.resolve(Object.freeze({ value: frozen(rowEntry(row)), done: false }));
    return row.answer;
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#parts.window.leave(this);
  }
}

const END: IteratorResult<Entry | AlteredEntry, undefined> = Object.freeze({ value: undefined, done: true });

/** Shared entries must not be changed. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
