// Rests of what works beside capture. They keep no program alive, and end at once when it is closed: a program that waits for
// the end of a rest that does not keep it alive would end in the middle of closing.
import { setTimeout as sleep } from "node:timers/promises";

export class Rests {
  readonly #ending = new AbortController();

  /** Aborted when there is to be no more work. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  async rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#ending.signal }).catch(() => undefined);
  }

  end(): void {
    this.#ending.abort();
  }
}
