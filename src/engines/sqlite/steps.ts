// Steps of a walk through rows, newest first: what all ways of a list have in common.
import type { RowFilter, RowKey } from "../../index/port.js";
import type { Conditions } from "./row-filter.js";
import type { Statements } from "./statements.js";

/** A row on the way, and whether it is one of the list. */
export interface Step extends RowKey {
  readonly holds: number;
}

/** Where a walk goes on and how far: so many rows, those of the list alone or whatever lies on the way. */
export interface Stretch {
  readonly after: RowKey | undefined;
  readonly limit: number;
  readonly passing: "all" | "listed";
}

/** The next rows of a way; fewer than asked for at its end. */
export type Way = (stretch: Stretch) => readonly Step[];

/** One statement: bounds that an index leads along, and tests that only rows of the list pass. */
export function takeSteps(
  sql: Statements,
  parts: {
    readonly from: string;
    readonly bounds: Conditions;
    readonly order: string;
    readonly tests: Conditions;
    readonly stretch: Omit<Stretch, "after">;
  },
): readonly Step[] {
  const { from, bounds, order, tests, stretch } = parts;
  const [marks, where] = stretch.passing === "all" ? [tests, bounds] : [NONE, allOf(bounds, tests)];
  const holds = marks.conditions.length === 0 ? "1" : marks.conditions.join(" AND ");
  return sql.all<Step>(
    `SELECT created_ms, position, ${holds} AS holds FROM ${from}
      ${where.conditions.length === 0 ? "" : `WHERE ${where.conditions.join(" AND ")}`} ORDER BY ${order} LIMIT ?`,
    ...[...marks.values, ...where.values, stretch.limit],
  );
}

const NONE: Conditions = { conditions: [], values: [] };

export function allOf(...given: readonly Conditions[]): Conditions {
  return {
    conditions: given.flatMap(({ conditions }) => conditions),
    values: given.flatMap(({ values }) => values),
  };
}

/**
 * The filter without an end that lies beyond the place where a page begins: that bounds it more narrowly, and SQLite would
 * use the wrong one of two bounds.
 */
export function boundedBy(filter: RowFilter, after: RowKey | undefined): RowFilter {
  const { until_ms, ...others } = filter;
  return after !== undefined && after.created_ms <= (until_ms ?? Number.POSITIVE_INFINITY) ? others : filter;
}
