// The table of filters: a row for each, from which every surface takes its parameters, flags, rejections and descriptions. How two
// filters of the same kind combine is up to their condition.
import { HAS_CONTEXT, hasLabel, type LabelReference, type Reference } from "../index/references.js";
import { bothHold, type ConditionName, type RowFilter } from "../index/row-filter.js";
import { memoryKinds } from "../model/entry.js";
import { parseLabel } from "../model/ids.js";
import { allKinds, captureKinds, isCaptureKind, isReservedKind, reservedKinds } from "../model/kinds.js";
import { Rejection, type RejectionCode, reject } from "../model/rejection.js";
import { isRole, readRole, readRoles } from "../model/roles.js";
import { isState, type StateMarks, stateNames, states } from "../model/states.js";
import { parseTimeBound } from "../model/time.js";
import { normalisedPath } from "../model/touched-files.js";
import { type Cursor, fingerprintOf, parseCursor } from "./cursor.js";
import { type Flag, isGiven, type Parameter, type ParameterDoc } from "./parameters.js";

/** As many parts of a path as references have. */
const PATH_PARTS_MAX = 16;
const SEVERAL = "Separate several with commas.";
const NAMES_MAX = 20;

export interface Filter<C extends ConditionName = ConditionName> extends ParameterDoc {
  /** The condition on rows that it is. */
  readonly condition: C;
  /** Called only with a value that is present and not empty. */
  parse(value: unknown, nowMs: number): ParsedFilter<C> | Rejection;
  readonly flag: Flag;
  /** Whether it can be typed into a search: `kind:error`. */
  readonly is_typed: boolean;
  /** Its description where sessions are listed instead of entries. */
  readonly of_sessions?: { readonly description: string; readonly says: string };
}

type ParsedFilter<C extends ConditionName> = {
  readonly asked: NonNullable<RowFilter[C]>;
  /** The same as normalised text: equal filters have equal texts. */
  readonly text: string;
};

/** The filters that were given, as text and by name, in the order of the operation's filters. */
export type GivenFilters = { readonly [name: string]: string };

