// How a list is walked, newest first: along the rows, or along the entries that a reference counts for.
//
// Which way is short nobody knows beforehand: a project may have ten entries or a million, and so may a reference. Where
// there are several ways, all of them are walked in turn, a few steps each, and the first to arrive answers.
import type { ReferenceCondition, RowKey, RowQuery } from "../../index/port.js";
import { type RowFilter, withReferences } from "../../index/row-filter.js";
import { type Conditions, rowConditions } from "./row-filter.js";
import type { Statements } from "./statements.js";
import { allOf, boundedBy, type Step, takeSteps, type Way } from "./steps.js";
import { alongUses } from "./uses-way.js";

/** The first steps of each way; every time that its turn comes, it takes twice as many as before. */
const STEPS_FIRST = 128;

export function listKeys(sql: Statements, { filter, after, limit }: RowQuery): readonly RowKey[] {
  if (limit <= 0) return [];
  const [way, ...others] = waysOf(sql, filter);
  if (way === undefined) return [];
  const steps = others.length === 0 ? way({ after, limit, passing: "listed" }) : race([way, ...others], after, limit);
  return steps.map(({ created_ms, position }) => ({ created_ms, position }));
}

function waysOf(sql: Statements, filter: RowFilter): readonly Way[] {
  const conditions = filter.references ?? [];
  const wanted = conditions.filter(({ lacks }) => lacks !== true);
  const ways = wanted.map((one) => {
    const others = conditions.filter((other) => other !== one);
    return alongUses(sql, one, withReferences(filter, others));
  });
  const isNarrow = [filter.session_id, filter.project, filter.client].some((label) => (label ?? "") !== "");
  return wanted.length > 0 && !isNarrow ? ways : [...ways, alongRows(sql, filter, conditions)];
}

function race(ways: readonly Way[], after: RowKey | undefined, limit: number): readonly Step[] {
  const runners = ways.map((way) => ({ way, after, found: [] as Step[] }));
  for (let steps = STEPS_FIRST; ; steps *= 2) {
    for (const runner of runners) {
      const seen = runner.way({ after: runner.after, limit: steps, passing: "all" });
      for (const step of seen) if (step.holds === 1) runner.found.push(step);
      if (runner.found.length >= limit || seen.length < steps) return runner.found.slice(0, limit);
      runner.after = seen.at(-1);
    }
  }
}

function alongRows(sql: Statements, filter: RowFilter, references: readonly ReferenceCondition[]): Way {
  const tests = rowConditions(withReferences({}, references));
  return ({ after, limit, passing }) => {
    const bounds = rowConditions(boundedBy(withReferences(filter, []), after));
    const steps: Step[] = [];
    for (const place of placesAfter(after)) {
      const stretch = { limit: limit - steps.length, passing };
      const order = "created_ms DESC, position DESC";
      steps.push(...takeSteps(sql, { from: "rows", bounds: allOf(bounds, place), order, tests, stretch }));
      if (steps.length >= limit) break;
    }
    return steps;
  };
}

/** Entries of the same time apart, since there may be thousands: an index leads to the right one of them only so. */
function placesAfter(after: RowKey | undefined): readonly Conditions[] {
  if (after === undefined) return [{ conditions: [], values: [] }];
  const { created_ms, position } = after;
  return [
    { conditions: ["created_ms = ?", "position < ?"], values: [created_ms, position] },
    { conditions: ["created_ms < ?"], values: [created_ms] },
  ];
}
