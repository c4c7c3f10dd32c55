// Search over HTTP.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../../recorder/recorder.js";
import type { SearchAnswer, SessionHistoryAnswer } from "../contract.js";
import { jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { readQuery } from "../door/query.js";

export function searchRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/search", { config: { operation: searchOperation } }, (request): Promise<SearchAnswer> => {
    const { q = "", ...filters } = readQuery(request, searchQuestion.names);
    return recorder.search(q, filters);
  });

  app.get(
    "/session-history",
    { config: { operation: historyOperation } },
    async (request): Promise<SessionHistoryAnswer> => {
      const { query = "", ...filters } = readQuery(request, historyQuestion.names);
      return { text: await recorder.sessionHistory({ ...filters, query }) };
    },
  );
}

const searchQuestion = describeQuestion("search");
const historyQuestion = describeQuestion("session_history");

const searchOperation: Operation = {
  operationId: "search",
  tags: ["Search"],
  summary: "Find entries by what they say, newest first",
  description:
    "Case-insensitive substrings in any language. Filters, typed into `q` or given beside it, must all hold; without " +
    "terms they list. Without `kind` the conversation is looked through: interactions, responses, messages, tool calls, " +
    "errors, decisions, summaries of consolidations, feedback. All else is found with `kind`, and `elsewhere` says how " +
    "many matches lie there.",
  parameters: searchQuestion.parameters,
  responses: {
    200: { description: "A page of hits.", content: jsonContent(schemaNamed("SearchPage")) },
    ...refusals(...searchQuestion.refusals),
  },
};

const historyOperation: Operation = {
  operationId: "sessionHistory",
  tags: ["Search"],
  summary: "Find a phrase, as text for an agent",
  description:
    "The query is one phrase, whatever it contains; a line for each entry, newest first. Without `kind` only the " +
    "conversation is looked through, so memories that nobody accepted are not in it.",
  parameters: historyQuestion.parameters,
  responses: {
    200: {
      description: "The lines.",
      content: jsonContent({ type: "object", properties: { text: { type: "string" } } }),
    },
    ...refusals(...historyQuestion.refusals),
  },
};
