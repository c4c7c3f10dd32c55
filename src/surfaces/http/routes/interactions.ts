// Interactions over HTTP: record, list, get, complete.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { EntryInput } from "../../../model/entry.js";
import { itemAt } from "../../../model/item-at.js";
import { notFound, RecorderError } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { InteractionPage, Receipt } from "../contract.js";
import { exampleCompletion, exampleId, exampleInteraction, exampleReceipt } from "../describe/examples.js";
import {
  addressRefusals,
  bodyRefusals,
  jsonContent,
  type Operation,
  type Parameter,
  refusals,
  schemaNamed,
} from "../describe/operation.js";
import { describeQuestion } from "../describe/question.js";
import { bodyOf, objectOf } from "../door/bodies.js";
import { recordingOf } from "../door/doorkeeper.js";
import { readQuery, refuseQuery } from "../door/query.js";
import { sendJson } from "../send-json.js";

export function interactionRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.post("/interactions", { config: { operation: recordOperation } }, async (request, reply): Promise<Receipt> => {
    refuseQuery(request);
    const { status, entries } = await recordingOf(request, recorder).append(ofKind("interaction", request));
    reply.code(status === "recorded" ? 201 : 200);
    return itemAt(entries, 0);
  });

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

  app.post<ById>("/interactions/:id/response", { config: { operation: completeOperation } }, async (request, reply) => {
    refuseQuery(request);
    const completion = ofKind("response", request, request.params.id);
    const { status, entries } = await recordingOf(request, recorder).append(completion);
    reply.code(status === "recorded" ? 201 : 200);
    return itemAt(entries, 0);
  });
}

interface ById {
  Params: { readonly id: string };
}

/**
 * The body as an entry of this kind. It is filled in and not copied, since it may be large and nobody else has it; that
 * it really is an entry is checked by the recorder, which takes nothing on trust.
 */
function ofKind(kind: "interaction" | "response", request: FastifyRequest, interaction_id?: string): EntryInput {
  const body = objectOf(bodyOf(request), `the ${kind}`);
  if ((body.kind ?? kind) !== kind) {
    throw new RecorderError({
      code: "field_invalid",
      field: "kind",
      message: `kind must be ${kind} here`,
      hint: "Leave kind out, or send other kinds to POST /entries.",
    });
  }
  if (interaction_id !== undefined && (body.interaction_id ?? interaction_id) !== interaction_id) {
    throw new RecorderError({
      code: "field_invalid",
      field: "interaction_id",
      message: "interaction_id is another one than the address names",
      hint: "Leave interaction_id out.",
    });
  }
  return Object.assign(body, { kind }, interaction_id && { interaction_id }) as unknown as EntryInput;
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
  example: exampleId,
};

const recordOperation: Operation = {
  operationId: "recordInteraction",
  tags,
  summary: "Record one round-trip with a model",
  description:
    "Answers once it is on disk. With an `id` of your own the call can be repeated safely: the same content is " +
    "acknowledged again, other content is refused.",
  requestBody: { required: true, content: jsonContent(schemaNamed("NewInteraction"), exampleInteraction) },
  responses: {
    201: { description: "Recorded.", content: jsonContent(schemaNamed("Receipt"), exampleReceipt) },
    200: { description: "It was recorded before.", content: jsonContent(schemaNamed("Receipt")) },
    ...refusals("prompt_blank", "id_invalid", "label_invalid", "session_id_invalid", "time_invalid", ...bodyRefusals),
  },
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

const completeOperation: Operation = {
  operationId: "completeInteraction",
  tags,
  summary: "Add the response to an interaction that was recorded without one",
  description: "The response is an entry of its own, and every view shows the interaction with it from then on.",
  parameters: [idParameter],
  requestBody: { required: true, content: jsonContent(schemaNamed("NewResponse"), exampleCompletion) },
  responses: {
    201: { description: "Recorded; the receipt is the response's.", content: jsonContent(schemaNamed("Receipt")) },
    200: { description: "The same response was recorded before.", content: jsonContent(schemaNamed("Receipt")) },
    ...refusals("interaction_not_found", "already_completed", "id_invalid", "time_invalid", ...bodyRefusals),
  },
};
