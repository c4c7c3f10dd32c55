// Everything that can be asked with filters and parameters, by name: operations, and questions that are not operations yet.
import { type Operations, operations } from "../../src/operations/index.js";
import { type Body, pathParametersOf } from "../../src/operations/operation.js";
import type { FilterName } from "../../src/search/filters.js";
import {
  type NamedParameter,
  parametersOf,
  type QuestionName,
  questionNames,
  questionRules,
} from "../../src/search/question-rules.js";

/** Those that are sent a body are asked with nothing else. */
type OperationName = {
  [N in keyof Operations]: Operations[N] extends { readonly body?: Body } ? never : N;
}[keyof Operations];

export type AskedName = QuestionName | OperationName;

const operationNames = Object.keys(operations) as readonly OperationName[];

export const askedNames: readonly AskedName[] = [...questionNames, ...operationNames].filter(
  (name) => inputOf(name).length > 0,
);

/** What it is asked with beside what its address names, in the order in which it is documented. */
export function inputOf(name: AskedName): readonly NamedParameter[] {
  if (!isOperation(name)) return parametersOf(name);
  const inPath = pathParametersOf(operations[name]);
  return Object.entries(operations[name].input)
    .filter(([field]) => !inPath.includes(field))
    .map(([field, parameter]) => ({ ...parameter, name: field }));
}

export function filtersOf(name: AskedName): readonly FilterName[] {
  if (!isOperation(name)) return questionRules[name].filters;
  const { input } = operations[name];
  return Object.entries(input).flatMap(([field, one]) => ("condition" in one ? [field as FilterName] : []));
}

function isOperation(name: AskedName): name is OperationName {
  return Object.hasOwn(operations, name);
}
