// A session in memory that holds the given entries, and short forms for the messages that tests about history record.
import type { EntryInput, Session } from "../../src/index.js";
import { memoryRecorder } from "./memory-recorder.js";

export interface SessionEntry {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** In order: the first entry has position 1. */
export async function recordedSession(...entries: readonly SessionEntry[]): Promise<Session> {
  const { recorder } = memoryRecorder();
  if (entries.length > 0) await recorder.append(entries.map((entry) => ({ session_id: "s", ...entry }) as EntryInput));
  return recorder.session("s");
}

export function user(content: unknown): SessionEntry {
  return { kind: "message", role: "user", content };
}

export function assistant(content: unknown, ...callIds: readonly string[]): SessionEntry {
  const tool_calls = callIds.map((id) => call(id));
  return { kind: "message", role: "assistant", content, ...(tool_calls.length === 0 ? {} : { tool_calls }) };
}

export function call(id: string, args = "{}"): object {
  return { id, type: "function", function: { name: "read", arguments: args } };
}

export function result(tool_call_id: string, content: unknown = `result of ${tool_call_id}`): SessionEntry {
  return { kind: "message", role: "tool", content, tool_call_id };
}

export function system(content: unknown): SessionEntry {
  return { kind: "message", role: "system", content };
}
