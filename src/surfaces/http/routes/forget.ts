// Forgetting over HTTP.
import type { FastifyInstance } from "fastify";
import { isJsonObject } from "../../../model/json.js";
import { RecorderError } from "../../../model/rejection.js";
import type { Recorder } from "../../../recorder/recorder.js";
import type { ForgetAnswer } from "../contract.js";
import { bodyRefusals, jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { bodyOf } from "../door/bodies.js";
import { callerOf, recordingOf } from "../door/doorkeeper.js";
import { refuseQuery } from "../door/query.js";

export function forgetRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.post("/forget", { config: { operation: forgetOperation } }, (request): Promise<ForgetAnswer> => {
    refuseQuery(request);
    const wish = bodyOf(request);
    const { actor } = callerOf(request);
    return recordingOf(request, recorder).forget(asked(wish, actor));
  });
}

/** Who asks is known by the key, and is nothing to be told; what is no object is refused further in. */
function asked(wish: unknown, actor: string): Parameters<Recorder["forget"]>[0] {
  if (!isJsonObject(wish)) return wish as Parameters<Recorder["forget"]>[0];
  if (Object.hasOwn(wish, "actor")) {
    throw new RecorderError({ code: "field_invalid", field: "actor", message: "actor is not known here" });
  }
  return { ...wish, actor } as unknown as Parameters<Recorder["forget"]>[0];
}

const forgetOperation: Operation = {
  operationId: "forget",
  tags: ["Store"],
  summary: "Remove the bodies of an entry, a session or a project for good",
  description:
    "With all that belongs to them: the response of an interaction, everything that carries the session's or the " +
    "project's name. Positions, times and the chain of hashes stay, and a `redaction` entry names what went, with the " +
    "reason. With `dry_run` nothing is done. What arrives after the redaction stays.",
  requestBody: {
    required: true,
    content: jsonContent(schemaNamed("NewForgetting"), {
      session_id: "cli:anna",
      reason: "Anna asked us to.",
      dry_run: true,
    }),
  },
  responses: {
    200: { description: "What went.", content: jsonContent(schemaNamed("Forgetting")) },
    ...refusals(
      ...bodyRefusals,
      ...(["kind_reserved", "session_id_invalid", "label_invalid", "entry_not_found", "session_not_found"] as const),
      ...(["project_not_found", "store_failed", "recorder_closed"] as const),
    ),
  },
};
