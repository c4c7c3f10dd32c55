// Request bodies: read whole, within limits, and parsed by their content type.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../../../model/fault.js";
import { itemAt } from "../../../model/item-at.js";
import { limits } from "../../../model/limits.js";
import { orThrow, Rejection, reject } from "../../../model/rejection.js";
import { TimeSlice } from "../../../model/scheduling.js";
import { contentTypeUnsupported } from "./errors.js";
import { inflated, refusalOfInflating } from "./inflate.js";
import { ENTRIES_MAX, JsonScan, SCAN_BYTES_MIN, tooManyEntries } from "./json-scan.js";

/**
 * Lets the routes of `app` accept JSON. A parser returns a rejection as the body instead of failing, because Fastify
 * would close the connection, and a client that is still sending would see a reset instead of the answer.
 */
export function acceptJson(app: FastifyInstance): void {
  accept(app, ["application/json"], { parse: parseJsonBody });
}

/** Lets the routes of `app` accept one JSON document per line; the body is then the list of them. */
export function acceptJsonLines(app: FastifyInstance): void {
  accept(app, ["application/x-ndjson", "application/ndjson", "application/jsonl"], {
    parse: parseJsonLines,
    hasLines: true,
  });
}

/** Lets the routes of `app` accept an empty body of any content type, as `curl -d ''` sends it. */
export function acceptEmptyBodies(app: FastifyInstance): void {
  accept(app, "*", {
    parse: async ({ bytes }) => (bytes.byteLength === 0 ? undefined : reject(contentTypeUnsupported())),
  });
}

/** The parsed body; undefined if there is none. */
export function optionalBodyOf(request: FastifyRequest): unknown {
  const { body } = request;
  return body instanceof Rejection && body.code === "body_missing" ? undefined : accepted(body);
}

/** The parsed body, or why it was rejected. */
export function bodyOf(request: FastifyRequest): unknown {
  return accepted(request.body === undefined ? bodyMissing() : request.body);
}

function accepted(body: unknown): unknown {
  if (body instanceof Fault) throw body;
  return orThrow(body);
}

/** Lets the routes of `app` accept bytes of these types, compressed or not; the body is then a buffer. */
export function acceptBytes(app: FastifyInstance, types: string[]): void {
  accept(app, types, { parse: async ({ bytes }) => bytes, isBytes: true });
}

interface BodyForm {
  readonly parse: (body: ReadBody) => Promise<unknown>;
  readonly hasLines?: boolean;
  /** Whether it is read elsewhere, which checks its own limits, and may be compressed. */
  readonly isBytes?: boolean;
}

function accept(
  app: FastifyInstance,
  types: string | string[],
  { parse, hasLines = false, isBytes = false }: BodyForm,
): void {
  app.addContentTypeParser(types, (request, payload, done) => {
    const encoding = request.headers["content-encoding"] ?? "identity";
    const isInflated = isBytes && encoding === "gzip";
    if (encoding !== "identity" && !isInflated) {
      payload.resume();
      done(null, encodingUnsupported(isBytes));
      return;
    }
    const account = request.bodyAccount;
    const source = isInflated ? inflated(payload) : payload;
    readWhole(source, { account, hasLines, isScanned: !isBytes, isInflated }, (error, read) => {
      if (read === undefined || read instanceof Rejection || read instanceof Fault) done(error, read);
      else parse(read).then((body) => done(null, body), done);
    });
  });
}

/** Calls back once, with all bytes. Bytes beyond the limit are read and dropped, so the answer gets through. */
function readWhole(
  payload: BodySource,
  { account, hasLines, isScanned, isInflated }: ReadHow,
  done: (error: Error | null, read?: ReadBody | Rejection | Fault) => void,
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let scan: JsonScan | undefined;
  let isRefused = false;
  const refuse = (reason: Rejection | Fault): void => {
    isRefused = true;
    chunks = [];
    // Inflating the rest would cost more than reading it.
    if (isInflated) payload.destroy();
    done(null, reason);
  };
  /** Refuses a body that is too wide or too deep as soon as that shows, before the rest has arrived. */
  const scanChunk = (chunk: Buffer): Rejection | undefined => {
    if (scan !== undefined) return scan.take(chunk);
    if (!isScanned || size < SCAN_BYTES_MIN) return undefined;
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
    const refused = scanChunk(chunk);
    if (refused !== undefined) refuse(refused);
  });
  payload.on("end", () => {
    if (isRefused) return;
    const whole = chunks;
    chunks = [];
    if (whole.length > 1 && size > COPIED_BYTES_MAX)
      joined(whole, size).then((bytes) => done(null, { bytes, scan }), done);
    else if (scan !== undefined) joined(whole, size).then((bytes) => done(null, { bytes, scan }), done);
    else done(null, { bytes: whole.length === 1 ? itemAt(whole, 0) : Buffer.concat(whole, size) });
  });
  payload.on("error", (error) => {
    if (isRefused) return;
    if (isInflated) refuse(refusalOfInflating(error));
    else done(error);
  });
  if (Number(payload.headers?.["content-length"]) > limits.request_bytes) refuse(requestTooLarge());
}

/** A request, or what comes of it when it is inflated. */
type BodySource = Readable & { readonly headers?: IncomingMessage["headers"] };

interface ReadHow {
  readonly account: BodyAccount | null;
  readonly hasLines: boolean;
  readonly isScanned: boolean;
  readonly isInflated: boolean;
}

/** Above this, bytes are copied in time slices. */
const COPIED_BYTES_MAX = 4 * 1024 * 1024;

/** Copies the bytes of a large body in time slices: allocating tens of megabytes at once takes long. */
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

