// The caller's scopes, so a page offers nothing that would be refused; with full access, also the list of keys.
import type { FastifyInstance } from "fastify";
import type { Recorder } from "../../../recorder/recorder.js";
import { callerOf } from "../checks/callers.js";
import { refuseQuery } from "../checks/query.js";
import type { AccessAnswer } from "../contract.js";
import { addressRefusals, jsonContent, type OpenApiOperation, refusals } from "../describe/openapi-operation.js";

export function accessRoutes(app: FastifyInstance, recorder: Recorder): void {
  app.get(
    "/access",
    { config: { operation: accessOperation, need: "any" } },
    async (request): Promise<AccessAnswer> => {
      refuseQuery(request);
      const { actor, scope } = callerOf(request);
      return scope === "admin" ? { actor, scope, ...(await recorder.keys.list()) } : { actor, scope };
    },
  );
}

const text = { type: "string" };

const accessOperation: OpenApiOperation = {
  operationId: "access",
  tags: ["Store"],
  summary: "Get the caller's scope",
  description:
    "`actor` is `key:ID`, or `person` if there are no keys; `scope` says what it may do. With scope admin, also the list of " +
    "keys, without their secrets.",
  responses: {
    200: {
      description: "The caller and its scope.",
      content: jsonContent({
        type: "object",
        required: ["actor", "scope"],
        properties: {
          actor: text,
          scope: text,
          keys: {
            type: "array",
            items: {
              type: "object",
              required: ["id", "scope", "name", "created_at"],
              properties: { id: text, scope: text, name: text, created_at: text, revoked_at: text },
            },
          },
        },
      }),
    },
    ...refusals(...addressRefusals),
  },
};
