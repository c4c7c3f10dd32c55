// The number of candidates waiting for review, shown in the navigation: the server's count minus verdicts not sent yet,
// because they can still be undone.
import { getHealth } from "./api.js";
import { createStore, useStore } from "./store.js";

const counted = createStore(0);
const held = createStore(0);

export function usePending(): number {
  return Math.max(0, useStore(counted) - useStore(held));
}

/** Takes the server's count; it is missing while the index is being built. */
export function setPending(pending: number | undefined): void {
  if (pending !== undefined) counted.set(pending);
}

/** Adds or removes a verdict that is held back. */
export function holdVerdict(by: 1 | -1): void {
  held.set(held.get() + by);
}

/** A held verdict was sent: refreshes the server's count, then stops subtracting it. */
export async function verdictSent(): Promise<void> {
  const health = await getHealth().catch(() => undefined);
  setPending(health?.pending);
  holdVerdict(-1);
}
