// A session as a whole: its title, its labels, and how much is in it.
import { type SessionSummary, sessionSummary } from "../sessions/session-summary.js";
import { sessionId, sessionOperand } from "./ids.js";
import { operation } from "./operation.js";

export const exampleSession: SessionSummary = {
  session_id: "cli:anna",
  title: "Release",
  metadata: { branch: "main" },
  parent: "",
  first_at: "2026-11-15T06:39:37.123Z",
  last_at: "2026-11-15T06:41:02.004Z",
  projects: ["atlas"],
  clients: ["my-agent"],
  entries: 6,
  messages: 2,
  tool_calls: 1,
  errors: 0,
  decisions: 1,
  interactions: 1,
  consolidated_through: 0,
};

export const getSession = operation({
  name: "getSession",
  tag: "Sessions",
  summary: "Get one session",
  description: "Title, metadata and parent come from its `session_info` entries; counts are by kind.",
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
  answer: ({ sessions }, { id }) => sessions.summary(id),
});
