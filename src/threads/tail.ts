// One tail: an async iterable over the entries of the log, from a position on, each once and in order.
import type { Entry } from "../model/entry.js";
import type { TailFilter, TailRead, TailRow } from "../read/tail.js";

/** What a tail needs of the hub it belongs to. */
export interface TailWindow {
  pull(after: number, filter: TailFilter | undefined): TailRead | Promise<TailRead> | undefined;
  /** Resolves once there may be more than the tail has seen, or it has left; rejects where the log cannot be read. */
  wait(tail: Tail): Promise<void>;
  leave(tail: Tail): void;
  entryOf(row: TailRow): Entry;
}

export interface TailParts {
  /** The position it starts after, once it is known. */
  readonly start: Promise<number>;
  readonly filter: TailFilter | undefined;
  readonly window: TailWindow;
}

export class Tail implements AsyncIterableIterator<Entry, undefined, undefined> {
  readonly #parts: TailParts;
  readonly #entries: AsyncGenerator<Entry, undefined, undefined>;
  #position = Number.POSITIVE_INFINITY;
  #isEnded = false;

  constructor(parts: TailParts) {
    this.#parts = parts;
    this.#entries = this.#iterate();
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
  next(): Promise<IteratorResult<Entry, undefined>> {
    return this.#entries.next();
  }

  /** Ends the tail, also while somebody waits for its next entry. */
  return(): Promise<IteratorResult<Entry, undefined>> {
    this.#end();
    return this.#entries.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /**
   * The next entries as text, those that are there together; undefined at the end. For surfaces that send them on: use
   * it instead of iterating, never beside it.
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

  async *#iterate(): AsyncGenerator<Entry, undefined, undefined> {
    for (;;) {
      const rows = await this.nextRows();
      if (rows === undefined) return undefined;
      for (const row of rows) yield this.#parts.window.entryOf(row);
    }
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#parts.window.leave(this);
  }
}
