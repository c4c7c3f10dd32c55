// What becomes of captured entries when the agent's process ends.
import type { Delivery } from "./delivery.js";
import { type NodeModules, node } from "./node.js";

/**
 * Keeps what was captured when the process ends: a natural end waits a moment for the server, every other one leaves it in
 * the spool. Answers with how to stop watching.
 */
export function watchEnd(delivery: Delivery, endMsMax: number): () => void {
  if (node === undefined) return () => undefined;
  const { process } = node;
  const onExit = (): void => delivery.end();
  let hasTried = false;
  const onBeforeExit = (): void => {
    const { queued, spooled } = delivery.counters;
    if (hasTried || queued + spooled === 0) return;
    hasTried = true;
    // Nothing but this timer keeps the process from ending.
    const end = setTimeout(() => undefined, endMsMax);
    void delivery.send().finally(() => clearTimeout(end));
  };
  const stops = signals.map((signal) => onSignal(process, signal, onExit));
  process.on("exit", onExit);
  process.on("beforeExit", onBeforeExit);
  return () => {
    for (const stop of stops) stop();
    process.off("exit", onExit);
    process.off("beforeExit", onBeforeExit);
  };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const OURS: unique symbol = Symbol.for("hansard-client");

/** A signal ends the process as it would have without us, unless the program itself listens for it. */
function onSignal(process: NodeModules["process"], signal: (typeof signals)[number], end: () => void): () => void {
  const listener = (): void => {
    const listeners = process.listeners(signal) as readonly Listener[];
    if (!listeners.every((one) => OURS in one)) return;
    // Other clients of this process hear it too, and would come too late.
    for (const one of listeners) {
      process.off(signal, one);
      const end = one[OURS];
      // That of an older client in the same process is none.
      if (typeof end === "function") end();
    }
    process.kill(process.pid, signal);
  };
  process.on(signal, Object.assign(listener, { [OURS]: end }));
  return () => process.off(signal, listener);
}

type Listener = NodeJS.SignalsListener & { readonly [OURS]?: (() => void) | true };
