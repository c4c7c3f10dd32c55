// The state of the store over HTTP: is the chain intact, and is the server well.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../recorder.js";
import type { HealthAnswer, VerifyAnswer } from "../contract.js";
import { addressRefusals, jsonContent, type Operation, refusals, schemaNamed } from "../describe/operation.js";
import { refuseQuery } from "../door/query.js";

export function custodyRoutes(
  app: FastifyInstance,
  options: { readonly recorder: Recorder; readonly version: string },
) {
  const { recorder, version } = options;

  app.get("/verify", { config: { operation: verifyOperation, gate: "walks" } }, (request): Promise<VerifyAnswer> => {
    refuseQuery(request);
    return recorder.verify();
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

const healthOperation: Operation = {
  operationId: "health",
  tags,
  summary: "Ask whether the server is well",
  description:
    "`degraded` means that capture works while lists may lack older entries, because the index is being rebuilt or " +
    "cannot be used, or that the log was cut off or exchanged (`warnings` has `cut_off`). Where the log itself cannot be " +
    "read or written the status is 503, and `trouble` says why.",
  responses: {
    200: { description: "It records and answers.", content: jsonContent(schemaNamed("Health")) },
    503: { description: "It cannot at present.", content: jsonContent(schemaNamed("Health")) },
    ...refusals(...addressRefusals),
  },
};
