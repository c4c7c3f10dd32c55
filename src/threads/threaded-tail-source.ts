// Where tails read from on SQLite: the log, in a thread that is not the one that answers other reads. A rebuild or a long
// verify there would hold up everybody who follows, and somebody who catches up on a long log would hold up every search.
import { Fault } from "../model/fault.js";
import type { TailRange, TailRead } from "../tail/read-tail.js";
import type { TailSource } from "../tail/source.js";
import { Thread } from "./calls.js";

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
    const thread = new Thread({ file: new URL("../threads/tail-thread.js", import.meta.url), options: this.#options });
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
