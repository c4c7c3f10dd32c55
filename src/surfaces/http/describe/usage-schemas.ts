// JSON schemas of what usage answers.
import { tokenNames } from "../../../model/usage.js";
import { usageDivisions } from "../../../search/question-rules.js";
import type { Schema } from "./operation.js";
import { count, listOf, object, text } from "./shapes.js";

export function usageSchemas(): { readonly [name: string]: Schema } {
  const day: Schema = { type: "string", format: "date" };
  const divisions = Object.fromEntries(usageDivisions.map((name) => [name, name === "day" ? day : text]));
  const sums = {
    calls: { ...count, description: "Calls of which somebody says how many tokens they took." },
    ...Object.fromEntries(tokenNames.map((name) => [name, count])),
    cost: {
      type: "number",
      description: "In US dollars, of the calls whose prices are known; absent where none is.",
    },
  };
  return {
    Usage: object({
      by: listOf({ type: "string", enum: usageDivisions }),
      rows: listOf(object({ ...divisions, ...sums }, [...usageDivisions, "cost"])),
      total: object(sums, ["cost"]),
      unpriced: { ...listOf(text), description: 'Models whose prices are not known; `""` is calls that name none.' },
      prices: object({ source: text, version: text, date: day }, ["version"]),
      timezone: { const: "UTC", description: "The zone whose days these are." },
    }),
  };
}
