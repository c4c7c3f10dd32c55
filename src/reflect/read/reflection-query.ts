// Which entries reflection reviews.
import { INJECTED } from "../../index/references.js";
import { bothHold, type RowFilter } from "../../index/row-filter.js";
import { conversationKinds, unreflectedKinds } from "../../model/kinds.js";

export interface ReflectionQuery {
  readonly filter: RowFilter;
  /** The same filters, for kinds that are only counted. */
  readonly others: RowFilter;
  readonly limit: number;
}

export function reflectionQuery(asked: { readonly filter: RowFilter; readonly limit: number }): ReflectionQuery {
  const said: RowFilter = { kinds: conversationKinds, references: [{ ...INJECTED, lacks: true }] };
  const filter = bothHold(said, asked.filter);
  const others = bothHold({ kinds: unreflectedKinds }, asked.filter);
  // A kind outside of the conversation selects nothing.
  return { filter, others, limit: filter.kinds?.length === 0 ? 0 : asked.limit };
}
