// Loaded into a server's process before it starts: answers how long its main thread was held since it was asked last.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const RESOLUTION_MS = 5;
/** A stall counts once the next tick of the monitor has seen it. */
const SETTLE_MS = 4 * RESOLUTION_MS;

if (isMainThread && process.send !== undefined) {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  process.on("message", () => {
    setTimeout(() => {
      process.send?.({ held_ms: Math.max(0, monitor.max / 1e6 - RESOLUTION_MS) });
      monitor.reset();
    }, SETTLE_MS).unref();
  });
  // The server ends when it is told to, and not when this connection does.
  process.channel?.unref();
}
