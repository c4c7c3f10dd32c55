// Usage over HTTP.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../../recorder/recorder.js";
import { jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { readQuery } from "../door/query.js";

export function usageRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/usage", { config: { operation: usageOperation } }, (request) =>
    recorder.usage(readQuery(request, usageQuestion.names)),
  );
}

const usageQuestion = describeQuestion("usage");

const usageOperation: Operation = {
  operationId: "usage",
  tags: ["Usage"],
  summary: "Sum up tokens and cost of calls to models",
  description:
    "What interactions, their responses and assistants' messages (`extra.usage`) say, each call once, although a " +
    "transcript, copies of it and the provider's bodies tell of it: `extra.message_id` and `extra.request_id` show that it " +
    "is the same. Tokens are summed up as their providers count them; `cost` takes their differences into account.",
  parameters: usageQuestion.parameters,
  responses: {
    200: { description: "The sums.", content: jsonContent(schemaNamed("Usage")) },
    ...refusals(...usageQuestion.refusals),
  },
};
