// The list of sessions.
import { cursorOf } from "../search/cursor.js";
import { sessionFiltersNamed } from "../search/filters.js";
import { limited, listLimit } from "../search/parameters.js";
import type { SessionsReached } from "../sessions/session-list.js";
import { sessionPage } from "../sessions/session-summary.js";
import { exampleSession } from "./get-session.js";
import { operation } from "./operation.js";

const cursor = cursorOf<SessionsReached>(3, (numbers) => {
  const [last_ms, position, as_of] = numbers as readonly [number, number, number];
  return { after: { last_ms, position, as_of } };
});

export const listSessions = operation({
  name: "listSessions",
  tag: "Sessions",
  summary: "List sessions, the one with the latest `last_at` first",
  description:
    "With filters: sessions with a matching entry. `next_cursor` reaches every session exactly once, also " +
    "while entries arrive: the list stays as it was at its first page.",
  scope: "read",
  route: "GET /sessions",
  tools: [],
  command: { examples: [["the most recent sessions", "hansard sessions"]] },
  input: { ...sessionFiltersNamed("project", "client"), limit: limited(listLimit(50), "sessions"), cursor },
  positional: [],
  output: sessionPage,
  example: { sessions: [exampleSession], next_cursor: null },
  missing: undefined,
  refusals: [],
  needs: "index_at_checkpoint",
  answer: ({ sessions }, query) => sessions.list(query),
});
