// One tail: an async iterable over the entries of the log, from a position on, each once and in order.
import type { AlteredEntry, Entry } from "../../model/entry.js";
import { rowEntry, type TailRead, type TailRow } from "./read-tail.js";
import type { TailFilter } from "./tail-query.js";

/** What a tail needs of the hub it belongs to. */
export interface TailWindow {
  pull(after: number, filter: TailFilter | undefined): TailRead | Promise<TailRead> | undefined;
  /** Resolves once there may be more than the tail has seen, or it has left; rejects where the log cannot be read. */
  wait(tail: Tail): Promise<void>;
  /** Whether what tails hold may be handed out as it is; else they obey first, which may take some of it from them. */
  readonly isFresh: boolean;
  applyRedactions(): Promise<void>;
  leave(tail: Tail): void;
}

type Next = Promise<IteratorResult<Entry | AlteredEntry, undefined>>;

/** A row that was handed out, with the answer that every tail of it gives: a hundred of them parse it once. */
interface AnsweredRow extends TailRow {
  answer?: Next;
}

export function forgetAnswer(row: AnsweredRow): void {
  delete row.answer;
}

export interface TailParts {
  /** The position it starts after, once it is known. */
  readonly start: Promise<number>;
  readonly filter: TailFilter | undefined;
  readonly window: TailWindow;
}

export class Tail implements AsyncIterableIterator<Entry | AlteredEntry, undefined, undefined> {
  readonly #parts: TailParts;
  /** What was pulled and not handed out yet, from `#taken` on. */
  #rows: readonly TailRow[] = [];
  #taken = 0;
  /** How many calls of `next` wait, one behind the other, and the last of them. */
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();
  #position = Number.POSITIVE_INFINITY;
  #isEnded = false;

  constructor(parts: TailParts) {
    this.#parts = parts;
  }

  /** Position through which it has looked at the log, whether or not the entries there matched. */
  get position(): number {
    return this.#position;
  }

  /** The position it starts after: from now on nothing beyond it is missed. */
  started(): Promise<number> {
    return this.#parts.start;
  }

  /** The next entry; an end comes only with `return()` or the closing of the recorder. */
  next(): Next {
    // No generator: what that leaves behind for each entry, times a hundred listeners, has V8 clean up so often that it
    // shows in capture.
    if (this.#waiting === 0 && this.#taken < this.#rows.length && this.#parts.window.isFresh) return this.#take();
    this.#waiting += 1;
    const next = this.#last.then(() => this.#pulled());
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Ends the tail, also while somebody waits for its next entry. */
  async return(): Next {
    this.#end();
    return END;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * The next entries as JSON in bytes, those that are there together; undefined at the end. For surfaces that send them
   * on: use it instead of iterating, never beside it.
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
      // A read that was under way when the tail was ended may fail with the closing of the store.
      if (this.#isEnded) return undefined;
      this.#end();
      throw error;
    }
    return undefined;
  }

  /** Lets go of what was erased. */
  drop(erased: ReadonlySet<number>): void {
    this.#rows = this.#rows.slice(this.#taken).filter(({ position }) => !erased.has(position));
    this.#taken = 0;
  }

  /** Lets go of all that was not handed out yet, and reads it again. */
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
        // What was handed out is not kept while it waits.
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

/** None of those who share an entry may change it. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
