// HTTP errors: one form for all, and the tables that map each to its status.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type {
  FastifyBaseLogger,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
} from "fastify";
import { Fault, type FaultCode } from "../../../model/fault.js";
import { itemAt } from "../../../model/item-at.js";
import { RecorderError, type RejectionCode, type RejectionDetails } from "../../../model/rejection.js";
import type { ErrorAnswer } from "../contract.js";
import { logFailure, logRefusal } from "../log-lines.js";

export const statusByRejection = {
  already_completed: 409,
  body_missing: 400,
  budget_too_small: 400,
  confidence_out_of_range: 400,
  consolidation_backwards: 409,
  context_too_large: 413,
  content_type_unsupported: 415,
  cursor_invalid: 400,
  entries_missing: 400,
  entry_not_found: 404,
  entry_too_large: 413,
  expectation_refused: 417,
  field_invalid: 400,
  field_missing: 400,
  headers_too_large: 431,
  history_too_large: 413,
  host_foreign: 421,
  host_refused: 400,
  id_conflict: 409,
  id_invalid: 400,
  interaction_not_found: 404,
  in_unknown: 400,
  is_unknown: 400,
  json_invalid: 400,
  key_missing: 401,
  key_not_found: 404,
  key_wrong: 401,
  kind_reserved: 400,
  kind_unknown: 400,
  label_invalid: 400,
  limit_invalid: 400,
  memory_not_found: 404,
  method_not_allowed: 405,
  nesting_too_deep: 400,
  origin_refused: 403,
  parameter_repeated: 400,
  parameter_unknown: 400,
  project_not_found: 404,
  prompt_blank: 400,
  query_empty: 400,
  query_too_long: 400,
  rate_exceeded: 429,
  request_invalid: 400,
  request_timeout: 408,
  request_too_large: 413,
  role_unknown: 400,
  route_not_found: 404,
  scope_insufficient: 403,
  seal_invalid: 400,
  session_id_invalid: 400,
  session_not_found: 404,
  time_invalid: 400,
  too_many_values: 413,
  utf8_invalid: 400,
  verdict_given: 409,
  memory_known: 409,
} satisfies { readonly [C in RejectionCode]: number };

export const statusByFault = {
  disk_full: 507,
  entry_corrupt: 500,
  file_exists: 500,
  file_not_written: 500,
  overloaded: 503,
  recorder_closed: 503,
  seal_key_unusable: 500,
  store_busy: 503,
  store_corrupt: 500,
  store_damaged: 500,
  store_exchanged: 503,
  store_failed: 500,
  store_foreign: 500,
  store_missing: 500,
  store_newer: 500,
  store_not_writable: 500,
  store_refused: 503,
  store_unavailable: 503,
  store_unsuitable: 500,
  thread_stopped: 503,
} satisfies { readonly [C in FaultCode]: number };

const RETRY_AFTER_SECONDS = "1";

/** Fastify's error handler: turns every error into a response, and logs those that are not the caller's fault. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  toBody: (answer: ErrorAnswer, status: number) => ErrorAnswer | Buffer = (answer) => answer,
): FastifyReply {
  const { status, answer } = toErrorAnswer(error, request.id);
  if (status >= 500) logFailure(request, error);
  reply.code(status);
  reply.errorCode = answer.error.code;
  if ((status === 503 || status === 429) && !reply.hasHeader("retry-after")) {
    reply.header("retry-after", RETRY_AFTER_SECONDS);
  }
  return reply.send(toBody(answer, status));
}

/** URLs that the router cannot parse; they pass none of the hooks. */
export function refuseAddress(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  sendError(error, request, reply.headers(answerHeaders));
}

function toErrorAnswer(error: unknown, requestId: string): { readonly status: number; readonly answer: ErrorAnswer } {
  if (error instanceof RecorderError) return rejectionAnswer(error);
  if (error instanceof Fault) {
    const { code, message, hint } = error;
    return { status: statusByFault[code], answer: { error: { code, message, hint } } };
  }
  const refused = frameworkRejection(error);
  if (refused !== undefined) return rejectionAnswer(refused);
  const message = `internal error; see the server log, request ${requestId}`;
  return { status: 500, answer: { error: { code: "internal", message } } };
}

function rejectionAnswer(refused: RejectionDetails): { readonly status: number; readonly answer: ErrorAnswer } {
  const { code, message, field, index, hint, least } = refused;
  // JSON omits undefined values.
  return { status: statusByRejection[code], answer: { error: { code, message, field, index, hint, least } } };
}

/** Requests that Fastify refuses before a route sees them. */
function frameworkRejection(error: unknown): RejectionDetails | undefined {
  const { code, statusCode = 500 } = (error ?? {}) as Partial<FastifyError>;
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return contentTypeUnsupported();
  if (code === "FST_ERR_BAD_URL") {
    return { code: "request_invalid", message: "the URL is not valid", hint: "Percent-encode ids in paths." };
  }
  if (code === "FST_ERR_MAX_PARAM_LENGTH") {
    return { code: "request_invalid", message: "the id in the URL is too long" };
  }
  if (statusCode < 500 && code?.startsWith("FST_")) {
    return { code: "request_invalid", message: "the request is not valid HTTP" };
  }
  return undefined;
}

export function contentTypeUnsupported(): RejectionDetails {
  return {
    code: "content_type_unsupported",
    field: "content-type",
    message: "the body must be JSON",
    hint: "Send it with -H 'content-type: application/json'; POST /entries takes application/x-ndjson too.",
  };
}

// Malformed or slow requests and oversized headers: answered on the raw socket, in the usual form.

export function answerClientError(
  this: { readonly log: FastifyBaseLogger },
  error: Error & { readonly code?: string },
  socket: Socket,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, answer } = rejectionAnswer(toRejection(error.code));
  logRefusal(this.log, { status, code: answer.error.code, address: socket.remoteAddress });
  const body = JSON.stringify(answer);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Node handles `100-continue`. To any other expectation it would answer without a body. */
export function answerExpectation(log: FastifyBaseLogger, request: IncomingMessage, response: ServerResponse): void {
  const { status, answer } = rejectionAnswer({
    code: "expectation_refused",
    field: "expect",
    message: "expectation not supported",
    hint: "Leave the Expect header out, or send 100-continue.",
  });
  logRefusal(log, { status, code: answer.error.code, address: request.socket.remoteAddress });
  response.writeHead(status, {
    ...answerHeaders,
    "content-type": "application/json; charset=utf-8",
    connection: "close",
  });
  response.end(JSON.stringify(answer));
}

function toRejection(code: string | undefined): RejectionDetails {
  if (code === "HPE_HEADER_OVERFLOW") {
    return {
      code: "headers_too_large",
      message: "URL and headers are too large",
      hint: "Send long text in a body.",
    };
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return { code: "request_timeout", message: "request timed out", hint: "Send it again." };
  }
  return { code: "request_invalid", message: "the request is not valid HTTP" };
}

// Headers of every answer: the browser must not guess its type, cache it, or show it inside other pages.

/** On every response; pages replace some of them. */
export const answerHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** For the page, the documentation and their files. They contain no recorded text and load nothing from other hosts. */
export const pageHeaders = {
  ...answerHeaders,
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};

// Unknown addresses and methods.

/** Refuses a request that no route took: a known address with another method, or an unknown address. */
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
    message: `method ${request.method} not allowed`,
    hint: `This address takes ${allowed}.`,
  });
}

export function routeNotFound(): RecorderError {
  return new RecorderError({
    code: "route_not_found",
    message: "no such address",
    hint: "GET /docs lists every call.",
  });
}
