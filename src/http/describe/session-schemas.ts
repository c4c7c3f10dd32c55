// JSON schemas of what the routes of sessions take and give.
import { type Schema, schemaNamed } from "./operation.js";

const text: Schema = { type: "string" };
const count: Schema = { type: "integer", minimum: 0 };
const time: Schema = { type: "string", format: "date-time" };
const labels: Schema = { type: "array", items: text };
const content: Schema = { oneOf: [text, { type: "array", items: { type: "object" } }] };

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
    SessionPage: object(
      {
        sessions: { type: "array", items: schemaNamed("SessionSummary") },
        next_cursor: { type: ["string", "null"], description: "Leads to the next page; null on the last one." },
        partial: { const: true, description: "The index is being rebuilt, and older entries may be missing." },
      },
      ["sessions", "next_cursor"],
    ),
    History: { oneOf: [schemaNamed("OpenAiHistory"), schemaNamed("AnthropicHistory")] },
    OpenAiHistory: {
      ...object({
        messages: {
          type: "array",
          items: object(
            {
              role: { type: "string", enum: ["system", "user", "assistant", "tool"] },
              content,
              tool_calls: { type: "array", items: { type: "object" }, minItems: 1 },
              tool_call_id: text,
              name: text,
            },
            ["role", "content"],
          ),
        },
      }),
      additionalProperties: false,
    },
    AnthropicHistory: {
      ...object({
        system: text,
        messages: {
          type: "array",
          items: object({ role: { type: "string", enum: ["user", "assistant"] }, content }),
        },
      }),
      additionalProperties: false,
    },
    NewConsolidation: {
      ...object(
        {
          through: { type: "integer", minimum: 1, description: "Position of one of the session's entries." },
          summary: { type: ["string", "null"], description: "What the consolidated part said." },
        },
        ["through"],
      ),
      additionalProperties: false,
    },
    Consolidation: object({ through: count }),
  };
}

function object(properties: { readonly [name: string]: Schema }, required = Object.keys(properties)): Schema {
  return { type: "object", properties, required };
}
