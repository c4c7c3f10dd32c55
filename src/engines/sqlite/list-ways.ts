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
  /** What bounds the walk, beginning after a place; an index of the tables leads along it. */
  readonly bounds: (after: RowKey | undefined) => Conditions;
  /** What else has to hold of each row on the way. */
  readonly tests: Conditions;
}

export function listKeys(sql: Statements, query: RowQuery): readonly RowKey[] {
  const { filter, after, limit } = query;
  if (limit <= 0) return [];
  const [way, ...others] = waysOf(filter);
  if (way === undefined) return [];
  return others.length === 0 ? walk(sql, way, { after, limit }) : race(sql, [way, ...others], { after, limit });
}

function waysOf(filter: RowFilter): readonly Way[] {
  const conditions = filter.references ?? [];
  const wanted = conditions.filter(({ lacks }) => lacks !== true);
  const ways = wanted.map((reference) =>
    alongUses(
      filter,
      reference,
      conditions.filter((other) => other !== reference),
    ),
  );
  const isNarrow = [filter.session_id, filter.project, filter.client].some((label) => (label ?? "") !== "");
  return wanted.length === 0 || isNarrow ? [...ways, alongRows(filter)] : ways;
}

function alongRows(filter: RowFilter): Way {
  const rest = withReferences(filter, []);
  return {
    from: "rows",
    order: "created_ms DESC, position DESC",
    bounds: (after) => rowConditions(rest, after),
    tests: rowConditions(withReferences({}, filter.references ?? []), undefined),
  };
}

function alongUses(filter: RowFilter, reference: Reference, others: readonly ReferenceCondition[]): Way {
  return {
    from: "uses CROSS JOIN rows ON rows.position = uses.entry",
    order: "entry_ms DESC, entry DESC",
    bounds: (after) => {
      const { sql, values } = usesCondition(reference);
      const place = placeOf(filter, after);
      return { conditions: [sql, ...place.conditions], values: [...values, ...place.values] };
    },
    tests: rowConditions(withReferences(filter, others), undefined),
  };
}

/** One bound on either side, since SQLite would use the wrong one of two. */
function placeOf({ since_ms, until_ms }: RowFilter, after: RowKey | undefined): Conditions {
  const lower = since_ms === undefined ? [] : [since_ms];
  const conditions = since_ms === undefined ? [] : ["entry_ms >= ?"];
  if (after !== undefined && after.created_ms <= (until_ms ?? Number.POSITIVE_INFINITY)) {
    const { created_ms, position } = after;
    return { conditions: [...conditions, "(entry_ms, entry) < (?, ?)"], values: [...lower, created_ms, position] };
  }
  if (until_ms === undefined) return { conditions, values: lower };
  return { conditions: [...conditions, "entry_ms <= ?"], values: [...lower, until_ms] };
}

interface Stretch {
  readonly after: RowKey | undefined;
  readonly limit: number;
}

function walk(sql: Statements, { from, order, bounds, tests }: Way, { after, limit }: Stretch): readonly RowKey[] {
  const { conditions, values } = bounds(after);
  const where = [...conditions, ...tests.conditions];
  return sql.all<RowKey>(
    `SELECT created_ms, position FROM ${from} ${whereOf(where)} ORDER BY ${order} LIMIT ?`,
    ...[...values, ...tests.values, limit],
  );
}

function race(sql: Statements, ways: readonly Way[], { after, limit }: Stretch): readonly RowKey[] {
  const runners = ways.map((way) => ({ way, after, found: [] as RowKey[] }));
  for (let steps = STEPS_FIRST; ; steps *= 2) {
    for (const runner of runners) {
      const seen = look(sql, runner.way, { after: runner.after, limit: steps });
      for (const { created_ms, position, holds } of seen) if (holds === 1) runner.found.push({ created_ms, position });
      if (runner.found.length >= limit || seen.length < steps) return runner.found.slice(0, limit);
      runner.after = seen.at(-1);
    }
  }
}

/** So many rows on the way, and of each whether it is one of the list. */
function look(
  sql: Statements,
  { from, order, bounds, tests }: Way,
  { after, limit }: Stretch,
): readonly (RowKey & { readonly holds: number })[] {
  const { conditions, values } = bounds(after);
  const holds = tests.conditions.length === 0 ? "1" : tests.conditions.join(" AND ");
  return sql.all(
    `SELECT created_ms, position, ${holds} AS holds FROM ${from} ${whereOf(conditions)} ORDER BY ${order} LIMIT ?`,
    ...[...tests.values, ...values, limit],
  );
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
}
