// The marks that a session's history starts after, over HTTP: consolidate and clear.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { JsonObject } from "../../../model/json.js";
import { RecorderError } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { ConsolidationAnswer, Receipt } from "../contract.js";
import { exampleClearReceipt, exampleConsolidation } from "../describe/examples.js";
import { bodyRefusals, jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { sessionIdParameter } from "../describe/session-schemas.js";
import { acceptEmptyBodies, bodyOf, objectOf, optionalBodyOf } from "../door/bodies.js";
import { recordingOf } from "../door/doorkeeper.js";
import { refuseQuery } from "../door/query.js";

export function sessionMarkRoutes(app: FastifyInstance, recorder: Recorder): void {
  acceptEmptyBodies(app);

  app.post<ById>(
    "/sessions/:id/consolidate",
    { config: { operation: consolidateOperation } },
    async (request): Promise<ConsolidationAnswer> => {
      refuseQuery(request);
      const session = recordingOf(request, recorder).session(request.params.id);
      const { through, ...options } = readConsolidation(request);
      return session.consolidate(through, options);
    },
  );

  app.post<ById>(
    "/sessions/:id/clear",
    { config: { operation: clearOperation } },
    async (request, reply): Promise<Receipt> => {
      refuseQuery(request);
      const session = recordingOf(request, recorder).session(request.params.id);
      const receipt = await session.clear(readClear(request, session.id));
      reply.code(receipt.status === "recorded" ? 201 : 200);
      return receipt;
    },
  );
}

/** The position, and what else `consolidate` of a session takes. */
type NewConsolidation = { readonly through: number } & NonNullable<
  Parameters<ReturnType<Recorder["session"]>["consolidate"]>[1]
>;

interface ById {
  Params: { readonly id: string };
}

/** The values are checked by the recorder; a field nobody reads is refused, because it would be lost. */
function readConsolidation(request: FastifyRequest): NewConsolidation {
  const { through, summary, trigger, tokens_before, ...others } = objectOf(bodyOf(request), "the consolidation");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw fieldUnknown(unknown);
  if (through === undefined || through === null) {
    throw new RecorderError({
      code: "field_missing",
      field: "through",
      message: "through is missing",
      hint: "Give the position of one of the session's entries.",
    });
  }
  return { through, summary, trigger, tokens_before } as NewConsolidation;
}

/** The envelope of a clear marker, as far as the caller gave one. */
function readClear(request: FastifyRequest, session_id: string): JsonObject {
  const body = optionalBodyOf(request);
  if (body === undefined) return {};
  const { kind, session_id: named, ...envelope } = objectOf(body, "the body");
  if ((kind ?? "clear") !== "clear") {
    throw new RecorderError({ code: "field_invalid", field: "kind", message: "kind must be clear here" });
  }
  if ((named ?? session_id) !== session_id) {
    throw new RecorderError({
      code: "session_id_invalid",
      field: "session_id",
      message: "session_id is another one than in the address",
      hint: "Leave it out of the body.",
    });
  }
  return envelope;
}

function fieldUnknown(field: string): RecorderError {
  return new RecorderError({
    code: "field_invalid",
    field: field.slice(0, 100),
    message: `there is no field ${JSON.stringify(field.slice(0, 100))} here`,
    hint: "Fields are through, summary, trigger and tokens_before. POST /entries takes a consolidation with labels.",
  });
}

const tags = ["Sessions"];

const consolidateOperation: Operation = {
  operationId: "consolidateSession",
  tags,
  summary: "Leave the older part of a session out of its history",
  description:
    "`through` is the position of one of its entries. It moves down to the end of a complete turn, and the answer " +
    "has where that is. What would move nothing adds no entry. Everything stays in the log, and history gives the model " +
    "the summary in its place.",
  parameters: [sessionIdParameter],
  requestBody: { required: true, content: jsonContent(schemaNamed("NewConsolidation"), exampleConsolidation) },
  responses: {
    200: {
      description: "Through where the session is consolidated now; 0 where no turn is complete yet.",
      content: jsonContent(schemaNamed("Consolidation"), { through: exampleConsolidation.through }),
    },
    ...refusals("session_id_invalid", "consolidation_backwards", ...bodyRefusals),
  },
};

const clearOperation: Operation = {
  operationId: "clearSession",
  tags,
  summary: "Start a session's history anew",
  description: "Adds a marker; everything before it stays in the log. The body may be left out.",
  parameters: [sessionIdParameter],
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
