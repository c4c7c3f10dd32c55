// Whose turn it is: reads go through gates, so that however many there are, capture is not kept waiting.
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { ServerLimits } from "./limits.js";
import { ReadGate, type ReadGateOptions } from "./read-gate.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Which gate the route goes through; where it says nothing, `reads` if its scope is `read`, and else none. */
    readonly gate?: GateName | "none";
  }
}

type GateName = "reads" | "walks" | "exports" | "tails";

export type Gates = { readonly [name in GateName]: ReadGate };

/** Puts its gate before every route that is registered after this call. */
export function giveTurns(
  app: FastifyInstance,
  options: { readonly limits: ServerLimits; readonly isPressed: () => boolean },
): Gates {
  const { limits, isPressed } = options;
  const gate = (places: Omit<ReadGateOptions, "isPressed">): ReadGate => new ReadGate({ ...places, isPressed });
  const gates: Gates = {
    reads: gate({
      running_max: limits.reads_running,
      waiting_max: limits.reads_waiting,
      answer_ms: limits.read_ms,
    }),
    walks: gate({ running_max: limits.walks_running, waiting_max: limits.walks_waiting }),
    exports: gate({ running_max: limits.exports, waiting_max: 0 }),
    tails: gate({ running_max: limits.tails, waiting_max: 0 }),
  };
  app.addHook("onRoute", (route) => {
    const { gate: name = route.config?.need === "read" ? "reads" : "none" } = route.config ?? {};
    if (name !== "none") route.handler = mannerByGate[name](gates[name], route.handler);
  });
  return gates;
}

type Manner = (gate: ReadGate, handler: RouteHandlerMethod) => RouteHandlerMethod;

const mannerByGate: { readonly [name in GateName]: Manner } = {
  reads: inTurn,
  walks: inTurn,
  exports: lasting,
  tails: lasting,
};

function inTurn(gate: ReadGate, handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    return gate.pass(() => handler.call(this, request, reply));
  };
}

/** For answers that are sent for as long as the client likes: their place is free again once the connection is. */
function lasting(gate: ReadGate, handler: RouteHandlerMethod): RouteHandlerMethod {
  return function (request, reply) {
    const leave = gate.enter();
    reply.raw.once("close", leave);
    return handler.call(this, request, reply);
  };
}
