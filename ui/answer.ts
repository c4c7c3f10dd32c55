// An answer of the server as a part of the page waits for it: known, under way or failed.
import { useCallback, useEffect, useMemo, useState } from "react";
import { connection, isPassing } from "./api.js";
import { useStore } from "./store.js";

export interface Answer<T> {
  /** The last that came, also while another is under way. */
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly busy: boolean;
  again(): void;
}

/** While an index is built answers lack older entries, and are asked for again after so long. */
export const PARTIAL_MS = 1_000;
/** What was refused because there is too much to do is asked for again after so long. */
export const PASSING_MS = 2_000;

/** Whether the server says that something is missing, because its index is still being built. */
export function isPartial(value: unknown): boolean {
  return (value as { readonly partial?: true } | undefined)?.partial === true;
}

/** Asks whenever what it depends on changes, once a server that was away is back or has less to do, and until nothing is missing. */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[]): Answer<T> {
  const [state, setState] = useState<Omit<Answer<T>, "again">>({ value: undefined, error: undefined, busy: true });
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((before) => before + 1), []);
  const isOpen = useStore(connection) === "open";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says what the question depends on.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: only its return is a reason to ask again, a failure is none.
  useEffect(() => {
    if (isOpen && failed) again();
  }, [isOpen]);
  const { value, error } = state;
  useEffect(() => {
    if (!isPartial(value) && !isPassing(error)) return;
    const timer = setTimeout(again, isPassing(error) ? PASSING_MS : PARTIAL_MS);
    return () => clearTimeout(timer);
  }, [value, error, again]);
  return { ...state, again };
}

interface Page {
  readonly next_cursor: string | null;
}

/** All pages so far, and how the next is asked for where there is one. With another first page those behind it are gone. */
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
