// One operation, one file: a file of this folder says once what every surface offers.
//
// The library's method, asking a thread, asking a server, the HTTP route with its parsing and its OpenAPI document, the scope,
// the MCP tool and the command all derive from these fields. Leaving one out does not compile.
import type { TSchema } from "typebox";
import type { Scope } from "../guard/scopes.js";
import type { FaultCode } from "../model/fault.js";
import { knownOptions } from "../model/options.js";
import {
  type Noun,
  notFound,
  orThrow,
  RecorderError,
  Rejection,
  type RejectionCode,
  reject,
} from "../model/rejection.js";
import type { AnswerOf, GivenIn } from "../model/schema.js";
import type { AnswerContext, AnswerForm } from "../reading/call-table.js";
import { type Input, type OptionsOf, parseInput, type QueryOf, type Question } from "../search/filters.js";
import type { Readers } from "./readers.js";
import type { Recording, StoreWork } from "./recording.js";

/** `any` needs a key, and what it may do is decided further in; `open` needs none and shows no recorded text. */
export type Need = Scope | "open" | "any";

/** Named segments are parameters: `GET /entries/:id`. */
type Route = `${"GET" | "POST"} /${string}`;

/** What is sent with an operation: one JSON document, parsed as a whole. */
export interface Body<S extends TSchema = TSchema, Parsed = unknown> {
  /** Schema and type of what is given, in one. */
  readonly schema: S;
  /** A document, for the documentation. */
  readonly example?: unknown;
  readonly is_required: boolean;
  /** What HTTP takes: an empty body may be of any type, as `curl -d ''` sends it; lines have a document each. */
  readonly form: "json" | "json_or_empty" | "json_or_lines";
  /** Who counts as the actor over HTTP: the sender, unless the body names one; `sender` if the body must not. */
  readonly actor?: "sender_by_default" | "sender";
  /** Also called with no body. */
  readonly parse: (given: unknown) => Parsed | Rejection;
}

/** A body is data: this only checks that its parts fit. */
export function body<S extends TSchema, Parsed>(definition: Body<S, Parsed>): Body<S, Parsed> {
  return definition;
}

/** How a call is recorded: by a caller that may read and capture. */
interface Note<Append> {
  /** Its name, for the documentation. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly append: Append;
}

/** How an operation that records can turn out, by HTTP status. */
interface Recorded<A> {
  readonly outcome: (answer: A) => RecordedStatus;
  readonly outcomes: {
    /** Something was recorded. */
    readonly 201: Outcome;
    /** Nothing was. */
    readonly 200: Outcome;
    /** The answer does not say which: the caller may not learn it. */
    readonly 202?: Outcome;
  };
}

type RecordedStatus = 200 | 201 | 202;

/** One of several answers, for the documentation. */
interface Outcome {
  readonly description: string;
  /** Where it is not the output itself. */
  readonly output?: TSchema;
  readonly example?: unknown;
}

/** An MCP tool; also how a long answer is shortened, because a model's context is small. */
export interface Tool<A = never> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The list in the answer that is cut, page by page. */
  readonly list?: string;
  /** The field that is shown as the answer's text, in place of the document; with a dot, a field of a field. */
  readonly text?: string;
  /** A long answer comes in parts: of its text, or else of its JSON. */
  readonly in_parts?: true;
  /** Parameter names that differ from those over HTTP. */
  readonly names?: { readonly [parameter: string]: string };
  /** Other names that an argument is accepted by, each with the name that it has. */
  readonly aliases?: { readonly [alias: string]: string };
  /** The most that a number may be: more would not fit before a model. */
  readonly at_most?: { readonly [parameter: string]: number };
  /** How the arguments become the body, where there is one. */
  readonly body?: ToolBody;
  /** What is answered in place of the whole answer. */
  readonly answer?: ToolAnswer<A>;
}

interface ToolBody {
  /** The name of the schema whose fields are the arguments. */
  readonly schema: string;
  /** Fields that every call of the tool has in common; given otherwise, they are refused with the hint. */
  readonly fixed: { readonly [field: string]: string };
  readonly hint?: string;
  /** Fields that an agent cannot set. */
  readonly withheld?: readonly string[];
  /** Fields that an agent must give, although others need not. */
  readonly needed?: readonly string[];
}

interface ToolAnswer<A> {
  readonly schema: TSchema;
  readonly document: (answer: A) => object;
  readonly text: (answer: A) => string;
}

