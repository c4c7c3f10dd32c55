// Lists of entries: where they go on, page by page.

import type { RowKey } from "../../index/port.js";
import type { RowFilter } from "../../index/row-filter.js";
import { type Cursor, cursorOf, formatCursor } from "../cursor.js";

export interface Page {
  readonly limit?: number | string | undefined;
  readonly cursor?: string | null | undefined;
}

/** A place in a list; where an entry may stand there several times, also which of its texts is meant. */
export interface ListPlace extends RowKey {
  readonly nth?: number;
}

/** A parsed query: the filter with times resolved, and what its cursors are bound to. */
export interface ListQuery {
  readonly filter: RowFilter;
  readonly limit: number;
  readonly after?: ListPlace;
  readonly fingerprint: string;
}

export interface InteractionQuery extends ListQuery {
  readonly full: boolean;
}

type Bound = number | null;

/** Goes on after a place. The first page's times stand for all pages: `7d` must not move on between two of them. */
export const placeCursor: Cursor<ListPlace> = cursorOf(5, (numbers, { filter }) => {
  const [created_ms, position, since_ms, until_ms, nth] = numbers as readonly [number, number, Bound, Bound, Bound];
  const fixed = { ...(since_ms === null ? {} : { since_ms }), ...(until_ms === null ? {} : { until_ms }) };
  const after = { created_ms, position, ...(nth === null ? {} : { nth }) };
  return { filter: { ...filter, ...fixed }, after };
});

/** The cursor that goes on after this place. */
export function cursorAfter(query: Pick<ListQuery, "filter" | "fingerprint">, after: ListPlace): string {
  const { since_ms = null, until_ms = null } = query.filter;
  return formatCursor(query.fingerprint, [after.created_ms, after.position, since_ms, until_ms, after.nth ?? null]);
}
