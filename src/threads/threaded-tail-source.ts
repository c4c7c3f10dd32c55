// Where tails read from: the log, in a thread that is not the one that answers other reads. A rebuild or a long verify
// there would hold up everybody who follows, and somebody who catches up on a long log would hold up every search.
import type { TailRange, TailRead } from "../reading/tail/read-tail.js";
import type { TailSource } from "../reading/tail/source.js";
import { LazyThread } from "./lazy-thread.js";
import { threadFile } from "./thread-file.js";

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
