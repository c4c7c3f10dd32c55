// The timeline of a session: its entries by position.
import { type Rejection, reject } from "../model/rejection.js";
import { cursorOf } from "../search/cursor.js";
import { isGiven, limited, listLimit, type Parameter, parsePosition, switchParameter } from "../search/parameters.js";
import { sessionEntryPage } from "../sessions/session-summary.js";
import { sessionId, sessionOperand } from "./ids.js";
import { operation } from "./operation.js";

type Order = "asc" | "desc";

const order: Parameter<Order | string, Order> = {
  description: "By position: `asc`, the oldest first, or `desc`.",
  schema: { type: "string", enum: ["asc", "desc"], default: "asc" },
  flag: { name: "order", value: "order", says: "order of the timeline: asc (oldest first) or desc (asc)" },
  refusals: ["field_invalid"],
  parse: parseOrder,
};

const after: Parameter<number | string, number | undefined> = {
  description: "Start after this position, or before it with `order=desc`. A cursor takes precedence.",
  schema: { type: "integer", minimum: 0 },
  refusals: ["field_invalid"],
  is_view: true,
  parse: (value, { name }) => parsePosition(name, value),
};

export const listSessionEntries = operation({
  name: "listSessionEntries",
  tag: "Sessions",
  summary: "List a session's entries by position",
  description: "A session without entries gives an empty list.",
  scope: "read",
  route: "GET /sessions/:id/entries",
  tools: [],
  command: {
    operands: [sessionOperand],
    examples: [
      ["the last entries of a session", "hansard sessions cli:anna --order desc --limit 20"],
      ["its entries as JSON", "hansard sessions cli:anna --entries --json"],
      ["an id that starts with a dash", "hansard sessions -- -anna"],
    ],
  },
  input: {
    id: sessionId,
    order,
    excerpts: switchParameter({
      description: "`1` adds `response_excerpt` to interactions and responses: the first 2,000 characters, masked.",
      is_view: true,
    }),
    after,
    limit: limited(listLimit(100)),
    cursor: cursorOf<number>(1, ([position]) => ({ after: position as number })),
  },
  positional: ["id"],
  output: sessionEntryPage,
  missing: undefined,
  refusals: [],
  needs: "index_at_checkpoint",
  answer: ({ sessions }, { id, ...query }) => sessions.timeline({ session_id: id, ...query }),
});

function parseOrder(value: unknown): Order | Rejection {
  if (!isGiven(value)) return "asc";
  if (value === "asc" || value === "desc") return value;
  return reject({ code: "field_invalid", field: "order", message: "order must be asc or desc" });
}
