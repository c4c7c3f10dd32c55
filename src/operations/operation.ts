// One operation, one file: a file of this folder says once what every surface offers.
//
// The library's method, asking a thread, asking a server, the HTTP route with its parsing and its OpenAPI document, the scope,
// the MCP tool and the command all derive from these fields. Leaving one out does not compile.
import type { TSchema } from "typebox";
import { knownOptions } from "../model/options.js";
import { type Noun, type Rejection, type RejectionCode, reject } from "../model/rejection.js";
import type { AnswerOf } from "../model/schema.js";
import type { Scope } from "../model/scope.js";
import type { Answering } from "../reading/answering.js";
import { type Input, type OptionsOf, parseInput, type QueryOf, type Question } from "../search/input.js";
import type { Readers } from "./readers.js";

/** `any` needs a key, and what it may do is decided further in; `open` needs none and shows no recorded text. */
export type Need = Scope | "open" | "any";

/** Named segments are parameters: `GET /entries/:id`. */
type Route = `${"GET" | "POST"} /${string}`;

/** Before a model there is room for little: what else is said here is how a long answer is cut. */
interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The list in the answer that is cut, page by page. */
  readonly list?: string;
  /** The field that is shown as the answer's text, in place of the document. */
  readonly text?: string;
  /** Where it is too long it comes in parts, one after the other: its text, or else its JSON. */
  readonly in_parts?: true;
  /** What parameters are called, where that is something else than over HTTP. */
  readonly names?: { readonly [parameter: string]: string };
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
  /** Several of these, as the operation itself asks for them. */
  readonly several: (parts: Answering<Readers>, query: Q) => Promise<A>;
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
  /** What depends on several parameters at once: the query made whole, or refused. */
  readonly refine?: (query: QueryOf<I>) => QueryOf<I> | Rejection;
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
  /** An answer may be as large as an entry can be: HTTP sends the JSON that is written where it is read. */
  readonly is_large?: true;
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
  ? (...given: [...placed: PlacedOf<I, P>, options?: Omit<OptionsOf<I>, P[number] & string>]) => Promise<AnswerTo<Op>>
  : never;

/** Any operation, whatever it takes and answers with. */
export type AnyOperation = Pick<
  Operation,
  Exclude<keyof Operation, "answer" | "needs" | "input" | "positional" | "refine">
> & {
  readonly input: Input;
  readonly refine?: (query: never) => object;
  readonly positional: readonly string[];
} & { [N in Source]: { readonly needs: N; readonly answer: Sources<never, unknown>[N] } }[Source];

/** The parameters in an operation's path, in order. */
export function pathParametersOf({ route }: Pick<AnyOperation, "route">): readonly string[] {
  return [...route.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
}

/** Reads what an operation was asked with; an option that it does not have is refused. */
export function parseOptions(
  { name, input, route, refine }: Pick<AnyOperation, "name" | "input" | "route" | "refine">,
  options: { readonly [name: string]: unknown },
  nowMs: number,
): object | Rejection {
  const known = knownOptions(options, Object.keys(input));
  const absent = pathParametersOf({ route }).find((field) => (known[field] ?? undefined) === undefined);
  if (absent !== undefined) return reject({ code: "field_missing", field: absent, message: `${absent} is missing` });
  return parseInput({ name, input, refine } as Question, known as OptionsOf<Input>, nowMs);
}
