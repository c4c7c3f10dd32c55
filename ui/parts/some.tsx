// Lists of any length: the first of them, and more when the reader asks for them.
import { type ReactNode, useState } from "react";
import { countOf } from "../words.js";

export function useSome<T>(
  items: readonly T[],
  first: number,
): { readonly some: readonly T[]; readonly more: ReactNode } {
  const [drawn, setDrawn] = useState(first);
  if (items.length <= drawn) return { some: items, more: null };
  const more = (
    <button type="button" className="plain" onClick={() => setDrawn(drawn * 10)}>
      {countOf(items.length - drawn)} more
    </button>
  );
  return { some: items.slice(0, drawn), more };
}
