// Row filters: the conditions, each of a kind that every engine implements, and when a row matches.
import type { EntryRow } from "./port.js";
import { type Reference, type ReferenceCondition, referencesIn } from "./references.js";

/** Operands, by kind of condition. */
interface AskedBy {
  /** Equals this label; `""` matches rows without it. Engines may index only rows with a label. */
  readonly label: string;
  /** As a label, or any of several. */
  readonly labels: string | readonly string[];
  /** Is one of these; an empty list matches nothing. */
  readonly one_of: readonly string[];
  readonly equals: string;
  readonly at_least: number;
  readonly at_most: number;
  /** All of these count for the row; those with `lacks` do not. */
  readonly references: readonly ReferenceCondition[];
}

type ConditionKind = keyof AskedBy;

/** Columns with values of this type. */
type ColumnOf<V> = {
  [C in keyof EntryRow]-?: Exclude<EntryRow[C], undefined> extends V ? C : never;
}[keyof EntryRow];

type Rule =
  | { readonly by: "label" | "labels" | "one_of" | "equals"; readonly column: ColumnOf<string> }
  | { readonly by: "at_least" | "at_most"; readonly column: ColumnOf<number> }
  | { readonly by: "references"; readonly column: ColumnOf<readonly Reference[]> };

/**
 * All conditions with their kind and column. Engines translate the kinds, in this order, so a condition on another
 * column needs no change in engines.
 */
const conditionRules = {
  session_id: { by: "label", column: "session_id" },
  project: { by: "labels", column: "project" },
  client: { by: "labels", column: "client" },
  kinds: { by: "one_of", column: "kind" },
  /** Messages of this role, as views read it. */
  role: { by: "equals", column: "role" },
  since_ms: { by: "at_least", column: "created_ms" },
  until_ms: { by: "at_most", column: "created_ms" },
  references: { by: "references", column: "references" },
} as const satisfies { readonly [name: string]: Rule };

type Rules = typeof conditionRules;

/** A part of a filter. */
export type ConditionName = keyof Rules;

/** Filters of a list; a missing one filters nothing, an empty label selects entries without it. */
export type RowFilter = { readonly [N in keyof Rules]?: AskedBy[Rules[N]["by"]] };

/** Columns used by these conditions. */
export type FilteredRow<N extends ConditionName = ConditionName> = Pick<EntryRow, Rules[N]["column"]>;

/** One condition of a filter. */
export type Condition = {
  [B in ConditionKind]: {
    readonly by: B;
    readonly name: ConditionName;
    readonly column: string;
    readonly asked: AskedBy[B];
  };
}[ConditionKind];

const conditionNames = Object.keys(conditionRules) as readonly ConditionName[];

/** The conditions of a filter, always in the same order. */
export function conditionsOf(filter: RowFilter): readonly Condition[] {
  return conditionNames.flatMap((name) => {
    const asked = filter[name];
    return asked === undefined ? [] : [{ ...conditionRules[name], name, asked } as Condition];
  });
}

/** Replaces the reference conditions of a filter. */
export function withReferences(filter: RowFilter, references: readonly ReferenceCondition[]): RowFilter {
  const { references: _, ...others } = filter;
  return references.length === 0 ? others : { ...others, references };
}

type Labels = AskedBy["labels"];

/** What a row has one of. */
export function labelsIn(asked: Labels): readonly string[] {
  return typeof asked === "string" ? [asked] : asked;
}

/** Lists of more filters than this are not merged: then the rows are walked. */
const ALTERNATIVES_MAX = 64;

/**
 * Filters of one label and one reference each, and a row that passes this filter passes one of them. Each has an
 * index to follow. Undefined if there would be too many.
 */
export function alternativesOf(filter: RowFilter): readonly RowFilter[] | undefined {
  let filters: readonly RowFilter[] = [filter];
  for (const name of ["project", "client"] as const) {
    const asked = filter[name];
    if (asked === undefined || typeof asked === "string") continue;
    filters = filters.flatMap((one) => asked.map((label) => ({ ...one, [name]: label })));
    if (filters.length > ALTERNATIVES_MAX) return undefined;
  }
  for (const condition of filter.references ?? []) {
    if (condition.or === undefined) continue;
    const single = referencesIn(condition);
    filters = filters.flatMap((one) =>
      single.map((wanted) => ({
        ...one,
        references: (one.references ?? []).map((own) => (own === condition ? wanted : own)),
      })),
    );
    if (filters.length > ALTERNATIVES_MAX) return undefined;
  }
  return filters;
}

