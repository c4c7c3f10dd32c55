// The examples of the documentation. They are typed, and a test sends them, so that none of them can be wrong.
import type { CompletionInput, EntryInput, InteractionInput } from "../model/entry.js";
import type { Receipt } from "./contract.js";

export const exampleId = "turn-1";

export const exampleInteraction = {
  id: exampleId,
  prompt: "Which port does the server listen on?",
  project: "atlas",
  session_id: "cli:anna",
  client: "my-agent",
  memories_used: ["ports"],
  model: "some-model",
} satisfies InteractionInput;

export const exampleCompletion = {
  response: "4747, on 127.0.0.1 only.",
  usage: { input_tokens: 812, output_tokens: 11 },
  latency_ms: 640,
} satisfies CompletionInput;

export const exampleEntries = [
  { kind: "message", session_id: "cli:anna", role: "user", content: "Is the build green?" },
  { kind: "tool_call", session_id: "cli:anna", tool: "run", args: { command: "npm test" }, result: "412 passed" },
  { kind: "decision", session_id: "cli:anna", decision: "Release today", rationale: "Everything is green" },
] satisfies readonly EntryInput[];

export const exampleReceipt = {
  status: "recorded",
  id: exampleId,
  position: 1,
  created_at: "2026-11-15T06:39:37.123Z",
} satisfies Receipt;
