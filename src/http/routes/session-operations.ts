// What the routes of sessions say about themselves in the documentation.
import {
  exampleClearReceipt,
  exampleConsolidation,
  exampleHistory,
  exampleSessionId,
  exampleSessionSummary,
} from "../describe/examples.js";
import { describeParameters } from "../describe/list-parameters.js";
import {
  bodyRefusals,
  jsonContent,
  type Operation,
  type Parameter,
  refusals,
  schemaNamed,
} from "../describe/operation.js";

export const listNames = ["project", "client", "limit", "cursor"] as const;
export const timelineNames = ["order", "limit", "cursor"] as const;
export const historyNames = ["max_messages", "max_tokens", "format", "include_pending"] as const;

const tags = ["Sessions"];

const idParameter: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The session's id, percent-encoded: `a/b` is written `a%2Fb`. It is kept exactly.",
  schema: { type: "string" },
  example: exampleSessionId,
};

const parameterRefusals = ["parameter_unknown", "parameter_repeated"] as const;

export const listOperation: Operation = {
  operationId: "listSessions",
  tags,
  summary: "List sessions, the one with the newest entry first",
  description:
    "With filters, those that hold an entry with the label. `next_cursor` reaches every session exactly once, also " +
    "while entries arrive: the list stays as it was at its first page.",
  parameters: describeParameters(listNames),
  responses: {
    200: {
      description: "A page of sessions.",
      content: jsonContent(schemaNamed("SessionPage"), { sessions: [exampleSessionSummary], next_cursor: null }),
    },
    ...refusals("label_invalid", "limit_invalid", "cursor_invalid", ...parameterRefusals),
  },
};

export const getOperation: Operation = {
  operationId: "getSession",
  tags,
  summary: "Get what is known of a session as a whole",
  description: "Title, metadata and parent come from its `session_info` entries; counts are by kind.",
  parameters: [idParameter],
  responses: {
    200: { description: "The summary.", content: jsonContent(schemaNamed("SessionSummary"), exampleSessionSummary) },
    ...refusals("session_id_invalid", "session_not_found", "parameter_unknown"),
  },
};

export const timelineOperation: Operation = {
  operationId: "listSessionEntries",
  tags,
  summary: "List a session's entries by position",
  description: "A session that has no entry yet gives an empty list.",
  parameters: [
    idParameter,
    {
      name: "order",
      in: "query",
      description: "`asc`, the oldest first, or `desc`.",
      schema: { type: "string", enum: ["asc", "desc"], default: "asc" },
    },
    ...describeParameters(["limit", "cursor"]).map((parameter) =>
      parameter.name === "limit" ? { ...parameter, schema: { type: "number", default: 100 } } : parameter,
    ),
  ],
  responses: {
    200: { description: "A page of entries.", content: jsonContent(schemaNamed("EntryPage")) },
    ...refusals("session_id_invalid", "field_invalid", "limit_invalid", "cursor_invalid", ...parameterRefusals),
  },
};

export const historyOperation: Operation = {
  operationId: "getHistory",
  tags,
  summary: "Get a session as model input",
  description:
    "The messages after the last clear and consolidation, repaired so that a provider takes them: every call has its " +
    "result, and the first message after the system's is a user's. A session that has no entry yet gives an empty list.",
  parameters: [
    idParameter,
    {
      name: "max_messages",
      in: "query",
      description: "The newest so many, from a user's turn on; system messages do not count. Zero or less gives none.",
      schema: { type: "number", default: 500 },
      example: 20,
    },
    {
      name: "max_tokens",
      in: "query",
      description: "As many whole turns as fit, the newest.",
      schema: { type: "number" },
    },
    {
      name: "format",
      in: "query",
      description: "`openai`, or `anthropic` with the system text apart.",
      schema: { type: "string", enum: ["openai", "anthropic"], default: "openai" },
    },
    {
      name: "include_pending",
      in: "query",
      description: "Keeps calls of the last message that have no result yet.",
      schema: { type: "boolean", default: false },
    },
  ],
  responses: {
    200: { description: "The messages.", content: jsonContent(schemaNamed("History"), exampleHistory) },
    ...refusals("session_id_invalid", "field_invalid", "limit_invalid", ...parameterRefusals),
  },
};

export const consolidateOperation: Operation = {
  operationId: "consolidateSession",
  tags,
  summary: "Leave the older part of a session out of its history",
  description:
    "`through` is the position of one of its entries. It moves down to the end of a complete turn, and the answer " +
    "has where that is. What would move nothing adds no entry. Everything stays in the log.",
  parameters: [idParameter],
  requestBody: { required: true, content: jsonContent(schemaNamed("NewConsolidation"), exampleConsolidation) },
  responses: {
    200: {
      description: "Through where the session is consolidated now; 0 where no turn is complete yet.",
      content: jsonContent(schemaNamed("Consolidation"), { through: exampleConsolidation.through }),
    },
    ...refusals("session_id_invalid", "consolidation_backwards", ...bodyRefusals),
  },
};

export const clearOperation: Operation = {
  operationId: "clearSession",
  tags,
  summary: "Start a session's history anew",
  description: "Adds a marker; everything before it stays in the log. The body may be left out.",
  parameters: [idParameter],
  requestBody: { required: false, content: jsonContent(schemaNamed("NewClear")) },
  responses: {
    201: { description: "Recorded.", content: jsonContent(schemaNamed("Receipt"), exampleClearReceipt) },
    200: { description: "The marker with this id was recorded before.", content: jsonContent(schemaNamed("Receipt")) },
    ...refusals(
      ...(["session_id_invalid", "id_invalid", "label_invalid", "time_invalid"] as const),
      ...bodyRefusals.filter((code) => code !== "body_missing"),
    ),
  },
};
