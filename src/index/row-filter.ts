// What a filter of rows means: the conditions there are, each of a kind that every engine knows, and when a row passes.
import type { EntryRow } from "./port.js";
import type { Reference, ReferenceCondition } from "./references.js";

/** What is asked for, by kind of condition. */
interface AskedBy {
  /** The label is this one; `""` asks for rows without it. Engines may keep an order of only those that have one. */
  readonly label: string;
  /** The value is one of these; none of them lets nothing pass. */
  readonly one_of: readonly string[];
  readonly equals: string;
  readonly at_least: number;
  readonly at_most: number;
  /** All of these count for the row, or for those with `lacks` none does. */
  readonly references: readonly ReferenceCondition[];
}

type ConditionKind = keyof AskedBy;

/** Columns that hold a value of this type. */
type ColumnOf<V> = {
  [C in keyof EntryRow]-?: Exclude<EntryRow[C], undefined> extends V ? C : never;
}[keyof EntryRow];

type Rule =
  | { readonly by: "label" | "one_of" | "equals"; readonly column: ColumnOf<string> }
  | { readonly by: "at_least" | "at_most"; readonly column: ColumnOf<number> }
  | { readonly by: "references"; readonly column: ColumnOf<readonly Reference[]> };

/**
 * Every condition that a filter can have: its kind, and the column it looks at. Engines translate the kinds, in this order,
 * so that a condition on a further column needs nothing of them but the column.
 */
const conditionRules = {
  session_id: { by: "label", column: "session_id" },
  project: { by: "label", column: "project" },
  client: { by: "label", column: "client" },
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

/** Filters of a list; an absent one filters nothing, `""` of a label selects entries without it. */
export type RowFilter = { readonly [N in keyof Rules]?: AskedBy[Rules[N]["by"]] };

/** The columns that these conditions look at. */
export type FilteredRow<N extends ConditionName = ConditionName> = Pick<EntryRow, Rules[N]["column"]>;

/** A condition that a filter has, told apart by its kind. */
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

/** The filter without its conditions on references, or with these in their place. */
export function withReferences(filter: RowFilter, references: readonly ReferenceCondition[]): RowFilter {
  const { references: _, ...others } = filter;
  return references.length === 0 ? others : { ...others, references };
}

/** What of the filter an index of one kind's rows in order of time answers by itself. */
export function timesOfKind(kind: string, { since_ms, until_ms }: RowFilter): RowFilter {
  return {
    kinds: [kind],
    ...(since_ms === undefined ? {} : { since_ms }),
    ...(until_ms === undefined ? {} : { until_ms }),
  };
}

/** The columns that a filter with these conditions looks at, each once. */
export function columnsOf<N extends ConditionName>(names: readonly N[]): readonly (keyof FilteredRow<N>)[] {
  return [...new Set(names.map((name) => conditionRules[name].column))];
}

/** Whether a row passes. A column that it does not have passes nothing but the wish for no label. */
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

/** The filter that both filters together are; where they contradict each other, that is no kind of entry at all. */
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
  /** What is asked where both must hold; undefined where nothing can pass both. */
  together(one: Asked, other: Asked): Asked | undefined;
}

function isSame(one: ReferenceCondition, other: ReferenceCondition): boolean {
  return one.what === other.what && one.reference === other.reference && one.lacks === other.lacks;
}

function isAmong({ what, reference }: Reference, own: readonly Reference[] = []): boolean {
  return own.some((one) => one.what === what && one.reference === reference);
}

function same(one: string, other: string): string | undefined {
  return one === other ? one : undefined;
}

const comparisons: { readonly [B in ConditionKind]: Comparison<AskedBy[B]> } = {
  label: { passes: (value, asked) => (value ?? "") === asked, together: same },
  equals: { passes: (value, asked) => value === asked, together: same },
  one_of: {
    passes: (value, asked) => (asked as readonly unknown[]).includes(value),
    together: (one, other) => one.filter((value) => other.includes(value)),
  },
  at_least: { passes: (value, asked) => (value as number) >= asked, together: Math.max },
  at_most: { passes: (value, asked) => (value as number) <= asked, together: Math.min },
  references: {
    passes: (value, asked) =>
      asked.every((condition) => isAmong(condition, value as readonly Reference[]) !== (condition.lacks === true)),
    together: (one, other) => [...one, ...other.filter((condition) => !one.some((known) => isSame(known, condition)))],
  },
};
