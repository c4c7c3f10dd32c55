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
  const { name, tag, summary, description, input, missing, output, example } = operation;
  const inPath = pathParametersOf(operation);
  const parameters = Object.entries(input).map(([field, { description, schema, example }]): Parameter => {
    const known = { name: field, ...(example === undefined ? {} : { example }) };
    if (!inPath.includes(field)) return { ...known, in: "query", description, schema };
    const inAddress = { schema: { type: "string" }, description: `${description} Percent-encoded.` };
    return { ...known, ...inAddress, in: "path", required: true };
  });
  const codes = [...Object.values(input).flatMap(({ refusals }) => refusals), ...operation.refusals];
  const gone = missing === undefined ? [] : ([`${missing}_not_found`] as const);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description,
    parameters,
    responses: {
      200: {
        description: "The answer.",
        content: jsonContent(referTo(output, {}) as Schema, example),
      },
      ...refusals(...codes, ...gone, ...addressRefusals, "parameter_repeated"),
    },
  };
}

/** The schemas of what operations answer with, by their names; what has a name inside of another is named, too. */
export function outputSchemas(operations: readonly AnyOperation[]): { readonly [name: string]: Schema } {
  const found: { [name: string]: Schema } = {};
  for (const { output } of operations) referTo(output as Schema, found);
  return found;
}

/** A schema with a reference in place of each that has a name. */
function referTo(schema: unknown, found: { [name: string]: Schema }): unknown {
  if (Array.isArray(schema)) return schema.map((item) => referTo(item, found));
  if (typeof schema !== "object" || schema === null) return schema;
  const whole: Schema = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, referTo(part, found)]));
  const { title, ...rest } = whole;
  // Among properties one may be called title, too.
  if (typeof title !== "string") return whole;
  found[title] = rest;
  return schemaNamed(title);
}
