// Reading in a thread of its own, started when it is first asked for something: it fills the index and answers, so that
// neither ever holds up capture.

import type { Reading } from "../reading/calls.js";
import type { RebuildOptions } from "../reading/rebuild.js";
import type { TailRange, TailRead, TailSource } from "../reading/tail/read-tail.js";
import type { PriceFile } from "../usage/price-file.js";
import { LazyThread, threadFile } from "./thread.js";

/** A message to the thread costs more than an entry's share of a commit, so that one is sent for many of them. */
const GATHER_MS = 50;
/** Bodies are read by the thousand and soon dropped. V8 cleans up after them with threads that capture would use. */
const YOUNG_MB = 96;

export interface ReadThreadOptions {
  /** The address of the store whose log is read. */
  readonly data: string;
  /** The address of the store that holds the index, where that is another one. */
  readonly index?: string | undefined;
  /** Values that the user registered to be masked. */
  readonly mask?: readonly string[] | undefined;
  /** Where it is noted that an altered body was read. */
  readonly altered: BigInt64Array;
  readonly rebuild?: Partial<RebuildOptions> | undefined;
  /** In place of the prices that come with the program. */
  readonly prices?: PriceFile | undefined;
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

  ask(name: string, query: unknown): Promise<unknown> {
    return this.#thread.call((thread) => thread.call("ask", { name, query }));
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

// Where tails read from: the log, in a thread that is not the one that answers other reads. A rebuild or a long verify
// there would hold up everybody who follows, and somebody who catches up on a long log would hold up every search.

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

  /** A tail that goes on after its position has lost nothing, whatever became of the thread. */
  read(range: TailRange): Promise<TailRead> {
    return this.#thread.call((thread) => thread.call("read", range));
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
