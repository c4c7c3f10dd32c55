// The tree of a session: what was made for what, and what it took.
import { sessionTree } from "../sessions/session-tree.js";
import { sessionId } from "./ids.js";
import { operation } from "./operation.js";

export const getTree = operation({
  name: "getTree",
  tag: "Sessions",
  summary: "Get the calls, tools and subagents of a session as a tree, with time, tokens and cost added up",
  description:
    "An entry is inside of the one that its `parent_id` names; without one, a tool call is inside of the answer that called it, and a " +
    "child session inside of the tool that ran when it began. What names a missing parent, or one below itself, is a root. " +
    "`total.duration_ms` adds up what was recorded, also where calls ran at the same time or inside of each other.",
  scope: "read",
  route: "GET /sessions/:id/tree",
  tools: [],
  command: undefined,
  input: { id: sessionId },
  positional: ["id"],
  output: sessionTree,
  example: {
    roots: [
      {
        entry_id: "019a85b2-6f3e-7c51-9d0a-3f4c5b6a7d8e",
        kind: "interaction",
        title: "Is the build green?",
        duration_ms: 1_200,
        tokens: 876,
        cost: 0.0034,
        total: { duration_ms: 1_550, tokens: 876, cost: 0.0034 },
        children: [
          {
            entry_id: "019a85b2-7a10-7b02-8e1f-5d6c7b8a9f01",
            kind: "tool_call",
            title: "run_tests",
            duration_ms: 350,
            tokens: 0,
            cost: null,
            total: { duration_ms: 350, tokens: 0, cost: null },
            children: [],
          },
        ],
      },
    ],
  },
  missing: "session",
  refusals: [],
  needs: "index_at_head",
  answer: ({ sessions }, { id }) => sessions.tree(id),
});
