// What an error looks like on the wire: one shape for all of them, and the tables that give each its status.
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Fault, type FaultCode } from "../../../model/fault.js";
import { RecorderError, type RejectionCode, type RejectionDetails } from "../../../model/rejection.js";
import type { ErrorAnswer } from "../contract.js";
import { logFailure } from "../logger.js";
import { answerHeaders } from "./security-headers.js";

export const statusByRejection = {
  already_completed: 409,
  body_missing: 400,
  budget_too_small: 400,
  confidence_out_of_range: 400,
  consolidation_backwards: 409,
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

/** Fastify's error handler: whatever was thrown becomes an answer, and what is not the caller's fault is logged. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, answer } = toErrorAnswer(error, request.id);
  if (status >= 500) logFailure(request, error);
  reply.code(status);
  reply.errorCode = answer.error.code;
  if ((status === 503 || status === 429) && !reply.hasHeader("retry-after")) {
    reply.header("retry-after", RETRY_AFTER_SECONDS);
  }
  return reply.send(answer);
}

/** Addresses that no route can be looked up for; they pass none of the hooks. */
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
  const message = `something went wrong inside the server; its log has more under request ${requestId}`;
  return { status: 500, answer: { error: { code: "internal", message } } };
}

export function rejectionAnswer(refused: RejectionDetails): { readonly status: number; readonly answer: ErrorAnswer } {
  const { code, message, field, index, hint, least } = refused;
  // JSON leaves out what is undefined.
  return { status: statusByRejection[code], answer: { error: { code, message, field, index, hint, least } } };
}

/** What Fastify itself refuses before a route sees it. */
function frameworkRejection(error: unknown): RejectionDetails | undefined {
  const { code, statusCode = 500 } = (error ?? {}) as Partial<FastifyError>;
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return contentTypeUnsupported();
  if (code === "FST_ERR_BAD_URL") {
    return { code: "request_invalid", message: "the address is not valid", hint: "Percent-encode ids in paths." };
  }
  if (code === "FST_ERR_MAX_PARAM_LENGTH") {
    return { code: "request_invalid", message: "the id in the address is longer than any id can be" };
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
