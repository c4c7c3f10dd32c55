// A clock that stands still until a test moves it.
import type { Clock } from "../../client/clock.js";
import type { WatchClock } from "../../src/import/watch/watches.js";

interface Timer {
  readonly run: () => void;
  readonly dueMs: number;
}

export class ManualClock implements WatchClock, Clock {
  #nowMs = Date.now();
  readonly #timers = new Set<Timer>();

  nowMs(): number {
    return this.#nowMs;
  }

  elapsedMs(): number {
    return this.#nowMs;
  }

  setTimer(run: () => void, delayMs: number): { cancel(): void } {
    const timer = { run, dueMs: this.#nowMs + delayMs };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Runs timers as they become due, and lets the program work in between. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    while (this.#nowMs < endMs) {
      const due = [...this.#timers].map(({ dueMs }) => Math.max(dueMs, this.#nowMs));
      this.#nowMs = Math.min(endMs, this.#nowMs + STEP_MS_MAX, ...due);
      for (const timer of [...this.#timers]) {
        if (timer.dueMs > this.#nowMs || !this.#timers.delete(timer)) continue;
        timer.run();
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

/** Work that a timer begins may set the next one only a moment later. */
const STEP_MS_MAX = 1_000;
