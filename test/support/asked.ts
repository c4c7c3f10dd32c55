// Everything that can be asked with filters and parameters, by name: operations, and what is answered piece by piece.
import { type Operations, operations } from "../../src/operations/index.js";
import { type Body, pathParametersOf } from "../../src/operations/operation.js";
import { streams } from "../../src/operations/streams.js";
import type { FilterName, Input } from "../../src/search/filters.js";

/** Those that are sent a body are asked with nothing else. */
type OperationName = {
  [N in keyof Operations]: Operations[N] extends { readonly body?: Body } ? never : N;
}[keyof Operations];

const questions = { ...operations, ...streams };
type Questions = Pick<typeof questions, OperationName | keyof typeof streams>;

export type AskedName = keyof Questions;

/** Everything that anything is asked with. */
export type ParameterName = { [Q in AskedName]: keyof Questions[Q]["input"] & string }[AskedName];

type NamedParameter = Input[string] & { readonly name: string };

export const askedNames = (Object.keys(questions) as readonly AskedName[]).filter((name) => inputOf(name).length > 0);

/** Its parameters except those in its address, in the order in which they are documented. */
export function inputOf(name: AskedName): readonly NamedParameter[] {
  const question: { readonly input: Input; readonly route?: string } = questions[name];
  const inPath = question.route === undefined ? [] : pathParametersOf(operations[name as keyof typeof operations]);
  return Object.entries(question.input)
    .filter(([field]) => !inPath.includes(field))
    .map(([field, parameter]) => ({ ...parameter, name: field }));
}

export function filtersOf(name: AskedName): readonly FilterName[] {
  return Object.entries(questions[name].input).flatMap(([field, one]) =>
    "condition" in one ? [field as FilterName] : [],
  );
}
