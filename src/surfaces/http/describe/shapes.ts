// The small parts that schemas of answers are made of.
import type { Schema } from "./operation.js";

export const text: Schema = { type: "string" };
export const count: Schema = { type: "integer", minimum: 0 };

/** All properties are always there but those that are named as optional. */
export function object(properties: { readonly [name: string]: Schema }, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}
