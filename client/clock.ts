// The client's clock: the system's, or one that a test moves.
import { unref } from "./node.js";

export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds that never go back, for durations. */
  elapsedMs(): number;
  /** Calls `run` once after a delay, unless it is cancelled before. A background timer does not keep the process alive. */
  setTimer(run: () => void, delayMs: number, isBackground?: boolean): { cancel(): void };
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  setTimer(run, delayMs, isBackground = false) {
    const timer = setTimeout(run, delayMs);
    if (isBackground) unref(timer);
    return { cancel: () => clearTimeout(timer) };
  },
};
