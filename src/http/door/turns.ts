// Whose turn it is: reads go through gates, so that however many there are, capture is not kept waiting.
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { ServerLimits } from "./limits.js";
import { ReadGate } from "./read-gate.js";

export interface Gates {
  readonly reads: ReadGate;
  readonly walks: ReadGate;
  readonly exports: ReadGate;
  readonly tails: ReadGate;
}

/** Puts a gate before all reads that are registered after this call. */
export function giveTurns(
  app: FastifyInstance,
  options: { readonly limits: ServerLimits; readonly isPressed: () => boolean },
): Gates {
  const { limits, isPressed } = options;
  const gates: Gates = {
    reads: new ReadGate({ running_max: limits.reads_running, waiting_max: limits.reads_waiting, isPressed }),
    walks: new ReadGate({ running_max: limits.walks_running, waiting_max: limits.walks_waiting, isPressed }),
    exports: new ReadGate({ running_max: limits.exports, waiting_max: 0, isPressed }),
    tails: new ReadGate({ running_max: limits.tails, waiting_max: 0, isPressed }),
  };
  app.addHook("onRoute", (route) => {
    const { url, config } = route;
    if (url === "/tail") route.handler = lasting(gates.tails, route.handler);
    else if (url === "/export") route.handler = lasting(gates.exports, route.handler);
    else if (url === "/verify") route.handler = inTurn(gates.walks, route.handler);
    // Whoever watches over the server must see it when it is overloaded above all.
    else if (config?.need === "read" && url !== "/metrics") route.handler = inTurn(gates.reads, route.handler);
  });
  return gates;
}

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
