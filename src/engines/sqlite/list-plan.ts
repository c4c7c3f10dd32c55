// How a list is walked, newest first: along the rows, or along the entries of a reference. Which way is shorter is
// unknown in advance: a project, or a reference, may have ten entries or a million. If there are several ways, they
// take turns of a few steps each, and the first to finish answers.

import {
  newestFirst,
  newestKeys,
  type Reference,
  type ReferenceCondition,
  type RowKey,
  type RowQuery,
} from "../../index/port.js";
import { alternativesOf, type RowFilter, withReferences } from "../../index/row-filter.js";
import type { SqlValue } from "./driver.js";
import { type Conditions, rowConditions } from "./index-filter.js";
import { carriesNumber, numberOf } from "./index-references.js";
import type { Statements } from "./statements.js";

/** Steps of the first turn; they double with every turn. */
const STEPS_FIRST = 128;

export function listKeys(sql: Statements, query: RowQuery): readonly RowKey[] {
  if (query.limit <= 0) return [];
  const [filter, ...others] = alternativesOf(query.filter) ?? [query.filter];
  if (filter === undefined || others.length === 0) return listAlong(sql, query);
  const lists = [filter, ...others].map((one) => listAlong(sql, { ...query, filter: one }));
  return newestKeys(lists.flat(), query.limit);
}

function listAlong(sql: Statements, { filter, after, limit }: RowQuery): readonly RowKey[] {
  const [walk, ...others] = walksOf(sql, filter);
  if (walk === undefined) return [];
  const steps = others.length === 0 ? walk({ after, limit, passing: "listed" }) : race([walk, ...others], after, limit);
  return steps.map(({ created_ms, position }) => ({ created_ms, position }));
}

function walksOf(sql: Statements, filter: RowFilter): readonly Walk[] {
  const conditions = filter.references ?? [];
  const wanted = conditions.filter(({ lacks, or }) => lacks !== true && or === undefined);
  const walks = wanted.map((one) => {
    const others = conditions.filter((other) => other !== one);
    return walkReference(sql, one, withReferences(filter, others));
  });
  const isNarrow = [filter.session_id, filter.project, filter.client].some((label) => (label ?? "") !== "");
  return wanted.length > 0 && !isNarrow ? walks : [...walks, walkRows(sql, filter, conditions)];
}

function race(walks: readonly Walk[], after: RowKey | undefined, limit: number): readonly Step[] {
  const runners = walks.map((walk) => ({ walk, after, found: [] as Step[] }));
  for (let steps = STEPS_FIRST; ; steps *= 2) {
    for (const runner of runners) {
      const seen = runner.walk({ after: runner.after, limit: steps, passing: "all" });
      for (const step of seen) if (step.holds === 1) runner.found.push(step);
      if (runner.found.length >= limit || seen.length < steps) return runner.found.slice(0, limit);
      runner.after = seen.at(-1);
    }
  }
}

function walkRows(sql: Statements, filter: RowFilter, references: readonly ReferenceCondition[]): Walk {
  const tests = rowConditions(withReferences({}, references));
  return ({ after, limit, passing }) => {
    const bounds = rowConditions(boundedBy(withReferences(filter, []), after));
    const steps: Step[] = [];
    for (const place of placesAfter(after)) {
      const range = { limit: limit - steps.length, passing };
      const order = "created_ms DESC, position DESC";
      steps.push(...takeSteps(sql, { from: "rows", bounds: allOf(bounds, place), order, tests, range }));
      if (steps.length >= limit) break;
    }
    return steps;
  };
}

/** Entries of the same time are a separate step, since only then does an index lead to the right place. */
function placesAfter(after: RowKey | undefined): readonly Conditions[] {
  if (after === undefined) return [{ conditions: [], values: [] }];
  const { created_ms, position } = after;
  return [
    { conditions: ["created_ms = ?", "position < ?"], values: [created_ms, position] },
    { conditions: ["created_ms < ?"], values: [created_ms] },
  ];
}

/** A row on the way, and whether it belongs to the list. */
interface Step extends RowKey {
  readonly holds: number;
}

/** Where a turn starts and how many rows it takes: only rows of the list, or all on the way. */
interface StepRange {
  readonly after: RowKey | undefined;
  readonly limit: number;
  readonly passing: "all" | "listed";
}

/** The next rows of a walk; fewer than requested at its end. */
type Walk = (range: StepRange) => readonly Step[];

/** One statement: bounds that an index can follow, and tests for rows of the list. */
function takeSteps(
  sql: Statements,
  parts: {
    readonly from: string;
    readonly bounds: Conditions;
    readonly order: string;
    readonly tests: Conditions;
    readonly range: Omit<StepRange, "after">;
  },
): readonly Step[] {
  const { from, bounds, order, tests, range } = parts;
  const [marks, where] = range.passing === "all" ? [tests, bounds] : [NONE, allOf(bounds, tests)];
  const holds = marks.conditions.length === 0 ? "1" : marks.conditions.join(" AND ");
  return sql.all<Step>(
    `SELECT created_ms, position, ${holds} AS holds FROM ${from}
      ${where.conditions.length === 0 ? "" : `WHERE ${where.conditions.join(" AND ")}`} ORDER BY ${order} LIMIT ?`,
    ...[...marks.values, ...where.values, range.limit],
  );
}

