// The table of questions: which filters each takes, what else it is asked with, and how many it answers with. The routes,
// the flags and their documentation follow from it.
import type { RejectionCode } from "../model/rejection.js";
import {
  type ConditionsOf,
  type Filter,
  type FilterName,
  type FilterTexts,
  filters,
  typedFilterNames,
} from "./filters.js";
import {
  cursorParameter,
  type Flag,
  type LimitRule,
  limitFlag,
  limitParameter,
  listLimit,
  type ParameterDoc,
  switchSchema,
} from "./parameters.js";

export interface QuestionRule {
  /** What only this question is asked with. */
  readonly own?: { readonly [name: string]: ParameterDoc };
  readonly filters: readonly FilterName[];
  readonly limit?: LimitRule;
  /** Whether cursors lead from page to page. */
  readonly is_paged?: true;
}

export interface NamedParameter extends ParameterDoc {
  readonly name: string;
}

export interface ParameterFlag extends Flag {
  /** What it is the flag of. */
  readonly parameter: string;
}

const text = { type: "string" } as const;

const q: ParameterDoc = {
  description:
    'Terms that must all occur, `"a phrase"`, `-word` and `-"a phrase"` to exclude, and filters as in `kind:error` and ' +
    `\`since:7d\`: ${typedFilterNames.map((name) => `\`${name}:\``).join(", ")}. All else is plain text.`,
  schema: text,
  example: "build green",
  refusals: [
    "query_empty",
    "query_too_long",
    "field_invalid",
    ...typedFilterNames.flatMap((name) => filters[name].refusals),
  ],
};

const query: ParameterDoc = {
  description: "One phrase, whatever it contains.",
  schema: text,
  refusals: ["query_empty", "query_too_long", "field_invalid"],
};

const facets: ParameterDoc = {
  description: "`1` counts all hits by kind, project and session.",
  schema: switchSchema,
  flag: { name: "facets", says: "count all hits by kind, project and session" },
  refusals: ["field_invalid"],
};

const full: ParameterDoc = {
  description:
    "`1` lists whole interactions, with `response` and `context_pack`, masked. A page of much text ends early.",
  schema: switchSchema,
  flag: { name: "full", says: "with --json: whole interactions, with their responses and context packs" },
  refusals: ["field_invalid"],
};

const after: ParameterDoc = {
  description: "Entries after this position; only those that are still to come when it is left out.",
  schema: { type: "integer", minimum: 0 },
  flag: {
    name: "after",
    value: "position",
    says: "begin after this position, 0 for the whole record; otherwise from now",
  },
  refusals: ["field_invalid"],
};

const masked: ParameterDoc = {
  description: "`1` masks secrets, as lists do.",
  schema: switchSchema,
  flag: { name: "masked", says: "mask secrets in Hansard's own form too; Markdown always does" },
  refusals: ["field_invalid"],
};

/** The forms of an export. */
export const exportFormats = ["hansard", "nanobot", "timmy", "markdown", "atif"] as const;

const exportFormat: ParameterDoc = {
  description:
    "`hansard` holds all there is and can be imported again; `nanobot`, `timmy` and `atif` hold one session, which must be " +
    "named, and `markdown` is for people.",
  schema: { type: "string", enum: exportFormats, default: "hansard" },
  flag: {
    name: "format",
    value: "name",
    says: "hansard (all there is, can be imported again), nanobot, timmy, markdown or atif (hansard)",
  },
  refusals: ["field_invalid", "session_id_invalid"],
};

const exportTimezone: ParameterDoc = {
  description:
    "For `nanobot` and `timmy`, whose times have no zone: an IANA name. Left out, it is that of the record's machine.",
  schema: text,
  example: "Europe/Berlin",
  flag: { name: "timezone", value: "zone", says: "for nanobot and timmy, whose times have no zone (this machine's)" },
  refusals: ["field_invalid"],
};

const export_id: ParameterDoc = {
  description: "Calls that name the same one are one export, and are written down once: a new UUID for each export.",
  schema: text,
  refusals: ["field_invalid"],
};

const entryFilters = [
  ...(["project", "session_id", "client", "kind", "role", "tool", "model", "is", "since", "until"] as const),
] as const;

export const questionRules = {
  interactions: {
    own: { full },
    filters: ["project", "session_id", "client", "model", "is", "since", "until", "memory", "chunk"],
    limit: listLimit(50),
    is_paged: true,
  },
  entries: { filters: entryFilters, limit: listLimit(50), is_paged: true },
  search: { own: { q, facets }, filters: [...entryFilters, "in"], limit: listLimit(10), is_paged: true },
  session_history: { own: { query }, filters: entryFilters, limit: listLimit(10) },
  reflection: {
    filters: entryFilters,
    limit: { default: 30, max: 100_000, says: "how many of the newest entries" },
  },
  tail: { own: { after }, filters: ["project", "session_id", "client", "kind", "role", "tool", "model", "is"] },
  export: {
    own: { format: exportFormat, timezone: exportTimezone, masked, export_id },
    filters: ["project", "session_id", "client", "kind", "tool", "model", "is", "since", "until"],
  },
} as const satisfies { readonly [question: string]: QuestionRule };

type Rules = typeof questionRules;
export type QuestionName = keyof Rules;
type FilterOf<Q extends QuestionName> = Rules[Q]["filters"][number];

/** The filters of a question as they are given. */
export type FilterOptions<Q extends QuestionName> = Pick<FilterTexts, FilterOf<Q>>;

/** The filters of a question as conditions on rows. */
export type QuestionFilter<Q extends QuestionName> = ConditionsOf<FilterOf<Q>>;

/** Everything that a question can be asked with. */
export type ParameterName<Q extends QuestionName> =
  | FilterOf<Q>
  | (Rules[Q] extends { readonly own: infer Own } ? keyof Own & string : never)
  | (Rules[Q] extends { readonly limit: unknown } ? "limit" : never)
  | (Rules[Q] extends { readonly is_paged: true } ? "cursor" : never);

export const questionNames = Object.keys(questionRules) as readonly QuestionName[];

/** All that a question is asked with, in the order in which it is documented. */
export function parametersOf(question: QuestionName): readonly NamedParameter[] {
  const rule = questionRules[question];
  return [...ownOf(rule), ...filtersOf(rule), ...pageOf(rule)];
}

/** The names of the options that a question is asked with in a program. */
export function optionNamesOf(question: QuestionName): readonly string[] {
  return parametersOf(question).map(({ name }) => name);
}

/** Every code that what a question is asked with can be refused with, each once. */
export function refusalsOf(question: QuestionName): readonly RejectionCode[] {
  return [...new Set(parametersOf(question).flatMap(({ refusals }) => refusals))];
}

/** The flags of the questions that one command asks, each once, in the order of its help. */
export function flagsOf(questions: readonly QuestionName[]): readonly ParameterFlag[] {
  const rules: readonly QuestionRule[] = questions.map((question) => questionRules[question]);
  const flags = new Map<string, ParameterFlag>();
  for (const { name, flag } of [filtersOf, pageOf, ownOf].flatMap((part) => rules.flatMap(part))) {
    if (flag !== undefined && !flags.has(name)) flags.set(name, { ...flag, parameter: name });
  }
  const limited = rules.flatMap(({ limit }) => (limit === undefined ? [] : [{ limit, lists: "entries" }]));
  if (limited.length > 0) flags.set("limit", { ...limitFlag(limited), parameter: "limit" });
  return [...flags.values()];
}

function ownOf({ own = {} }: QuestionRule): readonly NamedParameter[] {
  return Object.entries(own).map(([name, parameter]) => ({ ...parameter, name }));
}

function filtersOf({ filters: names }: QuestionRule): readonly NamedParameter[] {
  return names.map((name) => {
    const { description, schema, example, flag, refusals }: Filter = filters[name];
    return { name, description, schema, refusals, flag, ...(example === undefined ? {} : { example }) };
  });
}

function pageOf({ limit, is_paged }: QuestionRule): readonly NamedParameter[] {
  return [
    ...(limit === undefined ? [] : [{ ...limitParameter(limit), name: "limit" }]),
    ...(is_paged === true ? [{ ...cursorParameter, name: "cursor" }] : []),
  ];
}
