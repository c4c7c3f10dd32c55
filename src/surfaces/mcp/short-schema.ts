// Schemas as tools list them. All of them stand in front of a model before it has done anything, so they say no more than what
// a call needs: of arguments their types and what their names do not say, of answers the fields at the top.
import type { JsonSchema } from "./tool.js";

const WORDS_CHARS_MAX = 40;
/** Taken, and of no use to an agent. */
const UNLISTED = new Set(["client_run", "client_seq", "created_at", "extra", "injected", "response_summary"]);
/** Arguments whose names say it all. */
const PLAIN = new Set([
  ...["project", "session_id", "client", "user_id", "tag", "parent_id", "role", "tool", "model", "tags", "id"],
  ...["created_at", "client_run", "client_seq", "limit", "cursor", "extra", "until", "name", "content", "args"],
  ...["usage", "response", "error", "tool_call_id", "confidence", "tool_calls", "duration_ms", "is_error", "rationale"],
]);

export function shortInput(schema: JsonSchema): JsonSchema {
  return { type: "object", properties: shortProperties(schema, true), ...requiredOf(schema) };
}

export function shortOutput(schema: JsonSchema): JsonSchema {
  return { type: "object", properties: shortProperties(schema, false) };
}

function shortProperties({ properties }: JsonSchema, hasWords: boolean): JsonSchema {
  const known = Object.entries((properties ?? {}) as { readonly [name: string]: JsonSchema });
  const listed = known.filter(([name]) => !hasWords || !UNLISTED.has(name));
  return Object.fromEntries(listed.map(([name, property]) => [name, hasWords ? shortProperty(name, property) : {}]));
}

function shortProperty(name: string, property: JsonSchema): JsonSchema {
  const type = typeOf(property);
  const words = PLAIN.has(name) ? "" : firstWords(property.description);
  const isPlainText = PLAIN.has(name) && type === "string" && property.enum === undefined;
  return {
    ...(type === undefined || isPlainText ? {} : { type }),
    ...(Array.isArray(property.enum) ? { enum: property.enum } : {}),
    ...itemsOf(property),
    ...(words === "" ? {} : { description: words }),
  };
}

/** A field that may be null is given or left out. */
function typeOf({ type, anyOf }: JsonSchema): unknown {
  const types = Array.isArray(anyOf) ? anyOf.map((one: JsonSchema) => one.type) : [type].flat();
  const known = types.filter((one) => one !== undefined && one !== "null");
  if (known.length === 0) return undefined;
  return known.length === 1 ? known[0] : known;
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  const { properties, type, required } = (items ?? {}) as JsonSchema;
  if (properties !== undefined) {
    const shape = { type: "object", properties: shortProperties({ properties }, true) };
    return { items: { ...shape, ...requiredOf({ required }) } };
  }
  return typeof type === "string" ? { items: { type } } : {};
}

function requiredOf({ required }: JsonSchema): JsonSchema {
  return Array.isArray(required) && required.length > 0 ? { required } : {};
}

/** The first sentence, where it is short. */
function firstWords(description: unknown): string {
  const [sentence = ""] = typeof description === "string" ? description.split(/(?<=[.;:])\s/) : [];
  const plain = sentence.replace(/[.;:]$/, "");
  return plain.length <= WORDS_CHARS_MAX ? plain : `${plain.slice(0, WORDS_CHARS_MAX - 1).replace(/\s\S*$/, "")} …`;
}
