// What the routes of sessions take and give: the parameter that names a session, and JSON schemas.
import { reasoningFields } from "../../../model/content.js";
import { exampleSessionId } from "./examples.js";
import { type Parameter, type Schema, schemaNamed } from "./operation.js";
import { count, listOf, object, pageEnd, text, time } from "./shapes.js";

const labels = listOf(text);
const content: Schema = { oneOf: [text, listOf({ type: "object" })] };

const reasoning = Object.fromEntries(
  reasoningFields.map((name) => [name, { description: "With `include=reasoning`, as it was recorded." }]),
);

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
    SessionSummary: object({
      session_id: text,
      title: text,
      metadata: { type: "object" },
      parent: { ...text, description: "The session that this one came from." },
      first_at: time,
      last_at: time,
      projects: labels,
      clients: labels,
      entries: { ...count, description: "Entries of every kind." },
      messages: count,
      tool_calls: count,
      errors: count,
      decisions: count,
      interactions: count,
      consolidated_through: { ...count, description: "0 without a consolidation." },
    }),
    SessionPage: object({ sessions: listOf(schemaNamed("SessionSummary")), ...pageEnd }, ["partial"]),
    History: { oneOf: [schemaNamed("OpenAiHistory"), schemaNamed("AnthropicHistory")] },
    OpenAiHistory: {
      ...object({
        messages: listOf(
          object(
            {
              role: { type: "string", enum: ["system", "user", "assistant", "tool"] },
              content,
              tool_calls: { ...listOf({ type: "object" }), minItems: 1 },
              tool_call_id: text,
              name: text,
              ...reasoning,
            },
            ["tool_calls", "tool_call_id", "name", ...Object.keys(reasoning)],
          ),
        ),
      }),
      additionalProperties: false,
    },
    AnthropicHistory: {
      ...object({
        system: text,
        messages: listOf(object({ role: { type: "string", enum: ["user", "assistant"] }, content })),
      }),
      additionalProperties: false,
    },
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
