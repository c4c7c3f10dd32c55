// Structured logs: a line for each request that was refused or failed, for all of them at level debug, and never a word of
// what was recorded.
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import { type DestinationStream, destination, type LevelWithSilent, levels, pino } from "pino";
import { Fault } from "../model/fault.js";

export interface ServerLogger {
  readonly logger: FastifyBaseLogger;
  /** Writes out what is still buffered. */
  flush(): void;
}

/** A logger that gathers lines and writes them to stderr without making a request wait, or to another place. */
export function createLogger(options: {
  readonly level: LevelWithSilent;
  readonly destination?: DestinationStream;
}): ServerLogger {
  const { level } = options;
  const settings = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
  if (options.destination !== undefined) return { logger: pino(settings, options.destination), flush: () => {} };
  const stderr = destination({ dest: 2, sync: false });
  return { logger: pino(settings, stderr), flush: () => stderr.flushSync() };
}

declare module "fastify" {
  interface FastifyReply {
    /** The code of the error that is answered, or null. */
    errorCode: string | null;
  }
}

/** Asked before anything is gathered for a line that nobody will see. */
function isEnabled(threshold: string, level: "debug" | "info"): boolean {
  const value = (name: string): number => levels.values[name] ?? Number.POSITIVE_INFINITY;
  return value(level) >= value(threshold);
}

/** Decides what Fastify logs by itself: a line when a request is done. Addresses carry queries, so none is logged. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(error: Error | null, request: FastifyRequest, reply: FastifyReply): void {
    // A record takes thousands of captures a second; a line for each would say nothing that the record does not.
    const level = !error && reply.statusCode < 400 ? "debug" : "info";
    if (!isEnabled(reply.log.level, level)) return;
    reply.log[level](
      {
        request: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ...(reply.errorCode === null ? {} : { code: reply.errorCode }),
        ms: Math.round(reply.elapsedTime * 100) / 100,
        bytes_in: Number(request.headers["content-length"] ?? 0),
        bytes_out: Number(reply.getHeader("content-length") ?? 0),
      },
      error ? "request cut off" : "request",
    );
  }

  override defaultErrorLog(): void {}

  override routeNotFound(): void {}

  override streamError(error: Error, request: FastifyRequest): void {
    logFailure(request, error);
  }

  override writeHeadError(error: Error, request: FastifyRequest): void {
    logFailure(request, error);
  }

  override serializerError(error: Error, request: FastifyRequest): void {
    logFailure(request, error);
  }
}

export function logFailure(request: FastifyRequest, error: unknown): void {
  const { id, method } = request;
  request.log.error({ request: id, method, route: request.routeOptions.url ?? null, ...describe(error) }, "failure");
}

/** An error without recorded text: a parser's message quotes what it could not parse, so only faults show theirs. */
function describe(error: unknown): { readonly [name: string]: unknown } {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = error.stack?.split("\n").filter((line) => line.startsWith("    at ")) ?? [];
  const stack = frames.map((line) => line.trim());
  if (error instanceof Fault) return { error: error.code, message: error.message, hint: error.hint, stack };
  return { error: error.name, ...(error instanceof SyntaxError ? {} : { message: error.message }), stack };
}
