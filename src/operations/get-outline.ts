// The outline of a session: what there is in it, without its entries.
import { sessionOutline } from "../sessions/session-outline.js";
import { sessionId } from "./ids.js";
import { operation } from "./operation.js";

export const getOutline = operation({
  name: "getOutline",
  tag: "Sessions",
  summary: "Get the outline of a session: turns, compactions, children, files, and a map",
  description:
    "Its size grows with the number of turns, about 60 bytes each and the words of the prompts, not with that of entries. Tool calls " +
    "count once, failures are errors, failed tool calls and failed interactions.",
  scope: "read",
  route: "GET /sessions/:id/outline",
  tools: [],
  command: undefined,
  input: { id: sessionId },
  positional: ["id"],
  output: sessionOutline,
  example: {
    session_id: "cli:anna",
    first_at: "2026-11-15T06:39:37.123Z",
    last_at: "2026-11-15T06:41:02.004Z",
    turns: {
      columns: ["position", "ms", "prompt", "tool_calls", "failures", "tokens", "cost", "active_ms"],
      rows: [[2, 1_200, "Is the build green?", 1, 0, 876, 0.0034, 83_681]],
    },
    breaks: [],
    children: [],
    children_count: 0,
    files: [{ path: "src/build.ts", reads: 1, writes: 0, last_position: 4 }],
    files_count: 1,
    by_kind: { message: 4, tool_call: 1, session_info: 1 },
    bins: {
      first_position: 1,
      positions: 1,
      columns: ["prompts", "answers", "calls", "failures", "decisions", "others"],
      rows: [
        [0, 0, 0, 0, 0, 1],
        [1, 0, 0, 0, 0, 0],
      ],
    },
  },
  missing: "session",
  refusals: [],
  needs: "index_at_head",
  answer: ({ sessions }, { id }) => sessions.outline(id),
});
