// Sessions over HTTP: list, summary, timeline, history as model input.

import type { FastifyInstance } from "fastify";
import { notFound } from "../../../model/not-found.js";
import { RecorderError } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { EntryPage, HistoryAnswer, SessionAnswer, SessionPage } from "../contract.js";
import { exampleHistory, exampleSessionSummary } from "../describe/examples.js";
import { addressRefusals, jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { sessionIdParameter } from "../describe/session-schemas.js";
import { readQuery, refuseQuery } from "../door/query.js";

export function sessionRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/sessions", { config: { operation: listOperation } }, (request): Promise<SessionPage> => {
    return recorder.listSessions(readQuery(request, listQuestion.names));
  });

  app.get<ById>("/sessions/:id", { config: { operation: getOperation } }, async (request): Promise<SessionAnswer> => {
    refuseQuery(request);
    const session = recorder.session(request.params.id);
    const summary = await session.summary();
    if (summary === undefined) throw sessionNotFound(session.id);
    return summary;
  });

  app.get<ById>(
    "/sessions/:id/entries",
    { config: { operation: timelineOperation } },
    async (request): Promise<EntryPage> => {
      return recorder.session(request.params.id).entries(readQuery(request, timelineQuestion.names));
    },
  );

  app.get<ById>(
    "/sessions/:id/history",
    { config: { operation: historyOperation } },
    async (request): Promise<HistoryAnswer> => {
      const history = await recorder.session(request.params.id).history(readQuery(request, historyQuestion.names));
      return "messages" in history ? history : { messages: history };
    },
  );
}

interface ById {
  Params: { readonly id: string };
}

function sessionNotFound(id: string): RecorderError {
  const hint = "GET /sessions lists them. Ids are kept exactly, and percent-encoded in addresses.";
  return new RecorderError(notFound("session", id, { hint }));
}

const tags = ["Sessions"];
const listQuestion = describeQuestion("sessions");
const timelineQuestion = describeQuestion("timeline");
const historyQuestion = describeQuestion("history");

const listOperation: Operation = {
  operationId: "listSessions",
  tags,
  summary: "List sessions, the one with the latest `last_at` first",
  description:
    "With filters, those that hold an entry with the label. `next_cursor` reaches every session exactly once, also " +
    "while entries arrive: the list stays as it was at its first page.",
  parameters: listQuestion.parameters,
  responses: {
    200: {
      description: "A page of sessions.",
      content: jsonContent(schemaNamed("SessionPage"), { sessions: [exampleSessionSummary], next_cursor: null }),
    },
    ...refusals(...listQuestion.refusals),
  },
};

const getOperation: Operation = {
  operationId: "getSession",
  tags,
  summary: "Get what is known of a session as a whole",
  description: "Title, metadata and parent come from its `session_info` entries; counts are by kind.",
  parameters: [sessionIdParameter],
  responses: {
    200: { description: "The summary.", content: jsonContent(schemaNamed("SessionSummary"), exampleSessionSummary) },
    ...refusals("session_id_invalid", "session_not_found", ...addressRefusals),
  },
};

const timelineOperation: Operation = {
  operationId: "listSessionEntries",
  tags,
  summary: "List a session's entries by position",
  description: "A session that has no entry yet gives an empty list.",
  parameters: [sessionIdParameter, ...timelineQuestion.parameters],
  responses: {
    200: { description: "A page of entries.", content: jsonContent(schemaNamed("EntryPage")) },
    ...refusals("session_id_invalid", ...timelineQuestion.refusals),
  },
};

const historyOperation: Operation = {
  operationId: "getHistory",
  tags,
  summary: "Get a session as model input",
  description:
    "The messages after the last clear and consolidation, repaired so that a provider takes them: every call has its " +
    "result, and the first message after the system's is a user's. System messages and the newest consolidation's " +
    "summary stand in front. A session that has no entry yet gives an empty list.",
  parameters: [sessionIdParameter, ...historyQuestion.parameters],
  responses: {
    200: { description: "The messages.", content: jsonContent(schemaNamed("History"), exampleHistory) },
    ...refusals("session_id_invalid", "history_too_large", ...historyQuestion.refusals),
  },
};