export const filters = {
  /** Of this project; `"-"` selects what has none. */
  project: labels("project", { flag: "project", value: "names" }),
  /** Of this session; `"-"` selects what has none. */
  session_id: label("session_id", { code: "session_id_invalid", flag: "session", value: "id" }),
  /** Of this client; `"-"` selects what has none. */
  client: labels("client", { flag: "client", value: "names" }),
  /** Done for this user; `"-"` selects what has none. */
  user_id: labelReference("user_id", { flag: "user", value: "id", noun: "user" }),
  /** With this tag; `"-"` selects what has none. */
  tag: labelReference("tag", { flag: "tag", value: "name", noun: "tag" }),
  /** Made for this entry; `"-"` selects what was made for none. */
  parent_id: labelReference("parent_id", { flag: "parent-id", value: "id", noun: "parent entry" }),
  /** Of this kind; several separated by commas, `memory` for all kinds that memories are made of. */
  kind: {
    condition: "kinds",
    parse: parseKindFilter,
    schema: { type: "string" },
    description:
      `Entries of this kind: ${allKinds.join(", ")}; \`memory\` means all kinds that begin with \`memory_\`. ` +
      "Separate several with commas.",
    flag: {
      name: "kind",
      value: "kinds",
      says: "only these kinds, comma separated: message, tool_call, error, memory …; an unknown name lists all",
    },
    refusals: ["kind_unknown"],
    is_typed: true,
  },
  /** Messages of this role: user, assistant, system or tool. */
  role: {
    condition: "role",
    parse: parseRoleFilter,
    schema: { type: "string" },
    description: `Messages of this role: ${readRoles.join(", ")}.`,
    flag: { name: "role", value: "role", says: `only messages of this role: ${readRoles.join(", ")}` },
    refusals: ["role_unknown"],
    is_typed: true,
  },
  /** Inclusive: an ISO 8601 time, or relative to now such as `7d`. */
  since: {
    condition: "since_ms",
    parse: (value, nowMs) => parseTimeFilter("since", value, nowMs),
    schema: { type: "string" },
    description:
      "Inclusive, by `created_at`: `2026-11-15`, `2026-11-15T06:39:37Z`, or relative: `30m`, `12h`, `7d`, `2w`.",
    example: "7d",
    flag: {
      name: "since",
      value: "time",
      says: "from this time: 2026-11-15, 2026-11-15T06:39Z, or 30m, 12h, 7d, 2w ago",
    },
    refusals: ["time_invalid"],
    is_typed: true,
  },
  /** Inclusive; a bare date means its end. */
  until: {
    condition: "until_ms",
    parse: (value, nowMs) => parseTimeFilter("until", value, nowMs),
    schema: { type: "string" },
    description: "Inclusive, as `since`; a bare date means its end.",
    flag: { name: "until", value: "time", says: "up to this time, inclusive; a date means the end of the day" },
    refusals: ["time_invalid"],
    is_typed: true,
  },
  /** Calls of this tool. */
  tool: reference("tool", { value: "names", entries: "calls of this tool", is_typed: true, takes_several: true }),
  /** Tool calls that named a file whose path ends with this, by whole parts. */
  file: {
    condition: "references",
    parse: (value) => {
      const path = typeof value === "string" ? normalisedPath(value) : undefined;
      const end =
        path
          ?.split("/")
          .filter((part) => part !== "")
          .slice(-PATH_PARTS_MAX)
          .join("/") ?? "";
      if (end !== "") return { asked: [{ what: "file", reference: end }], text: end };
      return reject({ code: "field_invalid", field: "file", message: "file must be the end of a path" });
    },
    schema: { type: "string" },
    description:
      "Tool calls that named a file whose path ends with this, by whole parts: `login.ts` and `src/login.ts`, not `gin.ts`.",
    example: "src/login.ts",
    flag: { name: "file", value: "path", says: "only tool calls that named a file whose path ends with this" },
    refusals: ["field_invalid"],
    is_typed: true,
  },
  /** What this model answered: interactions, and messages that name it. */
  model: reference("model", { value: "names", entries: "answers of this model", is_typed: true, takes_several: true }),
  /** In this state: error, low_confidence, unanswered, disliked or injected. */
  is: {
    condition: "references",
    parse: parseStateFilter,
    schema: { type: "string", enum: stateNames },
    description:
      "In this state: `error`: errors, failed tools and failed interactions; `low_confidence`: assistants' messages below 0.5; " +
      "`unanswered`: interactions without a response; `disliked`: what has feedback below 0; " +
      "`injected`: messages that a program put into the conversation.",
    example: "error",
    flag: { name: "is", value: "state", says: `only entries in this state: ${stateNames.join(", ")}` },
    refusals: ["is_unknown"],
    is_typed: true,
  },
  /** Not in what was said, but in what models were given: `context`. */
  in: {
    condition: "references",
    parse: parsePlaceFilter,
    schema: { type: "string", enum: ["context"] },
    description:
      "Where to search: `context` searches only what models were given. Each distinct text appears once per session, " +
      "at its newest use, and `given` says how often it was given.",
    flag: { name: "in", value: "place", says: "context: search only what models were given" },
    refusals: ["in_unknown"],
    is_typed: true,
  },
  /** Interactions that used this memory. */
  memory: reference("memory", { value: "id", entries: "interactions that used this memory" }),
  /** Interactions that used this chunk. */
  chunk: reference("chunk", { value: "id", entries: "interactions that used this chunk" }),
} satisfies { readonly [name: string]: { [C in ConditionName]: Filter<C> }[ConditionName] };

type Filters = typeof filters;
export type FilterName = keyof Filters;

/** What these filters are as conditions on rows. */
export type ConditionsOf<N extends FilterName> = Pick<RowFilter, Filters[N]["condition"]>;

const filterNames = Object.keys(filters) as readonly FilterName[];

/** The filters that can be typed into a search. */
export const typedFilterNames: readonly FilterName[] = filterNames.filter((name) => filters[name].is_typed);