function encodingUnsupported(takesGzip: boolean): Rejection {
  return reject({
    code: "content_type_unsupported",
    field: "content-encoding",
    message: takesGzip ? "the body's compression is not supported" : "the body must not be compressed",
    hint: takesGzip ? "Send it with content-encoding: gzip, or without one." : "Send it without content-encoding.",
  });
}

// Bodies as bytes: checked to be UTF-8 and parsed as JSON, and never rewritten on the way.
const BYTE_ORDER_MARK = 0xfeff;
const LINE_FEED = 0x0a;

/**
 * A body as it was read: small ones whole, large ones with the result of the scan. The
 * items of a large list are parsed one by one, so other requests run in between.
 */
interface ReadBody {
  readonly bytes: Buffer;
  /** Absent if the body is too small to need the check. */
  readonly scan?: JsonScan | undefined;
}

/** @internal Exported for tests. */
export async function parseJsonBody({ bytes, scan }: ReadBody): Promise<unknown> {
  const list = scan?.list;
  if (list === undefined) return parseAlone(bytes);
  if (!isUtf8(bytes)) return utf8Invalid("the body");
  if (!list.isWhole) return jsonInvalid("the body", "the list is not closed, or text follows it");
  const slice = new TimeSlice();
  const items: unknown[] = [];
  let start = list.start + 1;
  for (const end of list.ends) {
    const bytesOfItem = bytes.subarray(start, end);
    if (list.ends.length === 1 && isBlank(bytesOfItem)) break;
    const item = parseText(bytesOfItem.toString("utf8"), `item ${items.length} of the body`);
    if (item instanceof Rejection) return item.at(items.length);
    items.push(item);
    start = end + 1;
    if (slice.isOver) await slice.next();
  }
  return items;
}

/** Work on a large entry continues in the next time slice. */
async function parseAlone(bytes: Buffer): Promise<unknown> {
  const slice = new TimeSlice();
  if (!isUtf8(bytes)) return utf8Invalid("the body");
  const text = bytes.toString("utf8");
  if (slice.isOver) await slice.next();
  const parsed = parseDocument(text, "the body");
  if (slice.isOver) await slice.next();
  return parsed;
}

/**
 * Skips blank lines; `index` counts the others.
 *
 * @internal Exported for tests.
 */
export async function parseJsonLines({ bytes }: ReadBody): Promise<readonly unknown[] | Rejection> {
  const slice = new TimeSlice();
  const items: unknown[] = [];
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    // Blank lines take time, too.
    if (slice.isOver) await slice.next();
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.length : feed;
    line += 1;
    const bytesOfLine = bytes.subarray(start, end);
    start = end + 1;
    // Checked without parsing, since a request may contain millions of them.
    if (isBlank(bytesOfLine)) continue;
    const item = parseJson(bytesOfLine, `line ${line}`);
    if (!(item instanceof Rejection)) items.push(item);
    else if (item.code !== "body_missing") return item.at(items.length);
    if (items.length > ENTRIES_MAX) return tooManyEntries();
  }
  return items;
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

function parseJson(bytes: Buffer, what: string): unknown {
  return isUtf8(bytes) ? parseDocument(bytes.toString("utf8"), what) : utf8Invalid(what);
}

function parseDocument(text: string, what: string): unknown {
  const parsed = parseText(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text, what);
  // `trim` removes a byte order mark too.
  return parsed instanceof Rejection && text.trim() === "" ? bodyMissing() : parsed;
}

function parseText(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return jsonInvalid(what, error instanceof Error ? error.message : String(error));
  }
}

function bodyMissing(): Rejection {
  return reject({ code: "body_missing", message: "the request has no body", hint: "Send a JSON object." });
}

function utf8Invalid(what: string): Rejection {
  return reject({ code: "utf8_invalid", message: `${what} is not valid UTF-8`, hint: "Send text as UTF-8." });
}

/** The message quotes the parser, which quotes the body. It is sent to the caller only, and never logged. */
function jsonInvalid(what: string, reason: string): Rejection {
  return reject({ code: "json_invalid", message: `${what} is not valid JSON: ${reason.slice(0, 200)}` });
}

// Limits the bytes of request bodies in memory: beyond it, large requests are told to retry.

declare module "fastify" {
  interface FastifyRequest {
    /** The memory account of the body; null if there is no body. */
    bodyAccount: BodyAccount | null;
  }
}

/** Gives every request with a body its account. */
export function budgetBodies(app: FastifyInstance, bytesMax: number): BodyBudget {
  const budget = new BodyBudget(bytesMax);
  app.decorateRequest("bodyAccount", null);
  app.addHook("preParsing", (request, reply, _, done) => {
    const { "content-length": length, "transfer-encoding": coding } = request.raw.headers;
    if (length !== undefined || coding !== undefined) request.bodyAccount = budget.account(reply.raw);
    done();
  });
  return budget;
}

export class BodyBudget {
  readonly #bytesMax: number;
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get held(): number {
    return this.#held;
  }

  /** The account of one request. Its memory is released when the response was sent or the connection closed. */
  account(response: Pick<ServerResponse, "once">): BodyAccount {
    let taken = 0;
    response.once("close", () => {
      this.#held -= taken;
      taken = 0;
    });
    return {
      take: (bytes) => {
        // A single body is always accepted: its own size limit applies.
        const isAlone = this.#held === taken;
        if (!isAlone && this.#held + bytes > this.#bytesMax) return false;
        taken += bytes;
        this.#held += bytes;
        return true;
      },
    };
  }
}

interface BodyAccount {
  /** False if the limit is exceeded. */
  take(bytes: number): boolean;
}

function bodiesOverload(): Fault {
  return new Fault("overloaded", "too many request bodies are in memory", {
    hint: "Retry in a second. The refused entries were not stored.",
  });
}
