// New lines at the end: shown at once to a reader who is there, counted for one who is reading further up.
import type { Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR_PX = 120;

export function useFollowing(options: {
  readonly list: Virtualizer<HTMLElement, Element>;
  readonly count: number;
  /** Only what comes after everything there was is new. */
  readonly isWhole: boolean;
}): number {
  const { list, count, isWhole } = options;
  const [seen, setSeen] = useState(count);
  const before = useRef(count);
  const isAtEnd = isWhole && list.isAtEnd(NEAR_PX);
  const wasAtEnd = useRef(isAtEnd);
  useEffect(() => {
    if (!isWhole || count === before.current) return;
    const isGrowing = before.current > 0;
    before.current = count;
    if (isGrowing && wasAtEnd.current) list.scrollToEnd();
  }, [count, isWhole, list]);
  const wasWhole = useRef(false);
  // Before it is drawn: what came together with the end of it is as little new as all before.
  useLayoutEffect(() => {
    if (isAtEnd || !wasWhole.current) setSeen(count);
    wasWhole.current = isWhole;
  }, [isAtEnd, isWhole, count]);
  // After it was asked for above: where the reader was before the newest came.
  useEffect(() => {
    wasAtEnd.current = isAtEnd;
  }, [isAtEnd]);
  return isWhole ? Math.max(0, count - seen) : 0;
}
