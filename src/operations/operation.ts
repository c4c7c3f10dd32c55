// One operation, one file: a file of this folder says once what every surface offers.
//
// The library's method, asking a thread, asking a server, the HTTP route with its parsing and its OpenAPI document, the scope,
// the MCP tool and the command all derive from these fields. Leaving one out does not compile.
import type { TSchema } from "typebox";
import type { Noun } from "../model/not-found.js";
import { knownOptions } from "../model/options.js";
import { Rejection, type RejectionCode, reject } from "../model/rejection.js";
import type { AnswerOf } from "../model/schema.js";
import type { Scope } from "../model/scope.js";
import type { Answering } from "../reading/answering.js";
import { type Cursor, fingerprintOf, parseCursor } from "../search/cursor.js";
import {
  type ConditionsOf,
  type Filter,
  type FilterName,
  filters,
  type Given,
  parseFilters,
} from "../search/filters.js";
import type { Parameter } from "../search/parameters.js";
import type { Readers } from "./readers.js";

/** `any` needs a key, and what it may do is decided further in; `open` needs none and shows no recorded text. */
export type Need = Scope | "open" | "any";

/** Named segments are parameters: `GET /entries/:id`. */
type Route = `${"GET" | "POST"} /${string}`;

/** What an operation takes, by name: parameters of its own, filters, and for pages a cursor. */
export interface Input {
  readonly [name: string]: Parameter | Filter | Cursor;
}

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Of a page: the list in it that is cut where the answer would be too long. */
  readonly list?: string;
}

/** What a command has beside its flags, which follow from the input. */
interface CommandHelp {
  /** Arguments without a flag, each with the parameter that it gives; `<text...>` takes all that follow. */
  readonly operands: readonly { readonly name: string; readonly parameter: string; readonly description: string }[];
  readonly prose: string;
  readonly examples: readonly (readonly [description: string, line: string])[];
}

/** Where an answer comes from, and how fresh it is. */
interface Sources<Q, A> {
  /** The log alone. */
  readonly log: (parts: Answering<Readers>, query: Q) => Promise<A>;
  /** As much of an index as there is: while one is rebuilt, the answer may lack older entries, and says `partial`. */
  readonly index_at_checkpoint: (readers: Readers, query: Q) => Promise<A>;
  /** The same, and its texts. */
  readonly texts_at_checkpoint: (readers: Readers, query: Q) => Promise<A>;
  /** An index that has come to the log's head: without the older entries the answer would be wrong, not short. */
  readonly index_at_head: (readers: Readers, query: Q) => Promise<A>;
}

export type Source = keyof Sources<unknown, unknown>;

export interface Operation<
  Name extends string = string,
  I extends Input = Input,
  S extends TSchema = TSchema,
  Missing extends Noun | undefined = Noun | undefined,
  N extends Source = Source,
  P extends readonly (keyof I & string)[] = readonly (keyof I & string)[],
> {
  readonly name: Name;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly scope: Need;
  readonly route: Route;
  readonly tool: Tool | undefined;
  readonly command: CommandHelp | undefined;
  readonly input: I;
  /** Parameters that the library takes by their place, before the options. */
  readonly positional: P;
  /** Schema and type of the answer in one. */
  readonly output: S;
  /** An answer, for the documentation. */
  readonly example?: AnswerOf<S>;
  /** What is missing where there is no answer: undefined in the library, 404 over HTTP. */
  readonly missing: Missing;
  /** Codes that it may be refused with, beside those of its parameters. */
  readonly refusals: readonly RejectionCode[];
  readonly needs: N;
  /** That it was asked is written down: no page of another site may ask, nor anybody for headers alone. */
  readonly is_recorded?: true;
  readonly answer: Sources<QueryOf<I>, AnswerOf<S> | (Missing extends Noun ? undefined : never)>[N];
}

/** An operation is data: this only checks that nothing is missing and everything fits. */
export function operation<
  const Name extends string,
  I extends Input,
  S extends TSchema,
  const Missing extends Noun | undefined,
  const N extends Source,
  const P extends readonly (keyof I & string)[],
>(definition: Operation<Name, I, S, Missing, N, P>): Operation<Name, I, S, Missing, N, P> {
  return definition;
}

