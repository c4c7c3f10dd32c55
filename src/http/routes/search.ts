// Search over HTTP.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../recorder.js";
import type { SearchAnswer } from "../contract.js";
import { jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { readQuery } from "../door/query.js";

export function searchRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/search", { config: { operation: searchOperation } }, (request): Promise<SearchAnswer> => {
    const { q = "", ...filters } = readQuery(request, searchQuestion.names);
    return recorder.search(q, filters);
  });
}

const searchQuestion = describeQuestion("search");

const searchOperation: Operation = {
  operationId: "search",
  tags: ["Search"],
  summary: "Find entries by what they say, newest first",
  description:
    "Case-insensitive substrings in any language. Filters, typed into `q` or given beside it, must all hold; without " +
    "terms they list. Raw records are searched only with `kind:raw`.",
  parameters: searchQuestion.parameters,
  responses: {
    200: { description: "A page of hits.", content: jsonContent(schemaNamed("SearchPage")) },
    ...refusals(...searchQuestion.refusals),
  },
};
