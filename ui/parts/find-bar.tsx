// Find in the open session. The transcript renders only visible lines, so the browser's own find cannot be used.
import { useEffect, useRef, useState } from "react";
import { ApiError, searchRecord } from "../api.js";
import { formatCount } from "../format.js";
import { setQuery } from "../router.js";

export function FindBar(options: {
  readonly q: string;
  readonly count: number | undefined;
  readonly busy: boolean;
  /** The current match, from 1; 0 if none. */
  readonly at: number;
  previous(): void;
  next(): void;
}) {
  const { q, count, busy, at, previous, next } = options;
  const [text, setText] = useState(q);
  const own = useRef(q);
  useEffect(() => {
    if (q !== own.current) setText(q);
    own.current = q;
  }, [q]);
  const change = (value: string): void => {
    setText(value);
    own.current = value;
    // Typing here ends a search through all sessions.
    setQuery({ q: value, through: "" }, { replace: true });
  };
  return (
    <search className="find">
      <input
        id="find"
        type="search"
        value={text}
        placeholder="Find in this session"
        aria-label="Find in this session"
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => change(target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") (event.shiftKey ? previous : next)();
          if (event.key !== "Escape") return;
          // Escape would clear a search field.
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
      <output className="quiet">
        {count === undefined
          ? ""
          : count === 0 && !busy
            ? "none"
            : `${at > 0 ? `${formatCount(at)} of ` : ""}${formatCount(count)}${busy ? "…" : ""}`}
      </output>
      {count !== undefined && count > 0 && (
        <>
          <button type="button" className="plain" onClick={previous} aria-label="Previous match">
            ↑
          </button>
          <button type="button" className="plain" onClick={next} aria-label="Next match">
            ↓
          </button>
        </>
      )}
    </search>
  );
}

interface FindResult {
  /** Positions of matching entries, in order. */
  readonly positions: readonly number[];
  readonly count: number | undefined;
  readonly busy: boolean;
}

const PAGE = 500;
const TYPING_MS = 150;
const NO_RESULT: FindResult = { positions: [], count: undefined, busy: false };

export function useFind(session_id: string, q: string): FindResult {
  const [found, setFound] = useState<FindResult>(NO_RESULT);
  useEffect(() => {
    if (q.trim() === "") {
      setFound(NO_RESULT);
      return;
    }
    const stop = new AbortController();
    setFound((before) => ({ ...before, busy: true }));
    const timer = setTimeout(() => void findAll(session_id, q, stop.signal, setFound), TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [session_id, q]);
  return found;
}

/**
 * The first match in the next session, or the last in the previous one, in the order of a search through all sessions.
 */
export async function matchInOtherSession(options: {
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

async function findAll(
  session_id: string,
  q: string,
  signal: AbortSignal,
  show: (found: FindResult) => void,
): Promise<void> {
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
    // A half-typed filter matches nothing yet.
    if (error instanceof ApiError) show({ positions: [], count: 0, busy: false });
  }
}