/** The part of a filter that an index by kind and time answers by itself. */
export function timesOfKind(kind: string, { since_ms, until_ms }: RowFilter): RowFilter {
  return {
    kinds: [kind],
    ...(since_ms === undefined ? {} : { since_ms }),
    ...(until_ms === undefined ? {} : { until_ms }),
  };
}

/** Columns used by these conditions, without duplicates. */
export function columnsOf<N extends ConditionName>(names: readonly N[]): readonly (keyof FilteredRow<N>)[] {
  return [...new Set(names.map((name) => conditionRules[name].column))];
}

/** Whether a row matches. A missing column matches only the empty label. */
export function rowMatches<N extends ConditionName>(row: FilteredRow<N>, filter: Pick<RowFilter, N>): boolean {
  for (const name of Object.keys(filter) as readonly ConditionName[]) {
    const asked = (filter as RowFilter)[name];
    if (asked === undefined) continue;
    const { by, column } = conditionRules[name];
    const { passes } = comparisons[by] as Comparison<unknown>;
    if (!passes((row as { readonly [column: string]: unknown })[column], asked)) return false;
  }
  return true;
}

/** Both filters combined; if they contradict each other, a filter that matches no kind. */
export function bothHold(one: RowFilter, other: RowFilter): RowFilter {
  const both: { -readonly [N in ConditionName]?: unknown } = { ...one };
  let isContradicted = false;
  for (const { name, by, asked } of conditionsOf(other)) {
    const before = one[name];
    const { together } = comparisons[by] as Comparison<unknown>;
    const combined = before === undefined ? asked : together(before, asked);
    if (combined === undefined) isContradicted = true;
    else both[name] = combined;
  }
  return { ...(both as RowFilter), ...(isContradicted ? { kinds: [] } : {}) };
}

interface Comparison<Asked> {
  passes(value: unknown, asked: Asked): boolean;
  /** Both operands combined; undefined if nothing can match both. */
  together(one: Asked, other: Asked): Asked | undefined;
}

function isSame(one: ReferenceCondition, other: ReferenceCondition): boolean {
  const [left, right] = [referencesIn(one), referencesIn(other)];
  return one.lacks === other.lacks && left.length === right.length && left.every((own) => isAmong(own, right));
}

/** Both labels, or what both lists have in common. */
function inBoth(one: Labels, other: Labels): Labels | undefined {
  const others = labelsIn(other);
  const both = labelsIn(one).filter((label) => others.includes(label));
  return both.length > 1 ? both : both[0];
}

function isAmong({ what, reference }: Reference, own: readonly Reference[] = []): boolean {
  return own.some((one) => one.what === what && one.reference === reference);
}

function same(one: string, other: string): string | undefined {
  return one === other ? one : undefined;
}

const comparisons: { readonly [B in ConditionKind]: Comparison<AskedBy[B]> } = {
  label: { passes: (value, asked) => (value ?? "") === asked, together: same },
  labels: { passes: (value, asked) => labelsIn(asked).includes((value ?? "") as string), together: inBoth },
  equals: { passes: (value, asked) => value === asked, together: same },
  one_of: {
    passes: (value, asked) => (asked as readonly unknown[]).includes(value),
    together: (one, other) => one.filter((value) => other.includes(value)),
  },
  at_least: { passes: (value, asked) => (value as number) >= asked, together: Math.max },
  at_most: { passes: (value, asked) => (value as number) <= asked, together: Math.min },
  references: {
    passes: (value, asked) =>
      asked.every((condition) => {
        const isThere = referencesIn(condition).some((one) => isAmong(one, value as readonly Reference[]));
        return isThere !== (condition.lacks === true);
      }),
    together: (one, other) => [...one, ...other.filter((condition) => !one.some((known) => isSame(known, condition)))],
  },
};
