// The OpenAPI description of an operation, and of other routes in the same form.
import { Type } from "typebox";
import type { RejectionCode } from "../../../model/rejection.js";
import { type AnyOperation, type Body, pathParametersOf } from "../../../operations/operation.js";
import type { Input } from "../../../search/filters.js";
import {
  addressRefusals,
  bodyRefusals,
  jsonContent,
  type OpenApiOperation,
  type Parameter,
  refusals,
  type Schema,
  schemaNamed,
} from "./openapi-operation.js";

export const MARKDOWN = "text/markdown";

/** The description of a route that answers with a document. */
export type Described = Pick<
  AnyOperation,
  | ("name" | "tag" | "summary" | "description" | "route" | "input" | "missing" | "refusals")
  | ("output" | "example" | "answer_is" | "markdown" | "body" | "recorded")
>;

export function describeRoute(operation: Described): OpenApiOperation {
  const { name, tag, summary, description, input, body, missing } = operation;
  const { parameters, codes } = describeInput(input, pathParametersOf(operation));
  const gone = missing === undefined ? [] : ([`${missing}_not_found`] as const);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description,
    parameters,
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    responses: {
      ...describeAnswers(operation),
      ...refusals(...codes, ...operation.refusals, ...gone, ...(body === undefined ? queryRefusals : refusalsOf(body))),
    },
  };
}

/** The same as a POST that records the call, with the parameters in its body; undefined if it has none. */
export function describeNoted(operation: Described & Pick<AnyOperation, "note">): OpenApiOperation | undefined {
  const { note, input, route } = operation;
  if (note === undefined) return undefined;
  const properties = Object.entries(input).map(([name, { schema, description }]) => [name, { ...schema, description }]);
  const schema = Type.Unsafe({
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  });
  const described = describeRoute({
    ...operation,
    ...note,
    route: route.replace("GET", "POST") as Described["route"],
    input: {},
    body: { schema, is_required: false, form: "json", parse: (given: unknown) => given },
    refusals: [...operation.refusals, ...Object.values(input).flatMap(({ refusals }) => refusals)],
  });
  return described;
}

/** The parameters of a query, and all its possible errors. */
export function describeInput(
  input: Input,
  inPath: readonly string[] = [],
): { readonly parameters: readonly Parameter[]; readonly codes: readonly RejectionCode[] } {
  const parameters = Object.entries(input).map(([field, { description, schema, example }]): Parameter => {
    const known = { name: field, ...(example === undefined ? {} : { example }) };
    if (!inPath.includes(field)) return { ...known, in: "query", description, schema };
    const inAddress = { schema: { type: "string" }, description: `${description} Percent-encoded.` };
    return { ...known, ...inAddress, in: "path", required: true };
  });
  return { parameters, codes: Object.values(input).flatMap(({ refusals }) => refusals) };
}

function describeBody({ schema, example, is_required, form }: Body): NonNullable<OpenApiOperation["requestBody"]> {
  const lines = { "application/x-ndjson": { schema: { type: "string", description: "One entry per line." } } };
  const json = jsonContent(referTo(schema, {}) as Schema, example);
  return { required: is_required, content: form === "json_or_lines" ? { ...json, ...lines } : json };
}

function describeAnswers({ output, example, answer_is = "The answer.", recorded, markdown }: Described) {
  const content = (schema: unknown, example: unknown) => jsonContent(referTo(schema, {}) as Schema, example);
  const text = markdown === undefined ? {} : { [MARKDOWN]: { schema: { type: "string" } } };
  if (recorded === undefined)
    return { 200: { description: answer_is, content: { ...content(output, example), ...text } } };
  const described = Object.entries(recorded.outcomes).map(([status, outcome]) => {
    return [status, { description: outcome.description, content: content(outcome.output ?? output, outcome.example) }];
  });
  return Object.fromEntries(described);
}

/** Errors of every query. */
export const queryRefusals = [...addressRefusals, "parameter_repeated"] as const;

function refusalsOf({ is_required }: Body): (typeof bodyRefusals)[number][] {
  return bodyRefusals.filter((code) => is_required || code !== "body_missing");
}

/** The schemas of inputs and answers by name, including named ones inside others. */
export function namedSchemas(described: readonly Described[]): { readonly [name: string]: Schema } {
  const found: { [name: string]: Schema } = {};
  for (const { output, body, recorded } of described) {
    const outcomes = Object.values(recorded?.outcomes ?? {}).map((outcome) => outcome.output);
    for (const schema of [output, body?.schema, ...outcomes]) referTo(schema, found);
  }
  return found;
}

/** A schema with a reference in place of each named one. */
function referTo(schema: unknown, found: { [name: string]: Schema }): unknown {
  if (Array.isArray(schema)) return schema.map((item) => referTo(item, found));
  if (typeof schema !== "object" || schema === null) return schema;
  const whole: Schema = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, referTo(part, found)]));
  const { title, ...rest } = whole;
  // A property may be called title, too.
  if (typeof title !== "string") return whole;
  found[title] = rest;
  return schemaNamed(title);
}
