// A question over HTTP: the query parameters that its route reads, describes and refuses, all from the table of questions.
import type { RejectionCode } from "../../../model/rejection.js";
import { type ParameterName, parametersOf, type QuestionName, refusalsOf } from "../../../search/question-rules.js";
import { addressRefusals, type Parameter } from "./operation.js";

export interface DescribedQuestion<Q extends QuestionName> {
  /** The parameters that the route reads. */
  readonly names: readonly ParameterName<Q>[];
  /** The same as the documentation has them. */
  readonly parameters: readonly Parameter[];
  /** All that they can be refused with. */
  readonly refusals: readonly RejectionCode[];
}

export function describeQuestion<Q extends QuestionName>(question: Q): DescribedQuestion<Q> {
  const parameters = parametersOf(question).map(
    ({ name, description, schema, example }): Parameter => ({
      name,
      in: "query",
      description,
      schema,
      ...(example === undefined ? {} : { example }),
    }),
  );
  const names = parameters.map(({ name }) => name as ParameterName<Q>);
  return { names, parameters, refusals: [...refusalsOf(question), ...addressRefusals, "parameter_repeated"] };
}
