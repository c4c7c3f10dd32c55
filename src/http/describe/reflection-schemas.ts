// JSON schemas of what reflection answers.
import type { Schema } from "./operation.js";

const text: Schema = { type: "string" };
const count: Schema = { type: "integer", minimum: 0 };
const number: Schema = { type: "number" };
const flag: Schema = { type: "boolean" };
const time: Schema = { type: "string", format: "date-time" };
const entry_ids: Schema = { type: "array", items: text, description: "The entries it rests on, at most 100." };
const measured = { errors: count, low_confidence: count, failed_tool_calls: count };
const placed = { id: text, position: { type: "integer", minimum: 1 }, session_id: text, created_at: time };

export function reflectionSchemas(): { readonly [name: string]: Schema } {
  return {
    Reflection: object(
      {
        reviewed: { ...count, description: "How many entries were looked at." },
        users: { ...count, description: "What users said: their messages, and interactions." },
        responses: { ...count, description: "Messages of assistants, and interactions with a response." },
        errors: { ...count, description: "Entries of kind `error`." },
        low_confidence: object({
          count,
          items: list(object({ ...placed, confidence: number, text, entry_ids })),
        }),
        error_groups: list(object({ fingerprint: text, text, count, first_at: time, last_at: time, entry_ids })),
        topics: list(object({ word: text, count, entry_ids })),
        tools: list(tool()),
        decisions: list(object({ ...placed, decision: text, errors: count, entry_ids })),
        trend: trend(),
        insights: list(object({ text, entry_ids })),
        markdown: { ...text, description: "The same for people." },
        partial: { const: true, description: "The index is being rebuilt; older entries may be missing." },
      },
      ["partial"],
    ),
  };
}

function tool(): Schema {
  const counts = { calls: count, failures: count, failure_rate: number };
  const latency = { median_ms: number, p95_ms: number };
  return object(
    { tool: text, ...counts, ...latency, is_failing: flag, is_slow: flag, entry_ids },
    Object.keys(latency),
  );
}

function trend(): Schema {
  const direction = { type: "string", enum: ["up", "down", "same"] };
  const measure = { type: "string", enum: Object.keys(measured) };
  return object({
    before: object({ reviewed: count, users: count, responses: count, ...measured }),
    changes: list(object({ measure, now: count, before: count, direction, entry_ids })),
    timeline: list(object({ from: time, to: time, entries: count, errors: count, confidence: number }, ["confidence"])),
  });
}

function list(items: Schema): Schema {
  return { type: "array", items };
}

function object(properties: { readonly [name: string]: Schema }, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}
