// A message that disappears after a moment, such as "Copied".
import { useCallback, useEffect, useState } from "react";

/** The current message and a function that shows one. A newer message restarts the timer. */
export function useTransientText(ms: number): readonly [words: string, say: (words: string) => void] {
  const [shown, setShown] = useState({ words: "" });
  useEffect(() => {
    if (shown.words === "") return;
    const timer = setTimeout(() => setShown({ words: "" }), ms);
    return () => clearTimeout(timer);
  }, [shown, ms]);
  return [shown.words, useCallback((words) => setShown({ words }), [])];
}
