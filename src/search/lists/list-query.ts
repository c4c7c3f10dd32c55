// The door for lists: filters, limit and cursor as they come in from any surface, parsed into a query.

import type { RowKey } from "../../index/port.js";
import { bothHold, type RowFilter } from "../../index/row-filter.js";
import { Rejection } from "../../model/rejection.js";
import { fingerprintOf, formatCursor, parseCursor } from "../cursor.js";
import { type GivenFilters, parseFilters } from "../filters.js";
import { parseLimit, parseSwitch } from "../parameters.js";
import { type FilterOptions, questionRules } from "../question-rules.js";

export interface Page {
  readonly limit?: number | string | undefined;
  readonly cursor?: string | null | undefined;
}

/** Filters of the list of interactions. An empty one filters nothing; `"-"` selects entries without that label. */
export interface InteractionListOptions extends FilterOptions<"interactions">, Page {
  /** Whether interactions are listed whole, with their responses and context packs: true, or `"1"` and `"true"`. */
  readonly full?: boolean | string | undefined;
}

/** Filters of the list of entries. An empty one filters nothing; `"-"` selects entries without that label. */
export interface EntryListOptions extends FilterOptions<"entries">, Page {}

/** A place in a list; where an entry may stand there several times, also which of its texts is meant. */
export interface ListPlace extends RowKey {
  readonly nth?: number;
}

/** A parsed query: the filter with times resolved, what was given for it, and what its cursors are bound to. */
export interface ListQuery {
  readonly filter: RowFilter;
  readonly given: GivenFilters;
  readonly limit: number;
  readonly after?: ListPlace;
  readonly fingerprint: string;
}

export interface InteractionQuery extends ListQuery {
  readonly full: boolean;
}

export function parseInteractionQuery(options: InteractionListOptions, nowMs: number): InteractionQuery | Rejection {
  const full = parseSwitch("full", options.full);
  if (full instanceof Rejection) return full;
  const query = parseList("interactions", options, { always: { kinds: ["interaction"] }, nowMs });
  return query instanceof Rejection ? query : { ...query, full };
}

export function parseEntryQuery(options: EntryListOptions, nowMs: number): ListQuery | Rejection {
  return parseList("entries", options, { always: {}, nowMs });
}

function parseList(
  question: "interactions" | "entries",
  options: InteractionListOptions | EntryListOptions,
  { always, nowMs }: { readonly always: RowFilter; readonly nowMs: number },
): ListQuery | Rejection {
  const rule = questionRules[question];
  const limit = parseLimit(options.limit, rule.limit);
  if (limit instanceof Rejection) return limit;
  const asked = parseFilters(rule.filters, options, nowMs);
  if (asked instanceof Rejection) return asked;
  const fingerprint = fingerprintOf([question, asked.given]);
  const place = parsePlace(options.cursor, { filter: bothHold(always, asked.filter), fingerprint });
  return place instanceof Rejection ? place : { given: asked.given, limit, fingerprint, ...place };
}

/** Where a cursor goes on, and the filter it goes on with. */
export function parsePlace(
  cursor: string | null | undefined,
  query: Pick<ListQuery, "filter" | "fingerprint">,
  { has_texts = false }: { readonly has_texts?: boolean } = {},
): Pick<ListQuery, "filter" | "after"> | Rejection {
  const numbers = parseCursor(cursor, { fingerprint: query.fingerprint, numbers: has_texts ? 5 : 4 });
  if (numbers instanceof Rejection) return numbers;
  if (numbers === undefined) return { filter: query.filter };
  // The first page's times stand for all pages: `7d` must not move on between two of them.
  const [created_ms, position, since_ms, until_ms, nth] = numbers as readonly [number, number, Bound, Bound, number];
  const fixed = { ...(since_ms === null ? {} : { since_ms }), ...(until_ms === null ? {} : { until_ms }) };
  const after = { created_ms, position, ...(has_texts ? { nth } : {}) };
  return { filter: { ...query.filter, ...fixed }, after };
}

type Bound = number | null;

/** The cursor that goes on after this place. */
export function cursorAfter(query: Pick<ListQuery, "filter" | "fingerprint">, after: ListPlace): string {
  const { since_ms, until_ms } = query.filter;
  const numbers = [after.created_ms, after.position, since_ms ?? null, until_ms ?? null];
  return formatCursor(query.fingerprint, after.nth === undefined ? numbers : [...numbers, after.nth]);
}
