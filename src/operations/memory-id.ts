// How an operation names one memory.
import type { Parameter } from "../search/parameters.js";

/** Candidates for the examples to review, in addition to the one that an example proposes. */
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
