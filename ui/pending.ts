// How many candidates wait for a person, as it is shown beside Review: those that the server counts, without the verdicts
// that it has not heard of yet because they can still be taken back.
import { getHealth } from "./api.js";
import { createStore, useStore } from "./store.js";

const counted = createStore(0);
const held = createStore(0);

export function usePending(): number {
  return Math.max(0, useStore(counted) - useStore(held));
}

/** What the server counts; it says nothing while its index is built. */
export function heardPending(pending: number | undefined): void {
  if (pending !== undefined) counted.set(pending);
}

/** A verdict is held back from now on, or not any more. */
export function holdVerdict(by: 1 | -1): void {
  held.set(held.get() + by);
}

/** What was held back was sent: the server counts without it, from its next answer on. */
export async function verdictSent(): Promise<void> {
  const health = await getHealth().catch(() => undefined);
  heardPending(health?.pending);
  holdVerdict(-1);
}
