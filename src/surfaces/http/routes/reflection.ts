// Reflection over HTTP: as a document for programs, or as Markdown for whoever asks for that.
import type { FastifyInstance } from "fastify";
import Negotiator from "negotiator";
import type { Recorder } from "../../../recorder/recorder.js";
import { jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { readQuery } from "../door/query.js";

const MARKDOWN = "text/markdown";

export function reflectionRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/reflection", { config: { operation: reflectionOperation } }, async (request, reply) => {
    const report = await recorder.reflect(readQuery(request, reflectionQuestion.names));
    reply.header("vary", "Accept");
    // Who accepts neither gets JSON all the same, as from every other route.
    const wanted = new Negotiator(request.raw).mediaType(["application/json", MARKDOWN]);
    return wanted === MARKDOWN ? reply.type(`${MARKDOWN}; charset=utf-8`).send(report.markdown) : report;
  });
}

const reflectionQuestion = describeQuestion("reflection");

const reflectionOperation: Operation = {
  operationId: "reflect",
  tags: ["Reflection"],
  summary: "Look back at the newest entries of conversations",
  description:
    "Interactions, messages, tool calls, errors and decisions: low confidence, errors by what they have in common, " +
    "topics of users, failing and slow tools, decisions followed by errors, and how this compares with as many " +
    "entries before. Every finding cites its entries. With `Accept: text/markdown` the answer is the report's Markdown.",
  parameters: reflectionQuestion.parameters,
  responses: {
    200: {
      description: "What was found.",
      content: { ...jsonContent(schemaNamed("Reflection")), [MARKDOWN]: { schema: { type: "string" } } },
    },
    ...refusals(...reflectionQuestion.refusals),
  },
};
