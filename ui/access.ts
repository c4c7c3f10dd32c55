// What whoever reads the page may do, so that nothing is offered that would be refused.
import { useEffect } from "react";
import { type AccessAnswer, door, getAccess } from "./api.js";
import { createStore, useStore } from "./store.js";

const access = createStore<AccessAnswer | undefined>(undefined);

/** Asked once a key opened the door, or none was needed. */
export function useAccessAsked(): void {
  const { locked } = useStore(door);
  useEffect(() => {
    access.set(undefined);
    if (!locked) getAccess().then(access.set, () => undefined);
  }, [locked]);
}

export function useAccess(): AccessAnswer | undefined {
  return useStore(access);
}

const allowed = { capture: ["capture", "admin"], review: ["review", "admin"], admin: ["admin"] } as const;

export function useMay(what: keyof typeof allowed): boolean {
  const scope = useAccess()?.scope ?? "";
  return (allowed[what] as readonly string[]).includes(scope);
}
