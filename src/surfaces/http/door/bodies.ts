// Bodies of requests: read whole, within limits, and handed to the parser that their type asks for.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../../../model/fault.js";
import { itemAt } from "../../../model/item-at.js";
import { limits } from "../../../model/limits.js";
import { orThrow, Rejection, reject } from "../../../model/rejection.js";
import { TimeSlice } from "../../../model/scheduling.js";
import { type BodyAccount, bodiesOverload } from "./body-budget.js";
import { contentTypeUnsupported } from "./errors.js";
import { bodyMissing, parseJsonBody, parseJsonLines, type ReadBody } from "./json-bodies.js";
import { JsonScan, SCAN_BYTES_MIN } from "./json-scan.js";

/**
 * Lets the routes of `app` take JSON. A parser gives a rejection as the body instead of failing, because Fastify would
 * close the connection, and a client that is still sending would see a reset in place of the answer.
 */
export function acceptJson(app: FastifyInstance): void {
  accept(app, ["application/json"], { parse: parseJsonBody });
}

/** Lets the routes of `app` take one JSON document per line; the body is then the list of them. */
export function acceptJsonLines(app: FastifyInstance): void {
  accept(app, ["application/x-ndjson", "application/ndjson", "application/jsonl"], {
    parse: parseJsonLines,
    hasLines: true,
  });
}

/** Lets the routes of `app` take a body that is empty whatever it calls itself, as `curl -d ''` sends it. */
export function acceptEmptyBodies(app: FastifyInstance): void {
  accept(app, "*", {
    parse: async ({ bytes }) => (bytes.byteLength === 0 ? undefined : reject(contentTypeUnsupported())),
  });
}

/** The parsed body; undefined where there is none, and that is fine. */
export function optionalBodyOf(request: FastifyRequest): unknown {
  const { body } = request;
  return body instanceof Rejection && body.code === "body_missing" ? undefined : accepted(body);
}

/** The parsed body, or the rejection it came to. */
export function bodyOf(request: FastifyRequest): unknown {
  return accepted(request.body === undefined ? bodyMissing() : request.body);
}

function accepted(body: unknown): unknown {
  if (body instanceof Fault) throw body;
  return orThrow(body);
}

interface BodyForm {
  readonly parse: (body: ReadBody) => Promise<unknown>;
  readonly hasLines?: boolean;
}

function accept(app: FastifyInstance, types: string | string[], { parse, hasLines = false }: BodyForm): void {
  app.addContentTypeParser(types, (request, payload, done) => {
    const encoding = request.headers["content-encoding"] ?? "identity";
    if (encoding !== "identity") {
      payload.resume();
      done(null, encodingUnsupported());
      return;
    }
    const account = request.bodyAccount;
    readWhole(payload, { account, hasLines }, (error, read) => {
      if (read === undefined || read instanceof Rejection || read instanceof Fault) done(error, read);
      else parse(read).then((body) => done(null, body), done);
    });
  });
}

/** Calls back once, with all bytes. What comes beyond the limit is read and dropped, so that the answer gets through. */
function readWhole(
  payload: IncomingMessage,
  { account, hasLines }: { readonly account: BodyAccount | null; readonly hasLines: boolean },
  done: (error: Error | null, read?: ReadBody | Rejection | Fault) => void,
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let scan: JsonScan | undefined;
  let isRefused = false;
  const refuse = (reason: Rejection | Fault): void => {
    isRefused = true;
    chunks = [];
    done(null, reason);
  };
  /** What is too wide or too deep is refused as soon as that is seen, before the rest of it has come. */
  const look = (chunk: Buffer): Rejection | undefined => {
    if (scan !== undefined) return scan.take(chunk);
    if (size < SCAN_BYTES_MIN) return undefined;
    scan = new JsonScan({ hasLines });
    for (const before of chunks) {
      const refused = scan.take(before);
      if (refused !== undefined) return refused;
    }
    return undefined;
  };
  payload.on("data", (chunk: Buffer) => {
    if (isRefused) return;
    size += chunk.byteLength;
    if (size > limits.request_bytes) return refuse(requestTooLarge());
    if (account?.take(chunk.byteLength) === false) return refuse(bodiesOverload());
    chunks.push(chunk);
    const refused = look(chunk);
    if (refused !== undefined) refuse(refused);
  });
  payload.on("end", () => {
    if (isRefused) return;
    const whole = chunks;
    chunks = [];
    if (scan !== undefined) joined(whole, size).then((bytes) => done(null, { bytes, scan }), done);
    else done(null, { bytes: whole.length === 1 ? itemAt(whole, 0) : Buffer.concat(whole, size) });
  });
  payload.on("error", (error) => {
    if (!isRefused) done(error);
  });
  if (Number(payload.headers["content-length"]) > limits.request_bytes) refuse(requestTooLarge());
}

/** The bytes of a large body, copied in time slices: for tens of megabytes the system has to find memory first, which takes long. */
async function joined(chunks: readonly Buffer[], size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(size);
  const slice = new TimeSlice();
  let at = 0;
  for (const chunk of chunks) {
    at += chunk.copy(bytes, at);
    if (slice.isOver) await slice.next();
  }
  return bytes;
}

function requestTooLarge(): Rejection {
  return reject({
    code: "request_too_large",
    message: `the request is larger than ${limits.request_bytes} bytes (64 MiB)`,
    hint: "Send fewer entries at a time.",
  });
}

function encodingUnsupported(): Rejection {
  return reject({
    code: "content_type_unsupported",
    field: "content-encoding",
    message: "the body must not be compressed",
    hint: "Send it without content-encoding.",
  });
}
