// What the OpenAPI document says of an operation.
import { type AnyOperation, pathParametersOf } from "../../../operations/operation.js";
import {
  addressRefusals,
  jsonContent,
  type Operation,
  type Parameter,
  refusals,
  type Schema,
  schemaNamed,
} from "./operation.js";

export function describeRoute(operation: AnyOperation): Operation {
  const { name, tag, summary, description, input, missing, output } = operation;
  const inPath = pathParametersOf(operation);
  const parameters = Object.entries(input).map(([field, { description, schema, example }]): Parameter => {
    const place = inPath.includes(field) ? ({ in: "path", required: true } as const) : ({ in: "query" } as const);
    return { name: field, ...place, description, schema, ...(example === undefined ? {} : { example }) };
  });
  const codes = [...Object.values(input).flatMap(({ refusals }) => refusals), ...operation.refusals];
  const gone = missing === undefined ? [] : ([`${missing}_not_found`] as const);
  const { title } = output as { readonly title?: string };
  return {
    operationId: name,
    tags: [tag],
    summary,
    description,
    parameters,
    responses: {
      200: {
        description: "The answer.",
        content: jsonContent(title === undefined ? { ...output } : schemaNamed(title)),
      },
      ...refusals(...codes, ...gone, ...addressRefusals, "parameter_repeated"),
    },
  };
}

/** The schemas of what operations answer with, by their names. */
export function outputSchemas(operations: readonly AnyOperation[]): { readonly [name: string]: Schema } {
  const named = operations.flatMap(({ output }) => {
    const { title } = output as { readonly title?: string };
    return title === undefined ? [] : [[title, { ...output }] as const];
  });
  return Object.fromEntries(named);
}
