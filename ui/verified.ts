// What the last walk along the chain of hashes found, and when it was: for the view that tells of it, and for the dot.
import { useEffect } from "react";
import { door, type HealthAnswer, type VerifyAnswer, verify } from "./api.js";
import { createStore, useStore } from "./store.js";

export interface Verified {
  readonly found: VerifyAnswer;
  readonly at_ms: number;
}

const last = createStore<Verified | undefined>(undefined);

/** A larger store is walked along, and looked into, only where somebody asks: all of it has to be read. */
export const UNASKED_ENTRIES_MAX = 50_000;

export async function walkChain(signal?: AbortSignal): Promise<Verified> {
  const verified = { found: await verify(signal), at_ms: Date.now() };
  last.set(verified);
  return verified;
}

/** The last walk; a small store is walked along once for each page that is opened. */
export function useVerified(health: HealthAnswer | undefined): Verified | undefined {
  const { locked } = useStore(door);
  const verified = useStore(last);
  const isDue = !locked && verified === undefined && health !== undefined && health.position <= UNASKED_ENTRIES_MAX;
  useEffect(() => {
    if (!isDue) return;
    const stop = new AbortController();
    walkChain(stop.signal).catch(() => undefined);
    return () => stop.abort();
  }, [isDue]);
  return verified;
}
