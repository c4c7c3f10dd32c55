// Where tails read from: the log itself, here or in a thread of its own.
import type { EntryLog } from "../../log/port.js";
import type { Mask } from "../../model/mask.js";
import { readTail, type TailRange, type TailRead } from "./read-tail.js";

export interface TailSource {
  read(range: TailRange): Promise<TailRead>;
  close(): Promise<void>;
}

export class LocalTailSource implements TailSource {
  readonly #log: EntryLog;
  readonly #mask: Mask;

  constructor(log: EntryLog, mask: Mask) {
    this.#log = log;
    this.#mask = mask;
  }

  read(range: TailRange): Promise<TailRead> {
    return readTail({ log: this.#log, mask: this.#mask }, range);
  }

  /** The log belongs to whoever opened it. */
  async close(): Promise<void> {}
}