/** What a command has in addition to its flags, which follow from the input. */
interface CommandHelp {
  /** Arguments without a flag; `<text...>` takes all that follow. */
  readonly operands?: readonly Operand[];
  readonly prose?: string;
  readonly examples?: readonly (readonly [description: string, line: string])[];
}

interface Operand {
  readonly name: string;
  /** The parameter that it gives. */
  readonly parameter: string;
  readonly description: string;
  /** What to do if it is refused. */
  readonly hint?: string;
}

/** Where an answer comes from, and how fresh it is. */
interface Sources<Q, A> {
  /** The log alone. */
  readonly log: (parts: AnswerContext<Readers>, query: Q) => Promise<A>;
  /** As much of an index as there is: while one is rebuilt, the answer may lack older entries, and says `partial`. */
  readonly index_at_checkpoint: (readers: Readers, query: Q) => Promise<A>;
  /** The same, and its texts. */
  readonly texts_at_checkpoint: (readers: Readers, query: Q) => Promise<A>;
  /** An index that has come to the log's head: without the older entries the answer would be wrong, not short. */
  readonly index_at_head: (readers: Readers, query: Q) => Promise<A>;
  /** Several of these, as the operation itself asks for them. */
  readonly several: (parts: AnswerContext<Readers>, query: Q) => Promise<A>;
  /** What appends entries, here or on a server. */
  readonly recorder: (recorder: Recording, query: Q) => Promise<A>;
  /** What works on the store itself, on its own machine: writes about memories, erases, verifies. */
  readonly store: (store: StoreWork, query: Q) => Promise<A>;
}

export type Source = keyof Sources<unknown, unknown>;

export interface Operation<
  Name extends string = string,
  I extends Input = Input,
  S extends TSchema = TSchema,
  Missing extends Noun | undefined = Noun | undefined,
  N extends Source = Source,
  P extends readonly (keyof I & string)[] = readonly (keyof I & string)[],
  B extends Body | undefined = Body | undefined,
> {
  readonly name: Name;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly scope: Need;
  /** If the body decides: any of these scopes is enough. Undefined if it is refused anyway. */
  readonly scopes?: (body: unknown) => readonly Scope[] | undefined;
  readonly route: Route;
  readonly tools: readonly Tool<AnswerOf<S>>[];
  readonly command: CommandHelp | undefined;
  readonly input: I;
  /** What depends on several parameters at once: the query made whole, or refused. */
  readonly refine?: (query: QueryOf<I>) => QueryOf<I> | Rejection;
  /** Parameters that the library takes by their place, before the options. */
  readonly positional: P;
  /** What is sent with it; in the library the last argument. */
  readonly body?: B;
  /** Schema and type of the answer in one. */
  readonly output: S;
  /** An answer, for the documentation. */
  readonly example?: AnswerOf<S>;
  /** What the answer is, for the documentation. */
  readonly answer_is?: string;
  readonly recorded?: Recorded<AnswerOf<S>>;
  /** Makes JSON of a large answer without holding up others. */
  readonly toJson?: (answer: AnswerOf<S>) => Promise<Uint8Array>;
  /** Name of a missing answer: undefined in the library, 404 over HTTP. */
  readonly missing: Missing;
  /** Its error codes, in addition to those of its parameters. */
  readonly refusals: readonly (RejectionCode | FaultCode)[];
  readonly needs: N;
  /** The field of the answer that is Markdown. HTTP sends it to clients that accept nothing else. */
  readonly markdown?: string;
  /** It may read the whole record: callers wait longer, and few run at once. */
  readonly reads_all?: true;
  /** It scans the entries whose texts are not indexed yet, so they are indexed soon after it. */
  readonly scans_texts?: true;
  /** It erases bodies, so what watching keeps of them is erased too. */
  readonly erases?: true;
  /** The answer depends on prices, which a caller may have given. */
  readonly uses_prices?: true;
  /** The call may be recorded, with the same parameters in the body of a POST; a GET records nothing. */
  readonly note?: Note<(store: StoreWork, query: QueryOf<I>, answer: AnswerOf<S>) => Promise<void>>;
  readonly answer: Sources<AskedWith<I, B>, AnswerOf<S> | (Missing extends Noun ? undefined : never)>[N];
}

/** An operation is data: this only checks that nothing is missing and everything fits. */
export function operation<
  const Name extends string,
  I extends Input,
  S extends TSchema,
  const Missing extends Noun | undefined,
  const N extends Source,
  const P extends readonly (keyof I & string)[],
  B extends Body | undefined = undefined,
