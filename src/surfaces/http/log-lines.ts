// Lines of the log about refusals and failures. Commands need them without a server, so nothing here loads one.
import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import { Fault } from "../../model/fault.js";

export type Level = "debug" | "info" | "warn";

/**
 * What the request checks refuse: a missing or wrong key, the wrong scope or origin, a foreign host, too many requests.
 */
const REFUSED_AT_DOOR: ReadonlySet<number> = new Set([401, 403, 421, 429]);

/** A record takes thousands of captures a second; a line for each would repeat the record. */
export function levelOf(status: number): Level {
  if (status < 400) return "debug";
  return REFUSED_AT_DOOR.has(status) ? "warn" : "info";
}

/** What is refused on the raw connection, before there is a request. */
export function logRefusal(
  log: FastifyBaseLogger,
  refusal: { readonly status: number; readonly code: string; readonly address: string | undefined },
): void {
  log[levelOf(refusal.status)](refusal, "request");
}

export function logFailure(request: FastifyRequest, error: unknown): void {
  const { id, method } = request;
  request.log.error({ request: id, method, route: request.routeOptions.url ?? null, ...describe(error) }, "failure");
}

/** An error without recorded text: a parser's message quotes its input, so only faults show their message. */
function describe(error: unknown): { readonly [name: string]: unknown } {
  if (!(error instanceof Error)) return { error: typeof error };
  // A fault has an outside cause and a hint; a stack trace would add nothing.
  if (error instanceof Fault) {
    // What the client was not told is logged for the operator.
    const { code, message, hint } = error.cause instanceof Fault ? error.cause : error;
    return { error: code, message, hint };
  }
  const frames = error.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  const stack = frames.map((line) => line.trim());
  return { error: error.name, ...(error instanceof SyntaxError ? {} : { message: error.message }), stack };
}
