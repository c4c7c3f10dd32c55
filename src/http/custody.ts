// The state of the store over HTTP: is the chain intact, and is the server well.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../recorder.js";
import type { HealthAnswer, VerifyAnswer } from "./contract.js";
import { jsonContent, type Operation, refusals, schemaNamed } from "./operation.js";
import { refuseQuery } from "./query.js";

export function custodyRoutes(
  app: FastifyInstance,
  options: { readonly recorder: Recorder; readonly version: string },
) {
  const { recorder, version } = options;

  app.get("/verify", { config: { operation: verifyOperation } }, (request): Promise<VerifyAnswer> => {
    refuseQuery(request);
    return recorder.verify();
  });

  app.get("/health", { config: { operation: healthOperation } }, async (request): Promise<HealthAnswer> => {
    refuseQuery(request);
    const { status, position, indexed_through } = await recorder.health();
    return { status, version, position, indexed_through };
  });
}

const tags = ["Store"];

const verifyOperation: Operation = {
  operationId: "verify",
  tags,
  summary: "Check that every entry is as it was recorded",
  description: "Walks the whole chain of hashes and names the first position that was changed, removed or swapped.",
  responses: {
    200: { description: "What was found.", content: jsonContent(schemaNamed("Verification")) },
    ...refusals("store_failed", "recorder_closed"),
  },
};

const healthOperation: Operation = {
  operationId: "health",
  tags,
  summary: "Ask whether the server is well",
  description:
    "`degraded` means that capture works while lists may lack older entries, because the index is being rebuilt or " +
    "cannot be used.",
  responses: {
    200: { description: "How it is.", content: jsonContent(schemaNamed("Health")) },
    ...refusals("store_failed", "recorder_closed"),
  },
};
