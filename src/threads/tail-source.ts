// Where tails read from: the log itself, in this thread or in one of its own.
//
// The thread is not the one that answers other reads: a rebuild or a long verify there would hold up everybody who
// follows, and somebody who catches up on a long log would hold up every search.

import { Fault } from "../model/fault.js";
import type { EntryLog } from "../ports/entry-log.js";
import { readTail, type TailRange, type TailRead } from "../read/tail.js";
import { Thread } from "./calls.js";

export interface TailSource {
  read(range: TailRange): Promise<TailRead>;
  close(): Promise<void>;
}

export class LocalTailSource implements TailSource {
  readonly #log: EntryLog;

  constructor(log: EntryLog) {
    this.#log = log;
  }

  read(range: TailRange): Promise<TailRead> {
    return readTail(this.#log, range);
  }

  /** The log belongs to whoever opened it. */
  async close(): Promise<void> {}
}

/** Reads and parses in a thread that is started when somebody first follows. */
export class ThreadedTailSource implements TailSource {
  readonly #options: { readonly log_path: string };
  #thread: Promise<Thread> | undefined;

  constructor(options: { readonly log_path: string }) {
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
