// Words that stand for a moment: that something was copied, for instance.
import { useCallback, useEffect, useState } from "react";

/** The words, and how they are said. Those of an older deed never take away those of a newer one. */
export function useBriefly(ms: number): readonly [words: string, say: (words: string) => void] {
  const [said, setSaid] = useState({ words: "" });
  useEffect(() => {
    if (said.words === "") return;
    const timer = setTimeout(() => setSaid({ words: "" }), ms);
    return () => clearTimeout(timer);
  }, [said, ms]);
  return [said.words, useCallback((words) => setSaid({ words }), [])];
}