const NONE: Conditions = { conditions: [], values: [] };

function allOf(...given: readonly Conditions[]): Conditions {
  return {
    conditions: given.flatMap(({ conditions }) => conditions),
    values: given.flatMap(({ values }) => values),
  };
}

/** Drops an `until` later than the page's start: SQLite would use the wrong one of two bounds. */
function boundedBy(filter: RowFilter, after: RowKey | undefined): RowFilter {
  const { until_ms, ...others } = filter;
  return after !== undefined && after.created_ms <= (until_ms ?? Number.POSITIVE_INFINITY) ? others : filter;
}

/** From its newest to its oldest entry; times rise with positions in between. */
interface Span {
  readonly newest_ms: number;
  readonly newest: number;
  readonly oldest_ms: number;
  readonly oldest: number;
}

/** A page usually needs one or two. */
const SPANS_AT_ONCE = 8;

function walkReference(sql: Statements, reference: Reference, rest: RowFilter): Walk {
  const tests = rowConditions(rest);
  return ({ after, ...range }) => {
    const number = numberOf(sql, reference);
    if (number === undefined) return [];
    const times = boundedBy(rest, after);
    const named = { conditions: ["name = ?"], values: [number] };
    let steps = takeSteps(sql, {
      from: "uses CROSS JOIN rows ON rows.position = uses.entry",
      bounds: allOf(named, within(times, after, { ms: "entry_ms", position: "entry" })),
      order: "entry_ms DESC, entry DESC",
      tests,
      range,
    });
    for (const { newest_ms, newest, oldest } of spansOf(sql, number, times, after)) {
      // Steps newer than the rest of the spans are final.
      const last = steps[range.limit - 1];
      if (last !== undefined && newestFirst(last, { created_ms: newest_ms, position: newest }) < 0) break;
      const { sql: carries, values } = carriesNumber(number);
      const found = takeSteps(sql, {
        from: "rows NOT INDEXED",
        bounds: allOf(
          { conditions: ["position BETWEEN ? AND ?", carries], values: [oldest, newest, ...values] },
          within(times, after, { ms: "created_ms", position: "position" }),
        ),
        order: "position DESC",
        tests,
        range,
      });
      steps = newestOf([...steps, ...found], range.limit);
    }
    return steps;
  };
}

/** The spans that overlap the requested times, newest first. */
function* spansOf(sql: Statements, number: number, times: RowFilter, after: RowKey | undefined): Iterable<Span> {
  const { since_ms = Number.MIN_SAFE_INTEGER, until_ms = Number.MAX_SAFE_INTEGER } = times;
  const { created_ms, position } = after ?? { created_ms: Number.MAX_SAFE_INTEGER, position: 0 };
  let [ms, newest] = [Number.MAX_SAFE_INTEGER, 0];
  for (;;) {
    const spans = sql.all<Span>(
      `SELECT newest_ms, newest, oldest_ms, oldest FROM use_spans
        WHERE name = ? AND (newest_ms, newest) < (?, ?) AND (oldest_ms, oldest) < (?, ?)
          AND newest_ms >= ? AND oldest_ms <= ? ORDER BY newest_ms DESC, newest DESC LIMIT ?`,
      ...[number, ms, newest, created_ms, position, since_ms, until_ms, SPANS_AT_ONCE],
    );
    yield* spans;
    const last = spans.at(-1);
    if (last === undefined || spans.length < SPANS_AT_ONCE) return;
    [ms, newest] = [last.newest_ms, last.newest];
  }
}

/** Conditions for the times of a filter and the start of a page, with these column names. */
function within(
  { since_ms, until_ms }: RowFilter,
  after: RowKey | undefined,
  names: { readonly ms: string; readonly position: string },
): Conditions {
  const { ms, position } = names;
  const [conditions, values]: [string[], SqlValue[]] = [[], []];
  if (since_ms !== undefined) conditions.push(`${ms} >= ?`) && values.push(since_ms);
  if (until_ms !== undefined) conditions.push(`${ms} <= ?`) && values.push(until_ms);
  if (after !== undefined) conditions.push(`(${ms}, ${position}) < (?, ?)`);
  return { conditions, values: after === undefined ? values : [...values, after.created_ms, after.position] };
}

/** An entry may be in a span and also be named by another entry. */
function newestOf(steps: readonly Step[], limit: number): readonly Step[] {
  const byPosition = new Map(steps.map((step) => [step.position, step]));
  return [...byPosition.values()].sort(newestFirst).slice(0, limit);
}
