// Bodies of every kind, as the log holds them, with whatever decides what the index derives from an entry.
import type { Kind } from "../../src/model/entry.js";
import type { JsonObject } from "../../src/model/json.js";

export interface SampleBody {
  readonly kind: Kind;
  readonly body: JsonObject & { readonly id: string };
}

const AT = "2026-11-14T10:00:00.000Z";
const LATER = "2026-11-14T10:00:09.500Z";
const labels = { session_id: "s:1", project: "atlas", client: "cli" };
const memory = { project: "atlas", created_at: AT, actor: "test" };

/** In order of position: the one at position n is `derivationSamples[n - 1]`. */
export const derivationSamples: readonly SampleBody[] = [
  {
    kind: "session_info",
    body: { id: "info", ...labels, created_at: AT, title: "First", metadata: { topic: "tests" }, parent: "s:0" },
  },
  {
    kind: "interaction",
    body: {
      id: "asked",
      ...labels,
      created_at: AT,
      prompt: "What is a Hansard?",
      memories_used: ["m1", "m1"],
      chunks_used: ["c1"],
      model: "model-1",
      extra: { message_id: "msg-1", request_id: "req-1" },
      context_pack: {
        system: [{ type: "text", text: "Be brief." }],
        tools: [{ name: "read", input_schema: { type: "object" } }],
        messages: [
          { role: "user", content: "What is a Hansard?" },
          { role: "assistant", content: [{ type: "tool_use", id: "t-1", name: "read", input: { path: "README.md" } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t-1", content: "A record." }] },
          "no object",
        ],
        files: ["README.md"],
      },
    },
  },
  {
    kind: "response",
    body: {
      id: "answered",
      ...labels,
      created_at: LATER,
      interaction_id: "asked",
      response: "The record of a parliament.",
      response_summary: "a record",
      memories_used: ["m2"],
      model: "model-1",
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  },
  {
    kind: "interaction",
    body: { id: "whole", created_at: AT, prompt: "And who keeps it?", response: "Its reporters.", usage: { total: 1 } },
  },
  { kind: "interaction", body: { id: "broken", created_at: AT, prompt: "Again?", error: "overloaded" } },
  { kind: "interaction", body: { id: "waiting", created_at: AT, prompt: "Anybody?", context_pack: {} } },
  { kind: "response", body: { id: "failed-late", created_at: LATER, interaction_id: "waiting", error: "timeout" } },
  { kind: "response", body: { id: "orphan", created_at: LATER, interaction_id: "nobody's", response: "To whom?" } },
  {
    kind: "message",
    body: { id: "said", ...labels, created_at: AT, role: "human", content: "ÉCOLE, ﬁne, 한국어 and 🙂", name: "Ada" },
  },
  {
    kind: "message",
    body: {
      id: "unsure",
      ...labels,
      created_at: AT,
      role: "assistant",
      content: [
        { type: "text", text: "Perhaps." },
        { type: "thinking", thinking: "Is it?" },
        { type: "image", source: { type: "base64", data: "AAAA" } },
        { type: "tool_use", id: "t-1", name: "read", input: { path: "README.md", lines: [1, 2] } },
      ],
      tool_calls: [{ id: "call-1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }],
      confidence: 0.25,
      extra: { model: "model-2", message_id: "msg-2", usage: { input_tokens: 7, output_tokens: 3 } },
    },
  },
  {
    kind: "message",
    body: {
      id: "continued",
      ...labels,
      created_at: LATER,
      role: "assistant",
      content: "Yes.",
      extra: { model: "model-2", continues: "unsure", usage: { input_tokens: 1, output_tokens: 2 } },
    },
  },
  { kind: "message", body: { id: "ruled", ...labels, created_at: AT, role: "system", content: "Be kind." } },
  {
    kind: "tool_call",
    body: {
      id: "ran",
      ...labels,
      created_at: AT,
      tool: "read",
      args: { path: "README.md" },
      result: { text: "whole\nresult", lines: 2, isWhole: true, none: null },
      tool_call_id: "call-1",
    },
  },
  { kind: "tool_call", body: { id: "ran-badly", created_at: AT, tool: "bash", result: "exit 1", is_error: true } },
  { kind: "error", body: { id: "failed", created_at: AT, error: "ENOENT: README.md", context: "while reading" } },
  { kind: "decision", body: { id: "decided", ...labels, created_at: AT, decision: "read again", rationale: "moved" } },
  {
    kind: "consolidation",
    body: {
      id: "condensed",
      ...labels,
      created_at: LATER,
      through: 5,
      summary: "asked",
      extra: { usage: { input_tokens: 9, output_tokens: 3 } },
    },
  },
  { kind: "clear", body: { id: "cleared", ...labels, created_at: LATER } },
  { kind: "withdrawal", body: { id: "withdrawn", ...labels, created_at: LATER, withdraws: 18 } },
  { kind: "feedback", body: { id: "liked", created_at: LATER, entry_id: "asked", score: 1, comment: "Good." } },
  { kind: "feedback", body: { id: "disliked", created_at: LATER, entry_id: "unsure", score: -1, label: "vague" } },
  {
    kind: "session_info",
    body: { id: "renamed", session_id: "s:1", created_at: LATER, title: "", metadata: { n: 1 } },
  },
  {
    kind: "raw",
    body: { id: "imported", created_at: AT, source: "tool", record: { type: "unknown", "": [null, -1.5] } },
  },
  { kind: "audit", body: { id: "noted", created_at: AT, action: "export", actor: "test", target: "all" } },
  {
    kind: "memory_proposed",
    body: {
      id: "m1",
      ...memory,
      type: "preference",
      content: "Answers are brief.",
      source: "explicit",
      generation: "g1",
      confidence: 0.75,
      tags: ["style"],
      valid_until: "2027-01-01",
      cites: "some",
      similar_to: ["m0"],
      conflicts_with: [],
    },
  },
  {
    kind: "memory_proposed",
    body: { id: "m2", ...memory, type: "fact", content: "A Hansard is a record.", source: "rules", tags: [] },
  },
  {
    kind: "memory_edited",
    body: {
      id: "quoted",
      ...memory,
      memory_id: "m1",
      content: "Answers stay brief.",
      evidence: [{ entry_id: "ruled", quote: "Be kind." }],
      said_by: "user",
      said_in: "s:1",
      said_at: AT,
    },
  },
  { kind: "memory_promoted", body: { id: "promoted", ...memory, memory_id: "m1", reason: "reviewed" } },
  {
    kind: "memory_reinforced",
    body: {
      id: "reinforced",
      ...memory,
      turn_id: "asked",
      memories: [
        { memory_id: "m1", given: true, used: true, confirmed: true },
        { memory_id: "m2", given: true },
      ],
    },
  },
  { kind: "memory_rejected", body: { id: "rejected", ...memory, memory_id: "m2", reason: "known" } },
  {
    kind: "memory_superseded",
    body: { id: "superseded", ...memory, memory_id: "m1", superseded_by: "m2", status_before: "active", reason: "" },
  },
  { kind: "error", body: { id: "forgotten", ...labels, created_at: AT, error: "secret" } },
  { kind: "redaction", body: { id: "redacted", created_at: LATER, positions: [32], reason: "asked for" } },
  {
    kind: "message",
    body: {
      id: "handed",
      ...labels,
      created_at: LATER,
      role: "user",
      content: "AGENTS.md: be brief",
      injected: "file",
    },
  },
  {
    kind: "raw",
    body: {
      ...{ id: "sent", ...labels, created_at: LATER, source: "agent", record: { type: "request" } },
      extra: { given: { messages: [{ role: "user", content: "Survey." }] } },
    },
  },
  {
    kind: "message",
    body: {
      ...{ id: "sent-answer", ...labels, created_at: LATER, role: "assistant", content: "Surveyed." },
      extra: { given_in: "sent", model: "model-2", usage: { input_tokens: 3, output_tokens: 1 } },
    },
  },
  {
    kind: "raw",
    body: {
      ...{ id: "spent", ...labels, created_at: LATER, source: "agent", record: { type: "total" } },
      extra: { model: "model-2", usage: { input_tokens: 9, output_tokens: 2 } },
    },
  },
  {
    kind: "tool_call",
    body: {
      ...{ id: "labelled", ...labels, created_at: LATER, tool: "read" },
      ...{ user_id: "anna", tags: ["nightly", "long"], parent_id: "sent-answer" },
    },
  },
];
