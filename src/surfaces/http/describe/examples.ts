// The examples of the documentation. They are typed, and a test sends them, so that none of them can be wrong.
import type { CompletionInput, EntryInput, InteractionInput } from "../../../model/entry.js";
import type { Receipt } from "../contract.js";

export const exampleId = "turn-1";
export const exampleSessionId = "cli:anna";

export const exampleInteraction = {
  id: exampleId,
  prompt: "Which port does the server listen on?",
  project: "atlas",
  session_id: exampleSessionId,
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
  { kind: "message", session_id: exampleSessionId, role: "user", content: "Is the build green?" },
  { kind: "tool_call", session_id: exampleSessionId, tool: "run", args: { command: "npm test" }, result: "412 passed" },
  { kind: "message", session_id: exampleSessionId, role: "assistant", content: "Yes, all 412 tests pass." },
  { kind: "decision", session_id: exampleSessionId, decision: "Release today", rationale: "Everything is green" },
] satisfies readonly EntryInput[];

export const exampleReceipt = {
  status: "recorded",
  id: exampleId,
  position: 1,
  created_at: "2026-11-15T06:39:37.123Z",
} satisfies Receipt;

/** The position is that of the answer, where the examples are run in order on an empty store. */
export const exampleConsolidation = { through: 5, summary: "The build is green." };

export const exampleClearReceipt = {
  status: "recorded",
  id: "019a85d2-7c1e-7000-8000-000000000008",
  position: 8,
  created_at: "2026-11-15T06:42:00.000Z",
} satisfies Receipt;

export const exampleMemory = {
  id: "ports",
  status: "candidate",
  source: "person",
  type: "project",
  project: "atlas",
  content: "The server of atlas listens on port 4747",
};

/** Beside the one above; a test that runs all examples has these waiting. */
export const exampleCandidates = ["indent", "units"] as const;
