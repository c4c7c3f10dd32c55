// How a list is walked, newest first: along the rows, or along the entries that a reference counts for.
//
// Which way is short nobody knows beforehand: a project may have ten entries or a million, and so may a reference. Where
// there are several ways, all of them are walked in turn, a few steps each, and the first to arrive answers.
import type { Reference, ReferenceCondition, RowKey, RowQuery } from "../../ports/entry-index.js";
import { type RowFilter, withReferences } from "../../ports/row-filter.js";
import { usesCondition } from "./index-uses.js";
import { type Conditions, rowConditions } from "./row-filter.js";
import type { Statements } from "./statements.js";

/** The first steps of each way; every time that its turn comes, it takes twice as many as before. */
const STEPS_FIRST = 128;

interface Way {
  readonly from: string;
  readonly order: string;
  /** What bounds the walk; an index of the tables leads along it. */
  readonly bounds: Conditions;
  /** What goes on after a place, as one stretch or several in order. */
  readonly stretches: (after: RowKey) => readonly Conditions[];
  /** What else has to hold of each row on the way. */
  readonly tests: Conditions;
}

export function listKeys(sql: Statements, { filter, after, limit }: RowQuery): readonly RowKey[] {
  if (limit <= 0) return [];
  const [way, ...others] = waysOf(filter, after);
  if (way === undefined) return [];
  if (others.length > 0) return race(sql, [way, ...others], after, limit);
  const { from, order, tests } = way;
  return along(way, after, limit, ({ conditions, values }, left) =>
    sql.all<RowKey>(
      `SELECT created_ms, position FROM ${from} ${whereOf([...conditions, ...tests.conditions])} ORDER BY ${order} LIMIT ?`,
      ...[...values, ...tests.values, left],
    ),
  );
}

function waysOf(filter: RowFilter, after: RowKey | undefined): readonly Way[] {
  const conditions = filter.references ?? [];
  const wanted = conditions.filter(({ lacks }) => lacks !== true);
  // The place after which a page begins bounds it more narrowly, and SQLite would use the wrong one of two bounds.
  const isWithin = after !== undefined && after.created_ms <= (filter.until_ms ?? Number.POSITIVE_INFINITY);
  const { until_ms: _, ...unbounded } = filter;
  const bounded = isWithin ? unbounded : filter;
  const ways = wanted.map((one) => {
    const others = conditions.filter((other) => other !== one);
    return alongUses(bounded, one, withReferences(filter, others));
  });
  const isNarrow = [filter.session_id, filter.project, filter.client].some((label) => (label ?? "") !== "");
  return wanted.length > 0 && !isNarrow ? ways : [...ways, alongRows(bounded, conditions)];
}

function alongRows(filter: RowFilter, references: readonly ReferenceCondition[]): Way {
  return {
    from: "rows",
    order: "created_ms DESC, position DESC",
    bounds: rowConditions(withReferences(filter, [])),
    // Entries of the same time apart, since there may be thousands: an index leads to the right one of them only so.
    stretches: ({ created_ms, position }) => [
      { conditions: ["created_ms = ?", "position < ?"], values: [created_ms, position] },
      { conditions: ["created_ms < ?"], values: [created_ms] },
    ],
    tests: rowConditions(withReferences({}, references)),
  };
}

function alongUses({ since_ms, until_ms }: RowFilter, reference: Reference, rest: RowFilter): Way {
  const { sql, values } = usesCondition(reference);
  const times: readonly (readonly [condition: string, value: number | undefined])[] = [
    ["entry_ms >= ?", since_ms],
    ["entry_ms <= ?", until_ms],
  ];
  const given = times.filter(([, value]) => value !== undefined);
  return {
    from: "uses CROSS JOIN rows ON rows.position = uses.entry",
    order: "entry_ms DESC, entry DESC",
    bounds: {
      conditions: [sql, ...given.map(([condition]) => condition)],
      values: [...values, ...given.map(([, value]) => value)],
    },
    stretches: ({ created_ms, position }) => [
      { conditions: ["(entry_ms, entry) < (?, ?)"], values: [created_ms, position] },
    ],
    tests: rowConditions(rest),
  };
}

/** Takes the stretches of a way after a place one by one, until there are enough rows. */
function along<T>(
  { bounds, stretches }: Way,
  after: RowKey | undefined,
  limit: number,
  take: (stretch: Conditions, limit: number) => readonly T[],
): readonly T[] {
  if (after === undefined) return take(bounds, limit);
  const taken: T[] = [];
  for (const { conditions, values } of stretches(after)) {
    const stretch = {
      conditions: [...bounds.conditions, ...conditions],
      values: [...bounds.values, ...values],
    };
    taken.push(...take(stretch, limit - taken.length));
    if (taken.length >= limit) break;
  }
  return taken;
}

function race(sql: Statements, ways: readonly Way[], after: RowKey | undefined, limit: number): readonly RowKey[] {
  const runners = ways.map((way) => ({ way, after, found: [] as RowKey[] }));
  for (let steps = STEPS_FIRST; ; steps *= 2) {
    for (const runner of runners) {
      const seen = look(sql, runner.way, runner.after, steps);
      for (const { created_ms, position, holds } of seen) if (holds === 1) runner.found.push({ created_ms, position });
      if (runner.found.length >= limit || seen.length < steps) return runner.found.slice(0, limit);
      runner.after = seen.at(-1);
    }
  }
}

/** So many rows on the way, and of each whether it is one of the list. */
function look(
  sql: Statements,
  way: Way,
  after: RowKey | undefined,
  steps: number,
): readonly (RowKey & { readonly holds: number })[] {
  const { from, order, tests } = way;
  const holds = tests.conditions.length === 0 ? "1" : tests.conditions.join(" AND ");
  return along(way, after, steps, ({ conditions, values }, left) =>
    sql.all(
      `SELECT created_ms, position, ${holds} AS holds FROM ${from} ${whereOf(conditions)} ORDER BY ${order} LIMIT ?`,
      ...[...tests.values, ...values, left],
    ),
  );
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
}