/** Reads those filters, and no others, from what was given. */
export function parseFilters<N extends FilterName>(
  names: readonly N[],
  options: { readonly [name in FilterName]?: unknown },
  nowMs: number,
): { readonly filter: ConditionsOf<N>; readonly given: GivenFilters } | Rejection {
  let filter: RowFilter = {};
  const given: { [name: string]: string } = {};
  for (const name of names) {
    const value = options[name];
    if (!isGiven(value)) continue;
    const { condition, parse }: Filter = filters[name];
    const parsed = parse(value, nowMs);
    if (parsed instanceof Rejection) return parsed;
    filter = bothHold(filter, { [condition]: parsed.asked });
    given[name] = parsed.text;
  }
  return { filter: filter as ConditionsOf<N>, given };
}

function label<L extends "project" | "session_id" | "client">(
  name: L,
  form: { readonly code: RejectionCode; readonly flag: string; readonly value: string },
): Filter<L> {
  const noun = form.flag;
  const emptyAndNone = "An empty value filters nothing; `-` selects entries without one.";
  return {
    condition: name,
    parse: (value) => {
      const asked = value === "-" ? "" : parseLabel(name, value);
      return asked instanceof Rejection ? asked : ({ asked, text: value as string } as ParsedFilter<L>);
    },
    schema: { type: "string" },
    description: `Entries of this ${noun}. ${emptyAndNone}`,
    flag: { name: form.flag, value: form.value, says: `only this ${noun}; - for entries without one` },
    of_sessions: {
      description: `Sessions with an entry of this ${noun}. ${emptyAndNone}`,
      says: `only sessions with an entry of this ${noun}; - for entries without one`,
    },
    refusals: [form.code],
    is_typed: true,
  };
}

/** Names separated by commas. One that has a comma itself is found as a whole. */
function namesIn(value: unknown): readonly unknown[] {
  if (typeof value !== "string" || !value.includes(",")) return [value];
  const parts = value.split(",").map((part) => part.trim());
  return [...new Set([...parts.filter((part) => part !== ""), value])];
}

function tooManyNames(name: string): Rejection {
  return reject({ code: "field_invalid", field: name, message: `${name} takes at most ${NAMES_MAX} values` });
}

/** A label that may be given several times. */
function labels<L extends "project" | "client">(
  name: L,
  form: { readonly flag: string; readonly value: string },
): Filter<L> {
  const single = label(name, { code: "label_invalid", ...form });
  return {
    ...single,
    parse: (value, nowMs) => {
      const names = namesIn(value);
      if (names.length === 1) return single.parse(names[0], nowMs);
      if (names.length > NAMES_MAX + 1) return tooManyNames(name);
      const asked: string[] = [];
      for (const one of names) {
        const parsed = single.parse(one, nowMs);
        // Together they may be longer than a label.
        if (parsed instanceof Rejection && one === value) continue;
        if (parsed instanceof Rejection) return parsed;
        asked.push(parsed.asked as string);
      }
      return { asked, text: value } as unknown as ParsedFilter<L>;
    },
    description: `${single.description} ${SEVERAL}`,
    flag: { ...single.flag, says: `${single.flag.says}; several with commas` },
    ...(single.of_sessions === undefined
      ? {}
      : {
          of_sessions: {
            description: `${single.of_sessions.description} ${SEVERAL}`,
            says: `${single.of_sessions.says}; several with commas`,
          },
        }),
    refusals: ["label_invalid", "field_invalid"],
  };
}

/** A label that is kept as a reference; searches, lists and counts take it as they take a project. */
function labelReference(
  name: LabelReference,
  form: { readonly flag: string; readonly value: string; readonly noun: string },
): Filter<"references"> {
  const { flag, value: shownValue, noun } = form;
  const emptyAndNone = "An empty value filters nothing; `-` selects entries without one.";
  return {
    condition: "references",
    parse: (value) => {
      if (typeof value !== "string") {
        return reject({ code: "label_invalid", field: name, message: `${name} must be a string` });
      }
      const asked = value === "-" ? { ...hasLabel(name), lacks: true } : { what: name, reference: value };
      return { asked: [asked], text: value };
    },
    schema: { type: "string" },
    description: `Entries with this ${noun}. ${emptyAndNone}`,
    flag: { name: flag, value: shownValue, says: `only entries with this ${noun}; - for those without one` },
    refusals: ["label_invalid"],
    is_typed: true,
  };
}

/** References that can be any text; the others have words of their own. */
type TextReference = {
  [R in Reference as R["what"]]: string extends R["reference"] ? R["what"] : never;
}[Reference["what"]];

