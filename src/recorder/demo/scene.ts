// How a story is told: steps of a session in the order in which they happen, each taking its time.
import type { EntryInput } from "../../model/entry.js";

/** What happens next, and how many seconds after the last thing. */
export interface Step {
  readonly after_s: number;
  readonly entry: { readonly kind: EntryInput["kind"]; readonly [field: string]: unknown };
}

export interface Scene {
  readonly session_id: string;
  readonly project: string;
  readonly client: string;
  readonly title: string;
  /** Whose part it is, where it is a subagent's. */
  readonly parent?: string;
  /** How many days before the newest day of the story, and when on that day. */
  readonly days_ago: number;
  readonly at: string;
  readonly steps: readonly Step[];
}

export function user(content: string, after_s = 40): Step {
  return { after_s, entry: { kind: "message", role: "user", content } };
}

export function assistant(content: string, confidence?: number, after_s = 9): Step {
  const known = confidence === undefined ? {} : { confidence };
  // About what such an answer takes, with the history that goes before it.
  const usage = { input_tokens: 900 + content.length * 12, output_tokens: 20 + Math.ceil(content.length / 3) };
  const extra = { model: "claude-sonnet-4-5", usage };
  return { after_s, entry: { kind: "message", role: "assistant", content, extra, ...known } };
}

export function call(tool: string, args: object, result: unknown, duration_ms: number): Step {
  return { after_s: Math.ceil(duration_ms / 1000), entry: { kind: "tool_call", tool, args, result, duration_ms } };
}

export function failed(tool: string, args: object, result: unknown, duration_ms: number): Step {
  const { after_s, entry } = call(tool, args, result, duration_ms);
  return { after_s, entry: { ...entry, is_error: true } };
}

export function error(text: string, context = ""): Step {
  return { after_s: 1, entry: { kind: "error", error: text, context } };
}

export function decision(text: string, rationale: string, confidence = 0.85): Step {
  return { after_s: 6, entry: { kind: "decision", decision: text, rationale, confidence } };
}

/** A question and its answer in one, as services record them. */
export function interaction(fields: { readonly prompt: string; readonly [field: string]: unknown }): Step {
  return { after_s: 30, entry: { kind: "interaction", ...fields } };
}

export function feedback(entry_id: string, score: number, comment: string): Step {
  return { after_s: 50, entry: { kind: "feedback", entry_id, score, comment } };
}

/** The same step under an id that others can name. */
export function named(id: string, step: Step): Step {
  return { ...step, entry: { ...step.entry, id } };
}

export function clear(): Step {
  return { after_s: 20, entry: { kind: "clear" } };
}
