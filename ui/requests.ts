// The state of a request in a component: loading, loaded or failed.
import { useCallback, useEffect, useMemo, useState } from "react";
import { connection, isTransient } from "./api.js";
import { useStore } from "./store.js";

export interface RequestState<T> {
  /** The last result, also while the next request is running. */
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly busy: boolean;
  reload(): void;
}

/** How soon to ask again while the index is being built and results are partial. */
export const PARTIAL_MS = 1_000;
/** How soon to ask again when the server was busy. */
export const RETRY_MS = 2_000;

/** Whether entries are missing from a result because the index is still being built. */
export function isPartial(value: unknown): boolean {
  return (value as { readonly partial?: true } | undefined)?.partial === true;
}

/**
 * Sends the request when its dependencies change, the server comes back or is less busy, and until the result is
 * complete.
 */
export function useRequest<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
): RequestState<T> {
  const [state, setState] = useState<Omit<RequestState<T>, "reload">>({
    value: undefined,
    error: undefined,
    busy: true,
  });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isOpen = useStore(connection) === "open";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller names the dependencies.
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ ...before, busy: true }));
    ask(stop.signal).then(
      (value) => stop.signal.aborted || setState({ value, error: undefined, busy: false }),
      (error: Error) => stop.signal.aborted || setState((before) => ({ ...before, error, busy: false })),
    );
    return () => stop.abort();
  }, [...dependencies, round]);
  const failed = state.error !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the connection returns, not on a failure.
  useEffect(() => {
    if (isOpen && failed) reload();
  }, [isOpen]);
  const { value, error } = state;
  useEffect(() => {
    if (!isPartial(value) && !isTransient(error)) return;
    const timer = setTimeout(reload, isTransient(error) ? RETRY_MS : PARTIAL_MS);
    return () => clearTimeout(timer);
  }, [value, error, reload]);
  return { ...state, reload };
}

interface Page {
  readonly next_cursor: string | null;
}

/** All pages loaded so far, and a function that loads the next. A new first page discards those after it. */
export function usePages<P extends Page>(
  first: P | undefined,
  ask: (cursor: string) => Promise<P>,
): { readonly pages: readonly P[]; readonly more: (() => void) | undefined } {
  const [further, setFurther] = useState<{ readonly behind: P | undefined; readonly pages: readonly P[] }>();
  const pages = useMemo(() => {
    if (first === undefined) return [];
    return [first, ...(further?.behind === first ? further.pages : [])];
  }, [first, further]);
  const cursor = pages.at(-1)?.next_cursor ?? null;
  if (cursor === null) return { pages, more: undefined };
  const more = (): void => {
    ask(cursor).then(
      (page) => setFurther({ behind: first, pages: [...pages.slice(1), page] }),
      () => undefined,
    );
  };
  return { pages, more };
}
