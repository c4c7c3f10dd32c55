// The small parts that schemas of answers are made of.
import type { Schema } from "./operation.js";

export const text: Schema = { type: "string" };
export const count: Schema = { type: "integer", minimum: 0 };
export const time: Schema = { type: "string", format: "date-time" };
export const timeOrNull: Schema = { type: ["string", "null"], format: "date-time" };

/** What every page of a list ends with; `partial` is there only while it is true. */
export const pageEnd = {
  next_cursor: { type: ["string", "null"], description: "Leads to the next page; null on the last one." },
  partial: { const: true, description: "The index is being rebuilt, and older entries may be missing." },
} satisfies { readonly [name: string]: Schema };

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

/** All properties are always there but those that are named as optional. */
export function object(properties: { readonly [name: string]: Schema }, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}
