// JSON schemas of tools: arguments from the tables of questions and kinds, answers from what HTTP documents.
import type { AnyOperation } from "../../operations/operation.js";
import type { JsonSchema, Schemas } from "./tool.js";

type Properties = { readonly [name: string]: JsonSchema };

export const cursorProperty: JsonSchema = {
  type: "string",
  description: "`next_cursor` of the previous answer, with the same arguments.",
};

export const nextCursor: JsonSchema = {
  type: ["string", "null"],
  description: "Pass it as `cursor` for the next page; null on the last.",
};

/** The arguments of an operation. */
export function operationInput({ input }: Pick<AnyOperation, "input">) {
  const properties: Properties = Object.fromEntries(
    Object.entries(input).map(([name, { schema, description }]) => [name, { ...schema, description }]),
  );
  return { type: "object", properties, required: [] as readonly string[], additionalProperties: false } as const;
}

/** The fields of a body as they are given, but for some; what it refers to stands in it. */
export function sentInput(schemas: Schemas, schemaName: string, without: readonly string[]): JsonSchema {
  const { properties, required, ...rest } = schemas[schemaName] as {
    readonly properties: Properties;
    readonly required: readonly string[];
  };
  const fields = Object.entries(properties).filter(([name]) => !without.includes(name));
  return {
    ...rest,
    properties: resolved(Object.fromEntries(fields), schemas),
    required: required.filter((name) => !without.includes(name)),
  };
}

function resolved(schema: unknown, schemas: Schemas): unknown {
  return JSON.parse(JSON.stringify(schema), (_, part) => {
    const [name] = typeof part?.$ref === "string" ? referencesOf(part) : [];
    return name === undefined ? part : schemas[name];
  });
}

/** A schema that stands alone: what it refers to comes with it. */
export function answerOutput(schemas: Schemas, schemaName: string): JsonSchema {
  const known = { ...schemas, ...lean(schemas) };
  const named = new Set<string>();
  const gather = (name: string): void => {
    if (named.has(name)) return;
    named.add(name);
    for (const other of referencesOf(known[name])) gather(other);
  };
  const root = known[schemaName];
  for (const name of referencesOf(root)) gather(name);
  const document = { ...root, $defs: Object.fromEntries([...named].map((name) => [name, known[name]])) };
  return JSON.parse(JSON.stringify(document).replaceAll("#/components/schemas/", "#/$defs/"));
}

/** What all kinds have in common: a schema of each kind would be longer than most answers. */
export function envelopeOf(schemas: Schemas): { readonly properties: Properties; readonly required: string[] } {
  const { properties, required } = schemas.ErasedEntry as { properties: Properties; required: readonly string[] };
  const { erased: _, ...envelope } = properties;
  return { properties: envelope, required: required.filter((name) => name !== "erased") };
}

function lean(schemas: Schemas): Schemas {
  const envelope = { type: "object", ...envelopeOf(schemas), description: "The envelope, and the fields of its kind." };
  const text = { type: "string" };
  const listed = {
    ...envelope,
    description:
      "The envelope, and the fields of its kind; only the envelope and `altered` if it does not match its hash.",
  };
  const memory = {
    type: "object",
    properties: { id: text, type: text, content: text, project: text, status: text, confidence: { type: "number" } },
    required: ["id", "type", "content", "project", "status", "confidence"],
  };
  return { Entry: envelope, EntrySummary: envelope, ListedEntry: listed, Memory: memory };
}

function referencesOf(schema: unknown): readonly string[] {
  const found = (JSON.stringify(schema) ?? "").matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  return [...found].map(([, name]) => name as string);
}
