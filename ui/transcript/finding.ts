// Finding inside a session. A list that draws only what is seen breaks the browser's own finding, so the server looks.
import { useEffect, useState } from "react";
import { Refused, searchRecord } from "../api.js";

export interface Found {
  /** Entries that hold it, in order. */
  readonly positions: readonly number[];
  readonly count: number | undefined;
  readonly busy: boolean;
}

const PAGE = 500;
const TYPING_MS = 150;
const NOTHING: Found = { positions: [], count: undefined, busy: false };

export function useFound(session_id: string, q: string): Found {
  const [found, setFound] = useState<Found>(NOTHING);
  useEffect(() => {
    if (q.trim() === "") {
      setFound(NOTHING);
      return;
    }
    const stop = new AbortController();
    setFound((before) => ({ ...before, busy: true }));
    const timer = setTimeout(() => void look(session_id, q, stop.signal, setFound), TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [session_id, q]);
  return found;
}

/** The nearest match in the session after this one, or before it, in the order of a search over all of them. */
export async function matchBeyond(options: {
  readonly q: string;
  readonly session_id: string;
  readonly by: 1 | -1;
}): Promise<{ readonly session_id: string; readonly position: number } | undefined> {
  const { q, session_id, by } = options;
  const positionsById = new Map<string, number[]>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof searchRecord>> = await searchRecord({
      q,
      limit: PAGE,
      cursor: cursor ?? undefined,
    });
    for (const { session_id: its, position } of page.results) {
      if (its === "") continue;
      const known = positionsById.get(its);
      if (known === undefined) positionsById.set(its, [position]);
      else known.push(position);
    }
    cursor = page.next_cursor;
    const ids = [...positionsById.keys()];
    const at = ids.indexOf(session_id);
    const next = at === -1 ? undefined : ids[at + by];
    if (next !== undefined) {
      const positions = positionsById.get(next) as number[];
      return { session_id: next, position: by === 1 ? Math.min(...positions) : Math.max(...positions) };
    }
    if (at !== -1 && by === -1) return undefined;
  } while (cursor !== null);
  return undefined;
}

async function look(session_id: string, q: string, signal: AbortSignal, show: (found: Found) => void): Promise<void> {
  const positions: number[] = [];
  let cursor: string | null = null;
  try {
    do {
      const page: Awaited<ReturnType<typeof searchRecord>> = await searchRecord(
        { q, session_id, limit: PAGE, cursor: cursor ?? undefined },
        signal,
      );
      positions.push(...page.results.map(({ position }) => position));
      cursor = page.next_cursor;
      show({
        positions: positions.toSorted((one, other) => one - other),
        count: positions.length,
        busy: cursor !== null,
      });
    } while (cursor !== null && !signal.aborted);
  } catch (error) {
    // Half a filter matches nothing until it is typed to its end.
    if (error instanceof Refused) show({ positions: [], count: 0, busy: false });
  }
}
