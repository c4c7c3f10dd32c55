// Addresses and methods that lead nowhere.

import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { itemAt } from "../../../model/item-at.js";
import { RecorderError } from "../../../model/rejection.js";

/** Refuses a request that no route took: a known address with another method, or an address nobody knows. */
export function refuseRoute(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): never {
  const path = itemAt((request.raw.url ?? "/").split("?", 1), 0);
  const methods = (app.supportedMethods as HTTPMethods[]).filter(
    (method) => app.findRoute({ method, url: path }) !== null,
  );
  if (methods.length === 0) throw routeNotFound();
  const allowed = methods.sort().join(", ");
  reply.header("allow", allowed);
  throw new RecorderError({
    code: "method_not_allowed",
    message: `${request.method} is not possible here`,
    hint: `This address takes ${allowed}.`,
  });
}

export function routeNotFound(): RecorderError {
  return new RecorderError({
    code: "route_not_found",
    message: "there is nothing at this address",
    hint: "GET /docs lists every call.",
  });
}