/** Takes any text, because any text may have been recorded as a reference. */
function reference(
  name: TextReference,
  form: { readonly value: string; readonly entries: string; readonly is_typed?: true; readonly takes_several?: true },
): Filter<"references"> {
  const { value: shownValue, entries, is_typed = false, takes_several = false } = form;
  return {
    condition: "references",
    parse: (value) => {
      if (typeof value !== "string") {
        return reject({ code: "field_invalid", field: name, message: `${name} must be a string` });
      }
      const names = takes_several ? (namesIn(value) as readonly string[]) : [value];
      if (names.length > NAMES_MAX + 1) return tooManyNames(name);
      const [first = value, ...others] = names;
      const or = others.map((reference) => ({ what: name, reference }));
      return { asked: [{ what: name, reference: first, ...(or.length === 0 ? {} : { or }) }], text: value };
    },
    schema: { type: "string" },
    description: `${entries.charAt(0).toUpperCase()}${entries.slice(1)}.${takes_several ? ` ${SEVERAL}` : ""}`,
    flag: { name, value: shownValue, says: `only ${entries}${takes_several ? "; several with commas" : ""}` },
    refusals: ["field_invalid"],
    is_typed,
  };
}

function parseStateFilter(state: unknown): ParsedFilter<"references"> | Rejection {
  if (isState(state)) {
    const { has, lacks }: StateMarks = states[state];
    const wanted = { what: "is", reference: has } as const;
    const unwanted = lacks === undefined ? [] : [{ what: "is", reference: lacks, lacks: true } as const];
    return { asked: [wanted, ...unwanted], text: state };
  }
  const names = stateNames.join(", ");
  return reject({
    code: "is_unknown",
    field: "is",
    message: `unknown state ${shown(state)}`,
    hint: `States are ${names}.`,
  });
}

function parsePlaceFilter(place: unknown): ParsedFilter<"references"> | Rejection {
  if (place === "context") return { asked: [HAS_CONTEXT], text: place };
  const hint = "The only place is context.";
  return reject({ code: "in_unknown", field: "in", message: `unknown place ${shown(place)}`, hint });
}

function parseKindFilter(kind: unknown): ParsedFilter<"kinds"> | Rejection {
  const names = typeof kind === "string" ? [...new Set(kind.split(",").map((name) => name.trim()))] : [kind];
  const kinds: string[] = [];
  for (const name of names) {
    if (name === "memory") kinds.push(...memoryKinds);
    else if (isCaptureKind(name) || isReservedKind(name)) kinds.push(name as string);
    else return kindUnknown(name);
  }
  return { asked: [...new Set(kinds)], text: names.join(",") };
}

function kindUnknown(kind: unknown): Rejection {
  return reject({
    code: "kind_unknown",
    field: "kind",
    message: `unknown kind ${shown(kind)}`,
    hint: `Kinds are ${captureKinds.join(", ")}, and of the log itself ${reservedKinds.join(", ")}; memory means all of memory_*.`,
  });
}

function parseRoleFilter(role: unknown): ParsedFilter<"role"> | Rejection {
  if (isRole(role)) return { asked: readRole(role as string), text: readRole(role as string) };
  return reject({
    code: "role_unknown",
    field: "role",
    message: `unknown role ${shown(role)}`,
    hint: `Roles are ${readRoles.slice(0, -1).join(", ")} and ${readRoles.at(-1)}.`,
  });
}

/** The text stays as given; the server resolves `7d` once for all pages. */
function parseTimeFilter(
  name: "since" | "until",
  value: unknown,
  nowMs: number,
): { readonly asked: number; readonly text: string } | Rejection {
  const text = typeof value === "string" ? value.trim() : "";
  const asked = parseTimeBound(text, { nowMs, end: name === "until" });
  if (asked !== undefined) return { asked, text };
  return reject({
    code: "time_invalid",
    field: name,
    message: `${name} is not a time`,
    hint: "For example 2026-11-15, 2026-11-15T06:39:37Z, or relative: 30m, 12h, 7d, 2w.",
  });
}

function shown(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 40));
}

