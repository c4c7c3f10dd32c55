// The HTTP server, not yet listening: the routes, and what holds for all of them.
import type { ServerOptions as HttpOptions } from "node:http";
import type { ServerOptions as TlsOptions } from "node:https";
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Diagnosis } from "../../model/verification.js";
import type { Recorder } from "../../recorder/recorder.js";
import { acceptJson, budgetBodies } from "./checks/bodies.js";
import { checkRequests } from "./checks/callers.js";
import { compressAnswers } from "./checks/compression.js";
import { answerClientError, answerExpectation, refuseAddress, refuseRoute, sendError } from "./checks/errors.js";
import { HostCheck } from "./checks/hosts.js";
import { cutOffStalled, defaultLimits, type ServerLimits } from "./checks/limits.js";
import { RateLimit } from "./checks/rate-limit.js";
import { addGates } from "./checks/read-gate.js";
import { gatherOperations } from "./describe/openapi.js";
import { logRequest, RequestLog } from "./logger.js";
import { accessRoutes } from "./routes/access.js";
import { documentRoutes } from "./routes/documents.js";
import { exportRoutes } from "./routes/export.js";
import { hookRoutes } from "./routes/hooks.js";
import { mcpRoutes } from "./routes/mcp.js";
import { metricsRoutes } from "./routes/metrics.js";
import { operationRoutes } from "./routes/operations.js";
import { isUnreadableView, pageRoutes, readPage, sendHtml } from "./routes/page.js";
import { shareRoutes } from "./routes/share.js";
import { custodyRoutes } from "./routes/store-state.js";
import { tailRoutes } from "./routes/tail.js";
import { telemetryRoutes } from "./routes/telemetry.js";

export interface ServerOptions {
  readonly recorder: Recorder;
  /** The version in `/health` and the documentation. */
  readonly version: string;
  /** Without it, nothing is logged. */
  readonly logger?: FastifyBaseLogger | undefined;
  /** The address it will listen on, 127.0.0.1 by default: one of the names it answers to. */
  readonly host?: string;
  /** Further names of the server. */
  readonly allow_hosts?: readonly string[];
  /** Certificate and private key, as PEM; with them it speaks HTTPS only. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly limits?: Partial<ServerLimits>;
  /** Whether it also reads other programs' transcripts as they grow: what hooks report then waits for these. */
  readonly watches?: boolean;
  /** Checks the store itself, for `/doctor`; without it there is no such route. */
  readonly inspect?: (() => Promise<Diagnosis>) | undefined;
}

export const HOST_DEFAULT = "127.0.0.1";
/** Slow requests are checked this often. */
const CHECKING_MS = 1_000;
/** Room for a session id of 512 bytes, each percent-encoded. */
const PARAM_CHARS_MAX = 1_600;

export function createServer(options: ServerOptions): FastifyInstance {
  const { recorder, version, logger, host = HOST_DEFAULT, allow_hosts = [], tls } = options;
  const limits: ServerLimits = { ...defaultLimits, ...options.limits };
  const page = readPage();
  const answerAddress = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    if (isUnreadableView(request)) sendHtml(reply.code(400), page.index);
    else refuseAddress(error, request, reply);
    // It bypasses the hooks, and would not be logged.
    logRequest(request, reply, "request");
  };
  const app = fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new RequestLog(),
    // A logger per request would cost more than its line; the lines contain the id themselves.
    childLoggerFactory: (parent) => parent,
    ...connectionOptions(limits, tls),
    requestTimeout: limits.request_ms,
    keepAliveTimeout: limits.keep_alive_ms,
    // While closing, requests on open connections are still served, and the connection closed afterwards.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAM_CHARS_MAX },
    frameworkErrors: answerAddress,
    clientErrorHandler: answerClientError,
  });
  app.server.maxConnections = limits.connections;
  app.server.on("checkExpectation", (request, response) => answerExpectation(app.log, request, response));
  app.decorateReply("errorCode", null);
  app.removeAllContentTypeParsers();
  acceptJson(app);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => refuseRoute(app, request, reply));
  // The checks come first, because the hooks below use the route's scope.
  const rate = new RateLimit(limits.requests_per_second);
  checkRequests(app, { keys: recorder.keys, hosts: new HostCheck({ host, allow_hosts }), rate });
  const gates = addGates(app, { limits, isPressed: () => recorder.monitoring.load().capture.is_pressed });
  const bodies = budgetBodies(app, limits.bodies_bytes);
  cutOffStalled(app, limits.stall_ms);
  compressAnswers(app);
  const paths = gatherOperations(app);
  operationRoutes(app, recorder);
  tailRoutes(app, recorder);
  exportRoutes(app, recorder);
  shareRoutes(app, recorder);
  custodyRoutes(app, { recorder, version, inspect: options.inspect });
  accessRoutes(app, recorder);
  metricsRoutes(app, { recorder, gates, bodies });
  mcpRoutes(app, { recorder, version });
  pageRoutes(app, page);
  documentRoutes(app, { version, paths });
  // In a separate scope, because an empty body is accepted there.
  app.register(async (scope) => hookRoutes(scope, recorder, options.watches === true));
  // Likewise: bodies are bytes there, and errors are answered in kind.
  app.register(async (scope) => telemetryRoutes(scope, recorder));
  return app;
}

/** Node's own timeouts and limits. Fastify takes the same settings under two names. */
function connectionOptions(limits: ServerLimits, tls: ServerOptions["tls"]): { readonly http: HttpOptions } {
  const http = {
    maxHeaderSize: limits.head_bytes,
    headersTimeout: limits.head_ms,
    connectionsCheckingInterval: CHECKING_MS,
    // A request without a Host is refused by the checks, in the usual form.
    requireHostHeader: false,
  };
  if (tls === undefined) return { http };
  const https: TlsOptions = { ...http, ...tls, handshakeTimeout: limits.head_ms };
  // The types tell two kinds of server apart that are used in the same way.
  return { https } as unknown as { readonly http: HttpOptions };
}
