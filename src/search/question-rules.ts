// The table of questions: which filters each takes, what else it is asked with, and how many it answers with. The routes,
// the flags and their documentation follow from it.
import { memorySources, memoryStatuses, memoryTypes } from "../model/memory.js";
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
  /** What it lists, where these are not entries. */
  readonly lists?: "sessions" | "memories";
}

export interface NamedParameter extends ParameterDoc {
  readonly name: string;
}

export interface ParameterFlag extends Flag {
  /** What it is the flag of. */
  readonly parameter: string;
}

const text = { type: "string" } as const;

/** How many messages a history has at most, where nothing else is asked for. */
export const MESSAGES_DEFAULT = 500;

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

const order: ParameterDoc = {
  description: "By position: `asc`, the oldest first, or `desc`.",
  schema: { type: "string", enum: ["asc", "desc"], default: "asc" },
  flag: { name: "order", value: "order", says: "of the timeline: asc, the oldest first, or desc (asc)" },
  refusals: ["field_invalid"],
};

const full: ParameterDoc = {
  description:
    "`1` lists whole interactions, with `response` and `context_pack`, masked. A page of much text ends early.",
  schema: switchSchema,
  flag: { name: "full", says: "with --json: whole interactions, with their responses and context packs" },
  refusals: ["field_invalid"],
};

