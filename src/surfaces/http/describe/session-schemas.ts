// What the routes of sessions take and give: the parameter that names a session, and JSON schemas.
import { exampleSessionId } from "./examples.js";
import type { Parameter, Schema } from "./operation.js";
import { count, object } from "./shapes.js";

export const sessionIdParameter: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The session's id, percent-encoded: `a/b` is written `a%2Fb`. It is kept exactly.",
  schema: { type: "string" },
  example: exampleSessionId,
};

export function sessionSchemas(): { readonly [name: string]: Schema } {
  return {
    NewConsolidation: {
      ...object(
        {
          through: { type: "integer", minimum: 1, description: "Position of one of the session's entries." },
          summary: {
            type: ["string", "null"],
            description: "What the consolidated part said; history gives it to the model.",
          },
          trigger: { type: ["string", "null"], description: "Why it is consolidated." },
          tokens_before: {
            type: ["integer", "null"],
            minimum: 0,
            description: "How many tokens the context had before.",
          },
        },
        ["summary", "trigger", "tokens_before"],
      ),
      additionalProperties: false,
    },
    Consolidation: object({ through: count }),
  };
}
