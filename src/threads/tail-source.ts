// Where tails read from: the log itself, in this thread or in one of its own.
//
// The thread is not the one that answers other reads: a rebuild or a long verify there would hold up everybody who
// follows, and somebody who catches up on a long log would hold up every search.

import { createMask } from "../guard/masking/mask.js";
import { Fault } from "../model/fault.js";
import type { EntryLog } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import { readTail, type TailRange, type TailRead } from "../read/tail.js";
import { Thread } from "./calls.js";

export interface TailSource {
  read(range: TailRange): Promise<TailRead>;
  close(): Promise<void>;
}

export class LocalTailSource implements TailSource {
  readonly #log: EntryLog;
  readonly #mask: Mask;

  constructor(log: EntryLog, mask: Mask = createMask()) {
    this.#log = log;
    this.#mask = mask;
  }

  read(range: TailRange): Promise<TailRead> {
    return readTail({ log: this.#log, mask: this.#mask }, range);
  }

  /** The log belongs to whoever opened it. */
  async close(): Promise<void> {}
}

export interface TailThreadOptions {
  readonly log_path: string;
  /** Values that the user registered to be masked. */
  readonly mask?: readonly string[] | undefined;
}

/** Reads and parses in a thread that is started when somebody first follows. */
export class ThreadedTailSource implements TailSource {
  readonly #options: TailThreadOptions;
  #thread: Promise<Thread> | undefined;

  constructor(options: TailThreadOptions) {
    this.#options = options;
  }

  async read(range: TailRange): Promise<TailRead> {
    this.#thread ??= this.#start();
    const thread = await this.#thread;
    try {
      return await thread.call<TailRead>("read", range);
    } catch (error) {
      // The next read starts another thread; a tail that goes on after its position has lost nothing.
      if (error instanceof Fault && error.code === "thread_stopped") this.#thread = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const thread = await this.#thread?.catch(() => undefined);
    await thread?.close();
  }

  async #start(): Promise<Thread> {
    const thread = new Thread({ file: new URL("./tail-thread.js", import.meta.url), options: this.#options });
    try {
      await thread.call("open", undefined);
      return thread;
    } catch (error) {
      this.#thread = undefined;
      await thread.close();
      throw error;
    }
  }
}
