// The result and time of the last chain verification, for the Health view and the status dot.
import { useEffect } from "react";
import { auth, type HealthAnswer, type VerifyAnswer, verify } from "./api.js";
import { createStore, useStore } from "./store.js";

export interface Verification {
  readonly found: VerifyAnswer;
  readonly at_ms: number;
}

const last = createStore<Verification | undefined>(undefined);

/** Verification and health checks read the whole store, so larger stores are checked only on request. */
export const AUTOMATIC_CHECK_ENTRIES_MAX = 50_000;

export async function verifyChain(signal?: AbortSignal): Promise<Verification> {
  const verified = { found: await verify(signal), at_ms: Date.now() };
  last.set(verified);
  return verified;
}

/** The last verification. A small store is verified once per page load. */
export function useVerification(health: HealthAnswer | undefined): Verification | undefined {
  const { locked } = useStore(auth);
  const verified = useStore(last);
  const isDue =
    !locked && verified === undefined && health !== undefined && health.position <= AUTOMATIC_CHECK_ENTRIES_MAX;
  useEffect(() => {
    if (!isDue) return;
    const stop = new AbortController();
    verifyChain(stop.signal).catch(() => undefined);
    return () => stop.abort();
  }, [isDue]);
  return verified;
}