type GivenOf<P> = P extends Parameter<infer G, infer _> ? G : P extends Filter ? string : string | null;
type ParsedOf<P> = P extends Parameter<infer _, infer Parsed> ? Parsed : never;
type OwnNames<I> = { [N in keyof I]: I[N] extends Filter | Cursor ? never : N }[keyof I];
type FilterNames<I> = { [N in keyof I]: I[N] extends Filter ? N : never }[keyof I] & FilterName;
type AfterOf<I> = I extends { readonly cursor: Cursor<infer After> } ? { readonly after?: After } : unknown;

/** What an operation may be asked with. */
export type OptionsOf<I> = { readonly [N in keyof I]?: GivenOf<I[N]> | undefined };

/** The same, parsed. */
export type QueryOf<I> = { readonly [N in OwnNames<I>]: ParsedOf<I[N]> } & AfterOf<I> & {
    readonly filter: ConditionsOf<FilterNames<I>>;
    /** The filters as they were given. */
    readonly given: Given;
    /** What cursors are bound to. */
    readonly fingerprint: string;
    /** When it was asked. */
    readonly now_ms: number;
  };

/** What an operation is answered with. */
export type AnswerTo<Op> = Op extends { readonly output: infer S extends TSchema; readonly missing: infer M }
  ? AnswerOf<S> | (M extends Noun ? undefined : never)
  : never;

type PlacedOf<I, P extends readonly unknown[]> = { [At in keyof P]: P[At] extends keyof I ? GivenOf<I[P[At]]> : never };

/** An operation as the library's method: what it takes by place, then its options. */
export type MethodOf<Op> = Op extends {
  readonly input: infer I;
  readonly positional: infer P extends readonly unknown[];
}
  ? (...given: [...placed: PlacedOf<I, P>, options?: Omit<OptionsOf<I>, P[number] & string>]) => Promise<AnswerTo<Op>>
  : never;

/** Any operation, whatever it takes and answers with. */
export type AnyOperation = Pick<Operation, Exclude<keyof Operation, "answer" | "needs" | "input" | "positional">> & {
  readonly input: Input;
  readonly positional: readonly string[];
} & { [N in Source]: { readonly needs: N; readonly answer: Sources<never, unknown>[N] } }[Source];

/** The parameters in an operation's path, in order. */
export function pathParametersOf({ route }: Pick<AnyOperation, "route">): readonly string[] {
  return [...route.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
}

/** The named filters, for the input of an operation. */
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

/** Reads what an operation was asked with; an option that it does not have is refused. */
export function parseOptions<I extends Input>(
  { name, input, route }: Pick<Operation<string, I>, "name" | "input" | "route">,
  options: OptionsOf<I>,
  nowMs: number,
): QueryOf<I> | Rejection {
  const known = knownOptions(options, Object.keys(input)) as { readonly [name: string]: unknown };
  const absent = pathParametersOf({ route }).find((field) => (known[field] ?? undefined) === undefined);
  if (absent !== undefined) return reject({ code: "field_missing", field: absent, message: `${absent} is missing` });
  const own: { [name: string]: unknown } = {};
  const bound: { [name: string]: unknown } = {};
  for (const [field, parameter] of Object.entries(input)) {
    if ("condition" in parameter || "resume" in parameter) continue;
    const parsed = parameter.parse(known[field], { name: field, nowMs });
    if (parsed instanceof Rejection) return parsed;
    own[field] = parsed;
    if (parameter.is_view !== true) bound[field] = parsed;
  }
  const filterNames = Object.entries(input).flatMap(([field, one]) =>
    "condition" in one ? [field as FilterName] : [],
  );
  const filtered = parseFilters(filterNames, known, nowMs);
  if (filtered instanceof Rejection) return filtered;
  const fingerprint = fingerprintOf([name, filtered.given, bound]);
  const query = { ...own, ...filtered, fingerprint, now_ms: nowMs };
  const { cursor } = input;
  if (cursor === undefined || !("resume" in cursor)) return query as unknown as QueryOf<I>;
  const numbers = parseCursor(known.cursor as string, { fingerprint, numbers: cursor.numbers });
  if (numbers instanceof Rejection) return numbers;
  return { ...query, ...(numbers === undefined ? {} : cursor.resume(numbers, query)) } as unknown as QueryOf<I>;
}
