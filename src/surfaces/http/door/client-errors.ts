// Requests that are not even HTTP, too slow or with too large headers: answered on the bare socket, in the usual shape.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyBaseLogger } from "fastify";
import type { RejectionDetails } from "../../../model/rejection.js";
import { logRefusal } from "../logger.js";
import { rejectionAnswer } from "./errors.js";
import { answerHeaders } from "./security-headers.js";

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

/** Of expectations only `100-continue` can be met, and Node meets it by itself; to others it would answer without a word. */
export function answerExpectation(log: FastifyBaseLogger, request: IncomingMessage, response: ServerResponse): void {
  const { status, answer } = rejectionAnswer({
    code: "expectation_refused",
    field: "expect",
    message: "what the request expects cannot be met",
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
      message: "address and headers together are too large",
      hint: "Send long text in a body.",
    };
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return { code: "request_timeout", message: "the request took too long to arrive", hint: "Send it again." };
  }
  return { code: "request_invalid", message: "the request is not valid HTTP" };
}