// What a question takes, by name: parameters of its own, filters, and for pages a cursor. Every surface derives from it
// what it lets people give; here what was given becomes a query.

export interface Input {
  readonly [name: string]: Parameter | Filter | Cursor;
}

type GivenOf<P> = P extends Parameter<infer G, infer _> ? G : P extends Filter ? string : string | null;
type ParsedOf<P> = P extends Parameter<infer _, infer Parsed> ? Parsed : never;
type OwnNames<I> = { [N in keyof I]: I[N] extends Filter | Cursor ? never : N }[keyof I];
type FilterNames<I> = { [N in keyof I]: I[N] extends Filter ? N : never }[keyof I] & FilterName;
type AfterOf<I> = I extends { readonly cursor: Cursor<infer After> } ? { readonly after?: After } : unknown;

/** What a question may be asked with. */
export type OptionsOf<I> = { readonly [N in keyof I]?: GivenOf<I[N]> | undefined };

/** What a question is asked with, parsed. */
export type QueryOf<I> = { readonly [N in OwnNames<I>]: ParsedOf<I[N]> } & AfterOf<I> & {
    readonly filter: ConditionsOf<FilterNames<I>>;
    /** The filters as they were given. */
    readonly given: GivenFilters;
    /** What cursors are bound to. */
    readonly fingerprint: string;
    /** When it was asked. */
    readonly now_ms: number;
  };

export interface Question<I extends Input = Input> {
  readonly name: string;
  readonly input: I;
  /** What depends on several parameters at once: the query made whole, or refused. */
  readonly refine?: ((query: QueryOf<I>) => QueryOf<I> | Rejection) | undefined;
}

/** Reads what a question was asked with. */
export function parseInput<I extends Input>(
  { name, input, refine }: Question<I>,
  options: OptionsOf<I>,
  nowMs: number,
): QueryOf<I> | Rejection {
  const known = options as { readonly [name: string]: unknown };
  const own: { [name: string]: unknown } = {};
  const bound: { [name: string]: unknown } = {};
  for (const [field, parameter] of Object.entries(input)) {
    if ("condition" in parameter || "resume" in parameter) continue;
    const parsed = parameter.parse(known[field], { name: field, nowMs });
    if (parsed instanceof Rejection) return parsed;
    own[field] = parsed;
    if (parameter.is_view !== true) bound[field] = parameter.bound === undefined ? parsed : parameter.bound(parsed);
  }
  const filtered = parseFilters(filterNamesOf(input), known, nowMs);
  if (filtered instanceof Rejection) return filtered;
  // Only cursors are bound to it.
  const fingerprint = input.cursor === undefined ? "" : fingerprintOf([name, filtered.given, bound]);
  const given = { ...own, ...filtered, fingerprint, now_ms: nowMs } as unknown as QueryOf<I>;
  const query = refine === undefined ? given : refine(given);
  const { cursor } = input;
  if (query instanceof Rejection || cursor === undefined || !("resume" in cursor)) return query;
  const numbers = parseCursor(known.cursor as string, { fingerprint: query.fingerprint, numbers: cursor.numbers });
  if (numbers instanceof Rejection) return numbers;
  return numbers === undefined ? query : ({ ...query, ...cursor.resume(numbers, query) } as QueryOf<I>);
}

/** Which of what a question takes are filters. */
function filterNamesOf(input: Input): readonly FilterName[] {
  return Object.entries(input).flatMap(([field, one]) => ("condition" in one ? [field as FilterName] : []));
}

/** The named filters, for the input of a question. */
export function filtersNamed<N extends FilterName>(...names: readonly N[]): Pick<typeof filters, N> {
  return Object.fromEntries(names.map((name) => [name, filters[name]])) as Pick<typeof filters, N>;
}

/** The same in the words of a list of sessions, and not of entries. */
export function sessionFiltersNamed<N extends FilterName>(...names: readonly N[]): Pick<typeof filters, N> {
  const named = names.map((name) => {
    const filter: Filter = filters[name];
    const { description, says } = filter.of_sessions ?? { description: filter.description, says: filter.flag.says };
    return [name, { ...filter, description, flag: { ...filter.flag, says } }];
  });
  return Object.fromEntries(named) as Pick<typeof filters, N>;
}