>(definition: Operation<Name, I, S, Missing, N, P, B>): Operation<Name, I, S, Missing, N, P, B> {
  return definition;
}

/** The last argument of a method; it may be left out where nothing in it is needed. */
type SentLast<S extends TSchema> = object extends GivenIn<S> ? [sent?: GivenIn<S>] : [sent: GivenIn<S>];

/** What an operation is answered from: what it was asked with, and what was sent. */
type AskedWith<I, B> = QueryOf<I> & (B extends Body<infer _, infer Parsed> ? { readonly body: Parsed } : unknown);

/** What an operation is answered with. */
export type AnswerTo<Op> = Op extends { readonly output: infer S extends TSchema; readonly missing: infer M }
  ? AnswerOf<S> | (M extends Noun ? undefined : never)
  : never;

type PlacedOf<I, P extends readonly unknown[]> = {
  [At in keyof P]: P[At] extends keyof I ? Exclude<OptionsOf<I>[P[At]], undefined> : never;
};

/** An operation as the library's method: what it takes by place, then its options. */
export type MethodOf<Op> = Op extends {
  readonly input: infer I;
  readonly positional: infer P extends readonly unknown[];
}
  ? (
      ...given: [
        ...placed: PlacedOf<I, P>,
        ...last: Op extends { readonly body?: Body<infer S> }
          ? SentLast<S>
          : [options?: Omit<OptionsOf<I>, P[number] & string>],
      ]
    ) => Promise<AnswerTo<Op>>
  : never;

/** Any operation. */
export type AnyOperation = Omit<
  Operation,
  "answer" | "needs" | "input" | "positional" | "refine" | "recorded" | "toJson" | "note" | "tools"
> & {
  readonly tools: readonly Tool[];
  readonly note?: Note<(store: StoreWork, query: never, answer: never) => Promise<void>>;
  readonly input: Input;
  readonly refine?: (query: never) => object;
  readonly positional: readonly string[];
  readonly recorded?: Recorded<never>;
  readonly toJson?: (answer: never) => Promise<Uint8Array>;
} & { [N in Source]: { readonly needs: N; readonly answer: Sources<never, unknown>[N] } }[Source];

/** The parameters in an operation's path, in order. */
export function pathParametersOf({ route }: Pick<AnyOperation, "route">): readonly string[] {
  return [...route.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
}

/** The error of every surface for a missing answer; only the library's methods return undefined. */
export function missingFrom(
  operation: Pick<AnyOperation, "missing" | "route">,
  options: { readonly [name: string]: unknown },
  more: { readonly field?: string; readonly hint?: string } = {},
): RecorderError {
  const [name = ""] = pathParametersOf(operation);
  return new RecorderError(notFound(operation.missing ?? "entry", options[name], more));
}

/**
 * Parses an operation's options; unknown ones are refused.
 *
 * @internal Exported for tests.
 */
export function parseOptions(
  { name, input, route, refine, body }: Pick<AnyOperation, "name" | "input" | "route" | "refine" | "body">,
  options: { readonly [name: string]: unknown },
  nowMs: number,
): object | Rejection {
  const known = knownOptions(options, body === undefined ? Object.keys(input) : [...Object.keys(input), "body"]);
  const absent = pathParametersOf({ route }).find((field) => (known[field] ?? undefined) === undefined);
  if (absent !== undefined) return reject({ code: "field_missing", field: absent, message: `${absent} is missing` });
  const query = parseInput({ name, input, refine } as Question, known as OptionsOf<Input>, nowMs);
  if (body === undefined || query instanceof Rejection) return query;
  const sent = body.parse(known.body);
  return sent instanceof Rejection ? sent : { ...query, body: sent };
}

/** What an operation is asked with, by name. */
export type Options = { readonly [name: string]: unknown };

/** How an operation is carried out. */
export interface OperateHow {
  readonly form?: AnswerForm | undefined;
  /** Whether it must not record the call. */
  readonly is_unnoted?: boolean;
}

/** What an operation is asked with: as it was given, and parsed. */
export interface Asked extends OperateHow {
  readonly options: Options;
  readonly query: never;
}

/** Parses what an operation is asked with; throws what is refused. */
export function askedWith(operation: AnyOperation, options: Options, nowMs: number): Asked {
  return { options, query: orThrow(parseOptions(operation, options, nowMs)) as never };
}
