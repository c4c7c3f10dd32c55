// Structured logs: a line for each refused or failed request, for every request at level debug, and never recorded
// text.
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import { type DestinationStream, destination, type LevelWithSilent, levels, pino } from "pino";
import { claimedKeyId } from "../../guard/keys.js";
import { Fault } from "../../model/fault.js";

type Level = "debug" | "info" | "warn";

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

/**
 * What the request checks refuse: a missing or wrong key, the wrong scope or origin, a foreign host, too many requests.
 */
const REFUSED_AT_DOOR: ReadonlySet<number> = new Set([401, 403, 421, 429]);

/** A record takes thousands of captures a second; a line for each would repeat the record. */
function levelOf(status: number): Level {
  if (status < 400) return "debug";
  return REFUSED_AT_DOOR.has(status) ? "warn" : "info";
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

/** What is refused on the raw connection, before there is a request. */
export function logRefusal(
  log: FastifyBaseLogger,
  refusal: { readonly status: number; readonly code: string; readonly address: string | undefined },
): void {
  log[levelOf(refusal.status)](refusal, "request");
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
