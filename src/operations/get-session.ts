// A session as a whole: its title, its labels, and how much is in it.
import { type SessionSummary, sessionSummary } from "../sessions/session-summary.js";
import { sessionId, sessionOperand } from "./ids.js";
import { operation } from "./operation.js";

export const exampleSession: SessionSummary = {
  session_id: "cli:anna",
  title: "Release",
  title_source: "given",
  metadata: { branch: "main" },
  parent: "",
  children: 0,
  first_at: "2026-11-15T06:39:37.123Z",
  last_at: "2026-11-15T06:41:02.004Z",
  projects: ["atlas"],
  project: "atlas",
  clients: ["my-agent"],
  users: [],
  tags: [],
  entries: 6,
  messages: 2,
  tool_calls: 1,
  errors: 0,
  failures: 0,
  decisions: 1,
  interactions: 1,
  turns: 2,
  files: 1,
  usage: {
    calls: 1,
    input_tokens: 812,
    output_tokens: 64,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
  },
  cost: 0.0034,
  cost_total: 0.0034,
  active_ms: 84881,
  outcome: "done",
  last_answer: "The build is green.",
  consolidated_through: 0,
};

export const getSession = operation({
  name: "getSession",
  tag: "Sessions",
  summary: "Get one session",
  description:
    "Title, metadata and parent come from its `session_info` entries; counts are by kind. Tokens have the same meaning as " +
    "in `GET /usage`, and each call counts once.",
  scope: "read",
  route: "GET /sessions/:id",
  tools: [],
  command: { operands: [sessionOperand] },
  input: { id: sessionId },
  positional: ["id"],
  output: sessionSummary,
  example: exampleSession,
  missing: "session",
  refusals: [],
  needs: "index_at_head",
  answer: ({ sessions }, { id, now_ms }) => sessions.summary(id, now_ms),
});