const excerpts: ParameterDoc = {
  description: "`1` adds `response_excerpt` to interactions and responses: the first 2,000 characters, masked.",
  schema: switchSchema,
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

const beyond: ParameterDoc = {
  description: "Begin beyond this position: after it, or before it with `order=desc`. A cursor wins over it.",
  schema: { type: "integer", minimum: 0 },
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

const max_messages: ParameterDoc = {
  description:
    "At most so many of the newest messages, from a user's message on; system messages and the summary of a consolidation " +
    "do not count. Of a turn that is longer it gives the user's message and the newest calls with their results. Zero or " +
    "less gives none.",
  schema: { type: "number", default: MESSAGES_DEFAULT },
  example: 20,
  flag: {
    name: "max-messages",
    value: "n",
    says: `at most n of the newest messages (${MESSAGES_DEFAULT})`,
  },
  refusals: ["limit_invalid", "budget_too_small"],
};

const max_tokens: ParameterDoc = {
  description: "As many of the newest messages as fit into so many tokens; everything that is returned counts.",
  schema: { type: "number" },
  flag: { name: "max-tokens", value: "n", says: "as many of the newest messages as fit into n tokens" },
  refusals: ["limit_invalid", "budget_too_small"],
};

const format: ParameterDoc = {
  description: "`openai`, or `anthropic` with the system text apart.",
  schema: { type: "string", enum: ["openai", "anthropic"], default: "openai" },
  flag: { name: "format", value: "format", says: "openai, or anthropic with the system text apart (openai)" },
  refusals: ["field_invalid"],
};

const include_pending: ParameterDoc = {
  description: "`1` keeps calls of the last message that have no result yet.",
  schema: switchSchema,
  flag: { name: "include-pending", says: "keep calls of the last message that have no result yet" },
  refusals: ["field_invalid"],
};

const include: ParameterDoc = {
  description:
    "`reasoning` keeps `reasoning_content`, `reasoning`, `reasoning_details` and `thinking_blocks` of assistants' messages " +
    "in OpenAI's form, as they were recorded. Anthropic's form always keeps signed thinking.",
  schema: { type: "string", enum: ["reasoning"] },
  flag: { name: "include", value: "what", says: "reasoning: keep the fields that carry what a model thought" },
  refusals: ["field_invalid"],
};

const status: ParameterDoc = {
  description: `Memories of this status: ${memoryStatuses.join(", ")}. Candidates come best first, and are the queue.`,
  schema: { type: "string", enum: memoryStatuses },
  flag: { name: "status", value: "status", says: `only memories of this status: ${memoryStatuses.join(", ")}` },
  refusals: ["field_invalid"],
};

const memoryProject: ParameterDoc = {
  description: "Memories of this project. An empty value filters nothing; `-` selects those that hold everywhere.",
  schema: text,
  flag: { name: "project", value: "name", says: "only memories of this project; - for those that hold everywhere" },
  refusals: ["label_invalid"],
};

const memoryType: ParameterDoc = {
  description: `Memories of this type: ${memoryTypes.join(", ")}.`,
  schema: { type: "string", enum: memoryTypes },
  flag: { name: "type", value: "type", says: `only memories of this type: ${memoryTypes.join(", ")}` },
  refusals: ["field_invalid"],
};

const memorySource: ParameterDoc = {
  description: `Memories from this source: ${memorySources.join(", ")}.`,
  schema: { type: "string", enum: memorySources },
  flag: { name: "source", value: "source", says: `only memories from this source: ${memorySources.join(", ")}` },
  refusals: ["field_invalid"],
};

const similar: ParameterDoc = {
  description: "`1` leaves only memories that are like another one, or contradict one.",
  schema: switchSchema,
  flag: { name: "similar", says: "only memories that are like another one, or contradict one" },
  refusals: ["field_invalid"],
};

const unused: ParameterDoc = {
  description: "`1` leaves only active memories that were never used nor confirmed.",
  schema: switchSchema,
  flag: { name: "unused", says: "only active memories that were never used nor confirmed" },
  refusals: ["field_invalid"],
};

/** How many tokens recall gives at most, where nothing else is asked for. */
export const TOKENS_DEFAULT = 2_000;

const recallProject: ParameterDoc = {
  description: "Memories of this project, beside those that hold everywhere; without it, only these.",
  schema: text,
  example: "atlas",
  flag: { name: "project", value: "name", says: "memories of this project, beside those that hold everywhere" },
  refusals: ["label_invalid"],
};

const recallSession: ParameterDoc = {
  description: "The session they are for: it is written down there what it was given, so that it is not learned again.",
  schema: text,
  flag: { name: "session", value: "id", says: "the session they are for, which is noted there" },
  refusals: ["session_id_invalid"],
};

const recallQ: ParameterDoc = {
  description: "What the model is about to be asked: memories that match it come first.",
  schema: text,
  example: "Which port does the server listen on?",
  flag: { name: "q", value: "text", says: "what the model is about to be asked; what matches it comes first" },
  refusals: ["field_invalid", "query_too_long"],
};

const budget_tokens: ParameterDoc = {
  description: "How many tokens the text may have; whole statements, as many as fit.",
  schema: { type: "number", default: TOKENS_DEFAULT },
  flag: { name: "budget-tokens", value: "n", says: `how many tokens the text may have (${TOKENS_DEFAULT})` },
  refusals: ["limit_invalid"],
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
  sessions: { filters: ["project", "client"], limit: listLimit(50), is_paged: true, lists: "sessions" },
  timeline: { own: { order, excerpts, after: beyond }, filters: [], limit: listLimit(100), is_paged: true },
  history: { own: { max_messages, max_tokens, format, include_pending, include }, filters: [] },
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
  memories: {
    own: { status, project: memoryProject, type: memoryType, source: memorySource, similar, unused },
    filters: [],
    limit: listLimit(50),
    is_paged: true,
    lists: "memories",
  },
  recall: {
    own: { project: recallProject, q: recallQ, session_id: recallSession, budget_tokens },
    filters: [],
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
  const limited = rules.flatMap(({ limit, lists = "entries" }) => (limit === undefined ? [] : [{ limit, lists }]));
  if (limited.length > 0) flags.set("limit", { ...limitFlag(limited), parameter: "limit" });
  return [...flags.values()];
}

function ownOf({ own = {} }: QuestionRule): readonly NamedParameter[] {
  return Object.entries(own).map(([name, parameter]) => ({ ...parameter, name }));
}

function filtersOf({ filters: names, lists }: QuestionRule): readonly NamedParameter[] {
  return names.map((name) => {
    const { description, schema, example, flag, refusals, of_sessions }: Filter = filters[name];
    const words = lists === "sessions" && of_sessions !== undefined ? of_sessions : { description, says: flag.says };
    const said = { description: words.description, flag: { ...flag, says: words.says } };
    return { name, schema, refusals, ...said, ...(example === undefined ? {} : { example }) };
  });
}

function pageOf({ limit, is_paged }: QuestionRule): readonly NamedParameter[] {
  return [
    ...(limit === undefined ? [] : [{ ...limitParameter(limit), name: "limit" }]),
    ...(is_paged === true ? [{ ...cursorParameter, name: "cursor" }] : []),
  ];
}
