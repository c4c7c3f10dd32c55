// What the current key may do, so the page offers only that.
import { useEffect } from "react";
import { type AccessAnswer, auth, getAccess } from "./api.js";
import { createStore, useStore } from "./store.js";
import { sleep } from "./tail-log.js";

const access = createStore<AccessAnswer | undefined>(undefined);

const RETRY_MS = 2_000;
/** A key may be revoked, or the first one created, while the page is open. */
const POLL_MS = 5_000;

/** Polls the access rights while signed in. */
export function useAccessPolling(): void {
  const { locked } = useStore(auth);
  useEffect(() => {
    access.set(undefined);
    const stop = new AbortController();
    if (!locked) void pollAccess(stop.signal);
    return () => stop.abort();
  }, [locked]);
}

async function pollAccess(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const answer = await getAccess(signal);
      if (signal.aborted) return;
      // An equal answer must not cause a render.
      if (JSON.stringify(answer) !== JSON.stringify(access.get())) access.set(answer);
      await sleep(POLL_MS, signal);
    } catch {
      // A rejected key has signed the page out already; otherwise the server is unreachable or busy.
      await sleep(RETRY_MS, signal);
    }
  }
}

export function useAccess(): AccessAnswer | undefined {
  return useStore(access);
}

const scopesByAction = { capture: ["capture", "admin"], review: ["review", "admin"], admin: ["admin"] } as const;

export function usePermission(what: keyof typeof scopesByAction): boolean {
  const scope = useAccess()?.scope ?? "";
  return (scopesByAction[what] as readonly string[]).includes(scope);
}
