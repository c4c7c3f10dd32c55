// How a list is walked, newest first: along the rows, or along the entries of a reference. Which way is shorter is
// unknown in advance: a project, or a reference, may have ten entries or a million. If there are several ways, they
// take turns of a few steps each, and the first to finish answers.
import { newestKeys, type Reference, type RowKey, type RowQuery } from "../../index/port.js";
import { alternativesOf, type RowFilter, withReferences } from "../../index/row-filter.js";
import type { Session } from "./driver.js";
import { Conditions, rowConditions } from "./index-filter.js";
import { usesCondition } from "./index-references.js";

/** Steps of the first turn; they grow fourfold with every turn. */
const STEPS_FIRST = 256;

/** The reference whose entries are walked; undefined walks the rows. */
type Walk = Reference | undefined;

interface StepRange {
  readonly walk: Walk;
  readonly filter: RowFilter;
  readonly after: RowKey | undefined;
  readonly limit: number;
}

export async function listKeys(session: Session, query: RowQuery): Promise<readonly RowKey[]> {
  if (query.limit <= 0) return [];
  const alternatives = alternativesOf(query.filter) ?? [query.filter];
  if (alternatives.length === 1) return listAlong(session, query);
  const keys: RowKey[] = [];
  for (const filter of alternatives) keys.push(...(await listAlong(session, { ...query, filter })));
  return newestKeys(keys, query.limit);
}

async function listAlong(session: Session, { filter, after, limit }: RowQuery): Promise<readonly RowKey[]> {
  const conditions = filter.references ?? [];
  const wanted = conditions.filter(({ lacks, or }) => lacks !== true && or === undefined);
  const isNarrow = [filter.session_id, filter.project, filter.client].some((label) => (label ?? "") !== "");
  const [walk, ...others]: readonly Walk[] = wanted.length === 0 || isNarrow ? [...wanted, undefined] : wanted;
  if (others.length > 0) return race(session, [walk, ...others], { filter, after, limit });
  const { from, order, bounds, tests } = pathOf({ walk, filter, after, limit });
  const text = `SELECT r.created_ms, r.position FROM ${from} WHERE ${bounds.sql} AND ${tests.sql}
    ORDER BY ${order} LIMIT ${bounds.bind(limit)}`;
  return session.query<RowKey>({ text }, bounds.values);
}

async function race(
  session: Session,
  walks: readonly Walk[],
  { filter, after, limit }: Omit<StepRange, "walk">,
): Promise<readonly RowKey[]> {
  const runners = walks.map((walk) => ({ walk, after, found: [] as RowKey[] }));
  for (let steps = STEPS_FIRST; ; steps *= 4) {
    for (const runner of runners) {
      const seen = await scanSteps(session, { walk: runner.walk, filter, after: runner.after, limit: steps });
      for (const { created_ms, position, holds } of seen) if (holds) runner.found.push({ created_ms, position });
      if (runner.found.length >= limit || seen.length < steps) return runner.found.slice(0, limit);
      runner.after = seen.at(-1);
    }
  }
}

/** rows on the way, and whether each belongs to the list. */
function scanSteps(session: Session, range: StepRange): Promise<readonly (RowKey & { readonly holds: boolean })[]> {
  const { from, order, bounds, tests } = pathOf(range);
  const text = `SELECT r.created_ms, r.position, ${tests.sql} AS holds FROM ${from} WHERE ${bounds.sql}
    ORDER BY ${order} LIMIT ${bounds.bind(range.limit)}`;
  return session.query({ text }, bounds.values);
}

/** Bounds that an index can follow, and tests for the rest; both share their values. */
function pathOf({ walk, filter, after }: StepRange): {
  readonly from: string;
  readonly order: string;
  readonly bounds: Conditions;
  readonly tests: Conditions;
} {
  const values: unknown[] = [];
  if (walk === undefined) {
    const rest = withReferences(filter, []);
    const bounds = rowConditions({ filter: rest, ...(after === undefined ? {} : { after }) }, new Conditions(values));
    const tests = rowConditions({ filter: withReferences({}, filter.references ?? []) }, new Conditions(values));
    return { from: "hansard_index_rows r", order: "r.created_ms DESC, r.position DESC", bounds, tests };
  }
  const bounds = new Conditions(values);
  bounds.add(usesCondition(bounds, "u", walk));
  if (filter.since_ms !== undefined) bounds.add(`u.created_ms >= ${bounds.bind(filter.since_ms)}`);
  if (filter.until_ms !== undefined) bounds.add(`u.created_ms <= ${bounds.bind(filter.until_ms)}`);
  if (after !== undefined) {
    bounds.add(`(u.created_ms, u.position) < (${bounds.bind(after.created_ms)}, ${bounds.bind(after.position)})`);
  }
  const others = (filter.references ?? []).filter((other) => other !== walk);
  const tests = rowConditions({ filter: withReferences(filter, others) }, new Conditions(values));
  const from = "hansard_index_uses u JOIN hansard_index_rows r ON r.position = u.position";
  return { from, order: "u.created_ms DESC, u.position DESC", bounds, tests };
}
