// Interactions over HTTP: list, get.
import type { FastifyInstance } from "fastify";
import { notFound, RecorderError } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { InteractionPage } from "../contract.js";
import {
  addressRefusals,
  jsonContent,
  type Operation,
  type Parameter,
  refusals,
  schemaNamed,
} from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { readQuery, refuseQuery } from "../door/query.js";
import { sendJson } from "../send-json.js";

export function interactionRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get("/interactions", { config: { operation: listOperation } }, (request): Promise<InteractionPage> => {
    return recorder.listInteractions(readQuery(request, listQuestion.names));
  });

  app.get<ById>("/interactions/:id", { config: { operation: getOperation } }, async (request, reply) => {
    refuseQuery(request);
    const { id } = request.params;
    const entry = await recorder.getEntryJson(id);
    if (entry?.kind !== "interaction") throw interactionNotFound(id);
    return sendJson(reply, entry.json);
  });
}

interface ById {
  Params: { readonly id: string };
}

function interactionNotFound(id: string): RecorderError {
  return new RecorderError(notFound("interaction", id, { hint: "GET /entries/{id} has entries of every kind." }));
}

const tags = ["Interactions"];
const idParameter: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The interaction's id, percent-encoded.",
  schema: { type: "string" },
  example: "turn-1",
};

const listQuestion = describeQuestion("interactions");

const listOperation: Operation = {
  operationId: "listInteractions",
  tags,
  summary: "List interactions, newest first",
  description:
    "Rows leave out `response` and `context_pack`, and have `response_chars` instead; with `full=1` they are whole " +
    "interactions, masked. `next_cursor` leads to the next " +
    "page and is null on the last one.",
  parameters: listQuestion.parameters,
  responses: {
    200: { description: "A page of interactions.", content: jsonContent(schemaNamed("InteractionPage")) },
    ...refusals(...listQuestion.refusals),
  },
};

const getOperation: Operation = {
  operationId: "getInteraction",
  tags,
  summary: "Get one interaction, whole",
  parameters: [idParameter],
  responses: {
    200: {
      description: "The interaction, with its response once it has one; of an erased one, what is left.",
      content: jsonContent({ oneOf: [schemaNamed("InteractionEntry"), schemaNamed("ErasedEntry")] }),
    },
    ...refusals("interaction_not_found", ...addressRefusals),
  },
};
