// What whoever reads the page may do, so that nothing is offered that would be refused.
import { useEffect } from "react";
import { type AccessAnswer, door, getAccess } from "./api.js";
import { createStore, useStore } from "./store.js";
import { pause } from "./tail.js";

const access = createStore<AccessAnswer | undefined>(undefined);

const AGAIN_MS = 2_000;
/** How often it is asked whether that still holds: a key may be revoked, or the first one made, while a view rests. */
const STILL_MS = 5_000;

/** Asked once a key opened the door, or none was needed, and again and again while it is open. */
export function useAccessAsked(): void {
  const { locked } = useStore(door);
  useEffect(() => {
    access.set(undefined);
    const stop = new AbortController();
    if (!locked) void ask(stop.signal);
    return () => stop.abort();
  }, [locked]);
}

async function ask(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const heard = await getAccess(signal);
      if (signal.aborted) return;
      // The same answer is no news to anybody.
      if (JSON.stringify(heard) !== JSON.stringify(access.get())) access.set(heard);
      await pause(STILL_MS, signal);
    } catch {
      // A key that will not do has closed the door; a server that is away or busy answers later.
      await pause(AGAIN_MS, signal);
    }
  }
}

export function useAccess(): AccessAnswer | undefined {
  return useStore(access);
}

const allowed = { capture: ["capture", "admin"], review: ["review", "admin"], admin: ["admin"] } as const;

export function useMay(what: keyof typeof allowed): boolean {
  const scope = useAccess()?.scope ?? "";
  return (allowed[what] as readonly string[]).includes(scope);
}
