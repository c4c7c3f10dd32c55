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
