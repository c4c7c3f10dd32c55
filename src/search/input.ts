// What a question takes, by name: parameters of its own, filters, and for pages a cursor. Every surface derives from it what
// it lets people give; here what was given becomes a query.
import { Rejection } from "../model/rejection.js";
import { type Cursor, fingerprintOf, parseCursor } from "./cursor.js";
import {
  type ConditionsOf,
  type Filter,
  type FilterName,
  filters,
  type GivenFilters,
  parseFilters,
} from "./filters.js";
import type { Parameter } from "./parameters.js";

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
