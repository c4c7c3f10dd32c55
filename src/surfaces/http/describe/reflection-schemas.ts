// JSON schemas of what reflection answers.
import type { Schema } from "./operation.js";
import { count, listOf, object, pageEnd, text, time } from "./shapes.js";

const number: Schema = { type: "number" };
const flag: Schema = { type: "boolean" };
const entry_ids: Schema = { ...listOf(text), description: "The entries it rests on, at most 100." };
const measured = { errors: count, low_confidence: count, failed_tool_calls: count };
const placed = { id: text, position: { type: "integer", minimum: 1 }, session_id: text, created_at: time };

export function reflectionSchemas(): { readonly [name: string]: Schema } {
  return {
    Reflection: object(
      {
        reviewed: { ...count, description: "How many entries were looked at." },
        users: { ...count, description: "What users said: their messages, and interactions." },
        responses: { ...count, description: "Messages of assistants, and interactions with a response." },
        errors: { ...count, description: "Entries of kind `error`, and interactions that failed." },
        passed_over: { ...count, description: "Entries of other kinds among them." },
        low_confidence: object({
          count,
          items: listOf(object({ ...placed, confidence: number, text, entry_ids })),
        }),
        confidence: object({
          rated: { ...count, description: "Messages of assistants that have one." },
          tenths: { ...listOf(count), description: "How many lie below 0.1, from there below 0.2, and so on." },
        }),
        error_groups: listOf(object({ fingerprint: text, text, count, first_at: time, last_at: time, entry_ids })),
        topics: listOf(object({ word: text, count, entry_ids })),
        tools: listOf(tool()),
        disliked: object({
          count,
          items: listOf(object({ ...placed, text, comment: text, label: text, score: number, entry_ids })),
        }),
        decisions: listOf(object({ ...placed, decision: text, errors: count, entry_ids })),
        trend: trend(),
        insights: listOf(object({ text, entry_ids })),
        markdown: { ...text, description: "The same for people." },
        partial: pageEnd.partial,
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
    changes: listOf(object({ measure, now: count, before: count, direction, entry_ids })),
    timeline: listOf(
      object({ from: time, to: time, entries: count, errors: count, confidence: number }, ["confidence"]),
    ),
  });
}
