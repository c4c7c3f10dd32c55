// Reads and tails in their own threads, started on first use, so neither ever holds up capture.

import type { AnswerForm, Reading } from "../reading/call-table.js";
import type { RebuildOptions } from "../reading/rebuild.js";
import type { TailRange, TailRead, TailSource } from "../reading/tail/read-tail.js";
import type { PriceFile } from "../usage/price-file.js";
import { LazyThread, threadFile } from "./thread.js";

/** A message costs more than an entry's share of a commit, so one is sent for many. */
const GATHER_MS = 50;
/** Bodies are read by the thousand and soon dropped; V8 would collect them with threads that capture needs. */
const YOUNG_MB = 96;

export interface ReadThreadOptions {
  /** The address of the store whose log is read. */
  readonly data: string;
  /** The store with the index, if it is another one. */
  readonly index?: string | undefined;
  /** Values that the user registered to be masked. */
  readonly mask?: readonly string[] | undefined;
  /** Where it is noted that an altered body was read. */
  readonly altered: BigInt64Array;
  readonly rebuild?: Partial<RebuildOptions> | undefined;
  /** Replaces the built-in prices. */
  readonly prices?: PriceFile | undefined;
}

/** What is asked of the thread. */
export interface Asked {
  readonly name: string;
  readonly query: unknown;
  readonly form: AnswerForm | undefined;
}

export class ThreadedReading implements Reading {
  readonly #thread: LazyThread;
  #telling: NodeJS.Timeout | undefined;

  constructor(options: ReadThreadOptions) {
    this.#thread = new LazyThread({
      file: threadFile("read"),
      options,
      young_mb: YOUNG_MB,
    });
  }

  ask(name: string, query: unknown, form?: AnswerForm): Promise<unknown> {
    return this.#thread.call((thread) => thread.call("ask", { name, query, form } satisfies Asked));
  }

  grown(): void {
    if (!this.#thread.isOpen || this.#telling !== undefined) return;
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      this.#thread.tell("grown");
    }, GATHER_MS).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#telling);
    await this.#thread.close();
  }
}

export interface TailThreadOptions {
  /** The address of the store whose log is followed. */
  readonly data: string;
  /** Values that the user registered to be masked. */
  readonly mask?: readonly string[] | undefined;
  /** Where it is noted that an altered body was read. */
  readonly altered: BigInt64Array;
}

export class ThreadedTailSource implements TailSource {
  readonly #thread: LazyThread;

  constructor(options: TailThreadOptions) {
    this.#thread = new LazyThread({ file: threadFile("tail"), options });
  }

  /** A tail continues after its position and loses nothing, even if the thread has stopped. */
  read(range: TailRange): Promise<TailRead> {
    return this.#thread.call((thread) => thread.call("read", range));
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
