// The way along the entries that a reference counts for: those that lie scattered, and spans in which most entries do.

import { newestFirst } from "../../index/port/rows.js";
import type { Reference, RowFilter, RowKey } from "../../index/port.js";
import { bearsNumber, numberOf } from "./index-uses.js";
import { type Conditions, rowConditions } from "./row-filter.js";
import type { Statements } from "./statements.js";
import { allOf, boundedBy, type Step, takeSteps, type Way } from "./steps.js";

/** From its newest to its oldest entry; between them the later one is always the higher one. */
interface Span {
  readonly newest_ms: number;
  readonly newest: number;
  readonly oldest_ms: number;
  readonly oldest: number;
}

/** A page mostly needs one or two of them. */
const SPANS_AT_ONCE = 8;

export function alongUses(sql: Statements, reference: Reference, rest: RowFilter): Way {
  const tests = rowConditions(rest);
  return ({ after, ...stretch }) => {
    const number = numberOf(sql, reference);
    if (number === undefined) return [];
    const times = boundedBy(rest, after);
    const named = { conditions: ["name = ?"], values: [number] };
    let steps = takeSteps(sql, {
      from: "uses CROSS JOIN rows ON rows.position = uses.entry",
      bounds: allOf(named, within(times, after, { ms: "entry_ms", position: "entry" })),
      order: "entry_ms DESC, entry DESC",
      tests,
      stretch,
    });
    for (const { newest_ms, newest, oldest } of spansOf(sql, number, times, after)) {
      // Only what is newer than all that is still to come is certain of its place.
      const last = steps[stretch.limit - 1];
      if (last !== undefined && newestFirst(last, { created_ms: newest_ms, position: newest }) < 0) break;
      const { sql: bears, values } = bearsNumber(number);
      const found = takeSteps(sql, {
        from: "rows NOT INDEXED",
        bounds: allOf(
          { conditions: ["position BETWEEN ? AND ?", bears], values: [oldest, newest, ...values] },
          within(times, after, { ms: "created_ms", position: "position" }),
        ),
        order: "position DESC",
        tests,
        stretch,
      });
      steps = newestOf([...steps, ...found], stretch.limit);
    }
    return steps;
  };
}

/** The spans that may hold something of the time asked for, the newest first. */
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

/** What lies within the times of a filter and after a place, by columns of these names. */
function within(
  { since_ms, until_ms }: RowFilter,
  after: RowKey | undefined,
  names: { readonly ms: string; readonly position: string },
): Conditions {
  const { ms, position } = names;
  const [conditions, values]: [string[], unknown[]] = [[], []];
  if (since_ms !== undefined) conditions.push(`${ms} >= ?`) && values.push(since_ms);
  if (until_ms !== undefined) conditions.push(`${ms} <= ?`) && values.push(until_ms);
  if (after !== undefined) conditions.push(`(${ms}, ${position}) < (?, ?)`);
  return { conditions, values: after === undefined ? values : [...values, after.created_ms, after.position] };
}

/** An entry may lie in a span and be named by another entry as well. */
function newestOf(steps: readonly Step[], limit: number): readonly Step[] {
  const byPosition = new Map(steps.map((step) => [step.position, step]));
  return [...byPosition.values()].sort(newestFirst).slice(0, limit);
}
