// How an operation names one memory.
import type { Parameter } from "../search/parameters.js";

/** What the examples decide upon beside the candidate that one of them proposes. */
export const exampleCandidates = ["indent", "units"] as const;

export function memoryId(example: string): Parameter<string, string> {
  return {
    description: "The id.",
    schema: { type: "string" },
    example,
    refusals: [],
    parse: (value) => String(value),
  };
}
