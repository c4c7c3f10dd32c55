// What a model was given, over HTTP.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../../recorder/recorder.js";
import type { ContextAnswer, ToldAnswer } from "../contract.js";
import { entryIdParameter, entryNotFound } from "../describe/entry-address.js";
import { jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { readQuery } from "../door/query.js";

export function contextRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get<ById>(
    "/entries/:id/context",
    { config: { operation: contextOperation } },
    async (request): Promise<ContextAnswer> => {
      const { id } = request.params;
      const context = await recorder.context(id, readQuery(request, contextQuestion.names));
      if (context === undefined) throw entryNotFound(id);
      return context;
    },
  );

  app.get<ById>("/entries/:id/told", { config: { operation: toldOperation } }, async (request): Promise<ToldAnswer> => {
    const { id } = request.params;
    const { q = "" } = readQuery(request, toldQuestion.names);
    const told = await recorder.told(id, q);
    if (told === undefined) throw entryNotFound(id);
    return told;
  });
}

interface ById {
  Params: { readonly id: string };
}

const tags = ["Context"];
const contextQuestion = describeQuestion("context");
const toldQuestion = describeQuestion("told");

const contextOperation: Operation = {
  operationId: "getContext",
  tags,
  summary: "Get what a model was given for an answer",
  description:
    "Of an interaction or an assistant's message; of a tool call, an error or a decision, that of the answer it came from. " +
    "Exact where the request was recorded (`context_pack.messages`), else the session's history as it was then.",
  parameters: [entryIdParameter, ...contextQuestion.parameters],
  responses: {
    200: { description: "The context.", content: jsonContent(schemaNamed("Context")) },
    ...refusals("entry_not_found", "field_invalid", ...contextQuestion.refusals),
  },
};

const toldOperation: Operation = {
  operationId: "told",
  tags,
  summary: "Ask whether a text lay before the model when it answered",
  description:
    "Given, with where it stood; fallen out, with the last answer that was given it and what took it away; or never given in " +
    "the session.",
  parameters: [entryIdParameter, ...toldQuestion.parameters],
  responses: {
    200: { description: "The verdict.", content: jsonContent(schemaNamed("Told")) },
    ...refusals("entry_not_found", "field_invalid", ...toldQuestion.refusals),
  },
};
