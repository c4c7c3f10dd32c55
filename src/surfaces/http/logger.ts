// Structured logs: a line for each refused or failed request, for every request at level debug, and never recorded
// text.
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import { type DestinationStream, destination, type LevelWithSilent, levels, pino } from "pino";
import { claimedKeyId } from "../../guard/keys.js";
import { type Level, levelOf, logFailure } from "./log-lines.js";

export interface ServerLogger {
  readonly logger: FastifyBaseLogger;
  /** Writes what is still buffered. */
  flush(): void;
}

/** A logger that buffers lines and writes them to stderr, or elsewhere, without delaying requests. */
export function createLogger(options: {
  readonly level: LevelWithSilent;
  readonly destination?: DestinationStream;
  /** Rewrites hints, so they name the given store. */
  readonly toHint?: (hint: string) => string;
}): ServerLogger {
  const { level, toHint = (hint: string) => hint } = options;
  const timestamp = (): string => `,"time":"${new Date().toISOString()}"`;
  const log = (line: { readonly [name: string]: unknown }) =>
    typeof line.hint === "string" ? { ...line, hint: toHint(line.hint) } : line;
  const settings = { level, base: null, timestamp, formatters: { log } };
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

/** Checked before a line below the level is built. */
export function isEnabled(threshold: string, level: Level): boolean {
  const value = (name: string): number => levels.values[name] ?? Number.POSITIVE_INFINITY;
  return value(level) >= value(threshold);
}

/** The caller: its address, and the id of the key it sent, valid or not. Never the key. */
function whoAsked({ ip, headers }: FastifyRequest): { readonly address: string; readonly key_id?: string } {
  const key_id = claimedKeyId(headers.authorization);
  return { address: ip, ...(key_id === undefined ? {} : { key_id }) };
}

/** A line when a request is done. URLs contain queries, so only the route is logged. */
export function logRequest(request: FastifyRequest, reply: FastifyReply, says: string): void {
  const level = levelOf(reply.statusCode);
  if (!isEnabled(reply.log.level, level)) return;
  reply.log[level](
    {
      request: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      ...(reply.errorCode === null ? {} : { code: reply.errorCode }),
      ...whoAsked(request),
      ms: Math.round(reply.elapsedTime * 100) / 100,
      bytes_in: Number(request.headers["content-length"] ?? 0),
      bytes_out: Number(reply.getHeader("content-length") ?? 0),
    },
    says,
  );
}

/** Replaces Fastify's own log lines about requests. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(error: Error | null, request: FastifyRequest, reply: FastifyReply): void {
    logRequest(request, reply, error ? "request aborted" : "request");
  }

  override defaultErrorLog(): void {}
  override routeNotFound(): void {}

  override streamError(error: Error & { readonly code?: string }, request: FastifyRequest, reply: FastifyReply): void {
    // Clients end a tail or a download by disconnecting, which is not an error.
    if (error.code === "ERR_STREAM_PREMATURE_CLOSE") logRequest(request, reply, "client hung up");
    else logFailure(request, error);
  }

  override writeHeadError(error: Error, request: FastifyRequest): void {
    logFailure(request, error);
  }

  override serializerError(error: Error, request: FastifyRequest): void {
    logFailure(request, error);
  }
}
