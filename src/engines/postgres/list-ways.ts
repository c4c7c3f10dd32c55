// How a list is walked, newest first: along the rows, or along the entries that a reference counts for.
//
// Which way is short nobody knows beforehand: a project may have ten entries or a million, and so may a reference. Where
// there are several ways, all of them are walked in turn, a few steps each, and the first to arrive answers.
import type { Reference, RowKey, RowQuery } from "../../index/port.js";
import { type RowFilter, withReferences } from "../../index/row-filter.js";
import type { Session } from "./connection.js";
import { Conditions, rowConditions } from "./index-filter.js";
import { usesCondition } from "./index-uses.js";

/** The first steps of each way; every time that its turn comes, it takes four times as many as before. */
const STEPS_FIRST = 256;

/** The reference whose entries are walked along; undefined is the way along the rows. */
type Way = Reference | undefined;

interface Stretch {
  readonly way: Way;
  readonly filter: RowFilter;
  readonly after: RowKey | undefined;
  readonly limit: number;
}

export async function listKeys(session: Session, query: RowQuery): Promise<readonly RowKey[]> {
  const { filter, after, limit } = query;
  if (limit <= 0) return [];
  const conditions = filter.references ?? [];
  const wanted = conditions.filter(({ lacks }) => lacks !== true);
  const isNarrow = [filter.session_id, filter.project, filter.client].some((label) => (label ?? "") !== "");
  const [way, ...others]: readonly Way[] = wanted.length === 0 || isNarrow ? [...wanted, undefined] : wanted;
  if (others.length > 0) return race(session, [way, ...others], { filter, after, limit });
  const { from, order, bounds, tests } = pathOf({ way, filter, after, limit });
  const text = `SELECT r.created_ms, r.position FROM ${from} WHERE ${bounds.sql} AND ${tests.sql}
    ORDER BY ${order} LIMIT ${bounds.bind(limit)}`;
  return session.query<RowKey>({ text }, bounds.values);
}

async function race(
  session: Session,
  ways: readonly Way[],
  { filter, after, limit }: Omit<Stretch, "way">,
): Promise<readonly RowKey[]> {
  const runners = ways.map((way) => ({ way, after, found: [] as RowKey[] }));
  for (let steps = STEPS_FIRST; ; steps *= 4) {
    for (const runner of runners) {
      const seen = await look(session, { way: runner.way, filter, after: runner.after, limit: steps });
      for (const { created_ms, position, holds } of seen) if (holds) runner.found.push({ created_ms, position });
      if (runner.found.length >= limit || seen.length < steps) return runner.found.slice(0, limit);
      runner.after = seen.at(-1);
    }
  }
}

/** So many rows on the way, and of each whether it is one of the list. */
function look(session: Session, stretch: Stretch): Promise<readonly (RowKey & { readonly holds: boolean })[]> {
  const { from, order, bounds, tests } = pathOf(stretch);
  const text = `SELECT r.created_ms, r.position, ${tests.sql} AS holds FROM ${from} WHERE ${bounds.sql}
    ORDER BY ${order} LIMIT ${bounds.bind(stretch.limit)}`;
  return session.query({ text }, bounds.values);
}

/** What bounds the walk, so that an index leads along it, and what else has to hold; both bind to the same values. */
function pathOf({ way, filter, after }: Stretch): {
  readonly from: string;
  readonly order: string;
  readonly bounds: Conditions;
  readonly tests: Conditions;
} {
  const values: unknown[] = [];
  if (way === undefined) {
    const rest = withReferences(filter, []);
    const bounds = rowConditions({ filter: rest, ...(after === undefined ? {} : { after }) }, new Conditions(values));
    const tests = rowConditions({ filter: withReferences({}, filter.references ?? []) }, new Conditions(values));
    return { from: "hansard_index_rows r", order: "r.created_ms DESC, r.position DESC", bounds, tests };
  }
  const bounds = new Conditions(values);
  bounds.add(usesCondition(bounds, "u", way));
  if (filter.since_ms !== undefined) bounds.add(`u.created_ms >= ${bounds.bind(filter.since_ms)}`);
  if (filter.until_ms !== undefined) bounds.add(`u.created_ms <= ${bounds.bind(filter.until_ms)}`);
  if (after !== undefined) {
    bounds.add(`(u.created_ms, u.position) < (${bounds.bind(after.created_ms)}, ${bounds.bind(after.position)})`);
  }
  const others = (filter.references ?? []).filter((other) => other !== way);
  const tests = rowConditions({ filter: withReferences(filter, others) }, new Conditions(values));
  const from = "hansard_index_uses u JOIN hansard_index_rows r ON r.position = u.position";
  return { from, order: "u.created_ms DESC, u.position DESC", bounds, tests };
}
