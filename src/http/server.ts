// The HTTP server, not yet listening: the routes, and what holds for all of them.
import { type FastifyBaseLogger, type FastifyInstance, fastify } from "fastify";
import type { Recorder } from "../recorder.js";
import { acceptJson } from "./bodies.js";
import { answerClientError } from "./client-errors.js";
import { custodyRoutes } from "./custody.js";
import { documentRoutes } from "./documents.js";
import { entryRoutes } from "./entries.js";
import { sendError } from "./errors.js";
import { exportRoutes } from "./export.js";
import { interactionRoutes } from "./interactions.js";
import { RequestLog } from "./logger.js";
import { refuseRoute } from "./not-found.js";
import { gatherOperations } from "./openapi.js";
import { pageRoutes } from "./page.js";
import { reflectionRoutes } from "./reflection.js";
import { searchRoutes } from "./search.js";
import { sessionRoutes } from "./sessions.js";
import { tailRoutes } from "./tail.js";

export interface ServerOptions {
  readonly recorder: Recorder;
  /** What `/health` and the documentation call this version. */
  readonly version: string;
  /** Without one nothing is logged. */
  readonly logger?: FastifyBaseLogger | undefined;
}

/** How long a request may take to arrive whole. */
const REQUEST_MS_MAX = 60_000;
const KEEP_ALIVE_MS = 72_000;
/** Room for a query of 10,000 characters in any script, each of them percent-encoded. */
const HEAD_BYTES_MAX = 128 * 1024;
/** Room for a session id of 512 bytes, each percent-encoded. */
const PARAM_CHARS_MAX = 1_600;

export function createServer(options: ServerOptions): FastifyInstance {
  const { recorder, version, logger } = options;
  const app = fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new RequestLog(),
    // A logger of its own for each request would cost more than the line it writes; the lines carry the id themselves.
    childLoggerFactory: (parent) => parent,
    http: { maxHeaderSize: HEAD_BYTES_MAX },
    requestTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // While closing, what still comes in on an open connection is served, and the connection ended after it.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAM_CHARS_MAX },
    frameworkErrors: sendError,
    clientErrorHandler: answerClientError,
  });
  app.decorateReply("errorCode", null);
  app.removeAllContentTypeParsers();
  acceptJson(app);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => refuseRoute(app, request, reply));
  const paths = gatherOperations(app);
  interactionRoutes(app, recorder);
  searchRoutes(app, recorder);
  reflectionRoutes(app, recorder);
  tailRoutes(app, recorder);
  exportRoutes(app, recorder);
  custodyRoutes(app, { recorder, version });
  pageRoutes(app);
  documentRoutes(app, { version, paths });
  // In scopes of their own, since only these routes take lines of JSON, or no body at all.
  app.register(async (scope) => entryRoutes(scope, recorder));
  app.register(async (scope) => sessionRoutes(scope, recorder));
  return app;
}
