// The door for reflection: which entries to look back at, as it comes in from any surface.

import { bothHold, type RowFilter } from "../../index/row-filter.js";
import { conversationKinds, unreflectedKinds } from "../../model/kinds.js";
import { Rejection } from "../../model/rejection.js";
import { type GivenFilters, parseFilters } from "../../search/filters.js";
import { parseLimit } from "../../search/parameters.js";
import { type FilterOptions, questionRules } from "../../search/question-rules.js";

/** Filters as in lists. */
export interface ReflectionOptions extends FilterOptions<"reflection"> {
  /** The newest so many, 30 by default, at most 100,000. */
  readonly limit?: number | string | undefined;
}

export interface ReflectionQuery {
  readonly filter: RowFilter;
  /** The same filters, for the kinds that are passed over. */
  readonly others: RowFilter;
  readonly given: GivenFilters;
  readonly limit: number;
}

export function parseReflectionQuery(options: ReflectionOptions, nowMs: number): ReflectionQuery | Rejection {
  const rule = questionRules.reflection;
  const limit = parseLimit(options.limit, rule.limit);
  if (limit instanceof Rejection) return limit;
  const asked = parseFilters(rule.filters, options, nowMs);
  if (asked instanceof Rejection) return asked;
  const filter = bothHold({ kinds: conversationKinds }, asked.filter);
  const others = bothHold({ kinds: unreflectedKinds }, asked.filter);
  // Another kind than those of a conversation leaves nothing to look at.
  return { filter, others, given: asked.given, limit: filter.kinds?.length === 0 ? 0 : limit };
}
