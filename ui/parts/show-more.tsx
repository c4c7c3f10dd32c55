// Shows the first items of a list, and more on request.
import { type ReactNode, useState } from "react";
import { formatCount } from "../format.js";

export function useShowMore<T>(
  items: readonly T[],
  first: number,
): { readonly some: readonly T[]; readonly more: ReactNode } {
  const [drawn, setDrawn] = useState(first);
  if (items.length <= drawn) return { some: items, more: null };
  const more = (
    <button type="button" className="plain" onClick={() => setDrawn(drawn * 10)}>
      Show {formatCount(items.length - drawn)} more
    </button>
  );
  return { some: items.slice(0, drawn), more };
}
