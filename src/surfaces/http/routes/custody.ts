// The state of the store over HTTP: is the chain intact, and is the server well.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../../recorder/recorder.js";
import type { DoctorAnswer, HealthAnswer, VerifyAnswer } from "../contract.js";
import { addressRefusals, jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { routeNotFound } from "../door/not-found.js";
import { refuseQuery } from "../door/query.js";

export function custodyRoutes(
  app: FastifyInstance,
  options: {
    readonly recorder: Recorder;
    readonly version: string;
    readonly inspect: (() => Promise<DoctorAnswer>) | undefined;
  },
) {
  const { recorder, version, inspect } = options;

  app.get("/verify", { config: { operation: verifyOperation, gate: "walks" } }, (request): Promise<VerifyAnswer> => {
    refuseQuery(request);
    return recorder.verify();
  });

  app.get("/doctor", { config: { operation: doctorOperation, gate: "walks" } }, (request): Promise<DoctorAnswer> => {
    refuseQuery(request);
    if (inspect === undefined) throw routeNotFound();
    return inspect();
  });

  app.get("/health", { config: { operation: healthOperation } }, async (request, reply): Promise<HealthAnswer> => {
    refuseQuery(request);
    const { status, trouble, ...health } = await recorder.health();
    if (trouble !== undefined) reply.code(503).header("retry-after", "1");
    return { status, version, ...health, ...(trouble === undefined ? {} : { trouble }) };
  });
}

const tags = ["Store"];

const verifyOperation: Operation = {
  operationId: "verify",
  tags,
  summary: "Check that every entry is as it was recorded",
  description:
    "Walks the whole chain of hashes and names the first position that was changed, removed or swapped. Where the chain " +
    "holds, but the log no longer holds what its index was made from or what this server sealed last, `reason` is `cut_off`, " +
    "and `known` says what it held.",
  responses: {
    200: { description: "What was found.", content: jsonContent(schemaNamed("Verification")) },
    ...refusals(...addressRefusals, "store_failed", "recorder_closed"),
  },
};

const doctorOperation: Operation = {
  operationId: "doctor",
  tags,
  summary: "Look at the store itself",
  description:
    "What `hansard doctor` says: the folder, the disk, the files, the index held against the log, the chain, and what clients " +
    "numbered and never delivered; each in plain words, with what to do about it. `ok` is false where anything fails.",
  responses: {
    200: {
      description: "What was found.",
      content: jsonContent({
        type: "object",
        required: ["ok", "findings"],
        properties: {
          ok: { type: "boolean" },
          findings: {
            type: "array",
            items: {
              type: "object",
              required: ["level", "check", "message"],
              properties: {
                level: { type: "string", enum: ["ok", "warn", "fail"] },
                check: { type: "string" },
                message: { type: "string" },
                hint: { type: "string" },
              },
            },
          },
        },
      }),
    },
    ...refusals(...addressRefusals, "store_failed"),
  },
};

const healthOperation: Operation = {
  operationId: "health",
  tags,
  summary: "Ask whether the server is well",
  description:
    "`degraded` means that capture works while lists may lack older entries, because the index is being rebuilt or " +
    "cannot be used, that the log was cut off or exchanged (`warnings` has `cut_off`), or that an altered body was read " +
    "(`problems` has `entry_altered` and its position). Where the log itself cannot be " +
    "read or written the status is 503, and `trouble` says why.",
  responses: {
    200: { description: "It records and answers.", content: jsonContent(schemaNamed("Health")) },
    503: { description: "It cannot at present.", content: jsonContent(schemaNamed("Health")) },
    ...refusals(...addressRefusals),
  },
};
