// A recording proxy on loopback, for programs that let you change only the provider's address.
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline, Transform } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { Attempts } from "../../../client/attempts.js";
import { type Broken, brokenBy, unreadable } from "../../../client/broken-call.js";
import type { CaptureLabels } from "../../../client/index.js";
import type { StreamWatch } from "../../../client/observed-stream.js";
import { ANSWER_BYTES_MAX, beginRecording, type Recording } from "../../../client/recording.js";
import { sentKeys } from "../../../client/sent-keys.js";
import { reasonOf } from "../../../client/server-errors.js";
import type { Recorder } from "../../recorder/recorder.js";
import { BodyBudget } from "../http/checks/bodies.js";
import { HostCheck } from "../http/checks/hosts.js";
import { defaultLimits } from "../http/checks/limits.js";

type BytesWatch = StreamWatch<Uint8Array>;

export interface ProxyOptions {
  readonly recorder: Recorder;
  readonly port: number;
  /** Where everything is sent; without it the first part of the path names the provider. */
  readonly to?: string | undefined;
  /** Labels of calls without their own. */
  readonly labels: CaptureLabels;
  /** Hears why a call is not recorded. */
  readonly onLost: (reason: string) => void;
}

export interface Proxying {
  readonly address: string;
  close(): Promise<void>;
}

/** The providers by the first part of a path: `http://127.0.0.1:4748/openai/v1`. */
export const proxiedProviders: { readonly [name: string]: string } = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
  gemini: "https://generativelanguage.googleapis.com",
};

/** A program that can send headers names the session of a call with these; they are not forwarded. */
const ownHeaders = { "x-hansard-session": "session_id", "x-hansard-project": "project" } as const;

/** Headers of one connection. */
const hopByHop = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"],
  ...["proxy-connection", "upgrade", "host", "expect"],
]);

/** A larger request passes, and is not recorded, which is said. */
const RECORDED_BYTES_MAX = 64 * 1024 * 1024;

/** The end of an answer waits so long for its record. */
const WAIT_MS_MAX = 250;

/** How long closing waits for calls that were cut off to be recorded. */
const END_MS = 5_000;

/** An idle connection is closed before a router could drop it silently; one in use never is. */
const connections = { keepAlive: true, timeout: 4_000 } as const;

export async function serveProxy({ recorder, port, to, labels, onLost }: ProxyOptions): Promise<Proxying> {
  const transports = {
    "http:": { ask: http.request, agent: new http.Agent(connections) },
    "https:": { ask: https.request, agent: new https.Agent(connections) },
  } as const;
  const budget = new BodyBudget(defaultLimits.bodies_bytes);
  const attempts = new Attempts();
  const unfinished = new Set<Promise<void>>();
  const hosts = new HostCheck({ host: "127.0.0.1", allow_hosts: [] });
  const forward = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    // Its address is well known, so web pages can guess it: no page may spend money or write into the record, and no
    // link may lead here.
    const refused = hosts.refuse({ raw: request, protocol: "http", routeOptions: { config: { is_audited: true } } });
    if (refused !== undefined) {
      refuse(response, new Error(refusals[refused.code]), refused.code === "host_foreign" ? 421 : 403);
      return;
    }
    const target = targetOf(request.url ?? "", to);
    if (target === undefined) {
      refuseAddress(response);
      return;
    }
    const recording = beginRecording(
      {
        recordInteraction: (input) => recorder.recordInteraction(input),
        completeInteraction: (id, completion) => recorder.completeInteraction(id, completion),
        append: (entry) => recorder.append(entry),
        currentLabels: { ...labels, ...labelsOf(request.headers) },
      },
      {
        method: request.method ?? "GET",
        path: target.pathname,
        request: () => textOf(request, budget.account(response)),
        keys: sentKeys(headerPairs(request), target.href),
        header: (name) => [request.headers[name] ?? ""].flat()[0],
      },
      { onLost, attempts },
    );
    if (recording !== undefined) {
      unfinished.add(recording.recorded);
      void recording.recorded.then(() => unfinished.delete(recording.recorded));
    }
    const fail = (error: unknown): void => {
      void recording?.end({ broken: brokenBy(error) });
      refuse(response, error);
    };
    const { ask, agent } = transports[target.protocol as keyof typeof transports];
    const options = { agent, method: request.method ?? "GET", headers: headersOnward(request.headers) };
    let upstream: http.ClientRequest;
    try {
      upstream = ask(target, options, (answer) => passBack(answer, response, recording));
    } catch (error) {
      // A header or an address that cannot be forwarded.
      fail(error);
      return;
    }
    upstream.on("error", fail);
    // If the provider changes the protocol unasked, that is not an error.
    upstream.on("close", () => {
      if (!response.headersSent) fail(new Error("the connection was closed without an answer"));
    });
    // A client that disconnects has ended the call.
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  };
  const server = http.createServer(forward);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const { agent } of Object.values(transports)) agent.destroy();
      });
      // Open calls are ended, and recorded as far as they came.
      await Promise.race([Promise.all(unfinished), pause(END_MS, undefined, { ref: false })]);
    },
  };
}

/** Every chunk is passed on unchanged, as soon as it arrives. */
function passBack(answer: http.IncomingMessage, response: http.ServerResponse, recording: Recording | undefined): void {
  const { statusCode = 502, statusMessage, headers } = answer;
  const watch = recording?.answered(statusCode, (name) => [headers[name]].flat()[0]);
  if (watch !== undefined) observe(answer, unpacked(headers["content-encoding"], watch));
  response.writeHead(statusCode, statusMessage, withoutHop(headers));
  response.flushHeaders();
  pipeline(answer, endingOnceRecorded(recording), response, () => undefined);
}

/** Every byte passes at once; the end waits a moment for the record. */
function endingOnceRecorded(recording: Recording | undefined): Transform {
  return new Transform({
    transform: (piece, _, done) => done(null, piece),
    flush: (done) => void Promise.race([recording?.recorded, pause(WAIT_MS_MAX)]).then(() => done()),
  });
}

function observe(answer: http.IncomingMessage, watch: BytesWatch): void {
  answer.on("data", (piece: Buffer) => watch.onPiece(piece));
  answer.on("close", () => {
    const broken = brokenBy(answer.errored ?? new Error("the connection was closed"));
    void watch.onEnd(answer.readableEnded ? undefined : broken);
  });
}

/** Answers are requested uncompressed; a compressed one is forwarded unchanged, and decompressed for the record. */
function unpacked(encoding: string | undefined, watch: BytesWatch): BytesWatch {
  const unpack = encoding === undefined ? undefined : unpackerOf(encoding.toLowerCase());
  if (unpack === undefined) return watch;
  let broken: Broken | undefined;
  let bytes = 0;
  unpack.on("data", (piece: Buffer) => {
    watch.onPiece(piece);
    bytes += piece.length;
    // A few bytes can stand for gigabytes, and nothing more is recorded.
    if (bytes > ANSWER_BYTES_MAX) unpack.destroy();
  });
  unpack.on("error", (error) => void watch.onEnd(broken ?? unreadable(reasonOf(error))));
  unpack.on("end", () => void watch.onEnd(broken));
  return {
    onPiece: (piece) => {
      if (!unpack.destroyed) unpack.write(piece);
    },
    onEnd: (reason) => {
      broken = reason;
      if (unpack.destroyed) void watch.onEnd(reason);
      else unpack.end();
    },
  };
}

function unpackerOf(encoding: string): Transform | undefined {
  if (encoding === "br") return createBrotliDecompress();
  return /^(?:gzip|x-gzip|deflate)$/.test(encoding) ? createUnzip() : undefined;
}

function targetOf(path: string, to: string | undefined): URL | undefined {
  if (to !== undefined) return path.startsWith("/") ? parsedUrl(`${to.replace(/\/$/, "")}${path}`) : undefined;
  const [, name = "", rest = ""] = /^\/([a-z]+)(\/.*)$/.exec(path) ?? [];
  const base = Object.hasOwn(proxiedProviders, name) ? proxiedProviders[name] : undefined;
  return base === undefined ? undefined : parsedUrl(`${base}${rest}`);
}

function parsedUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function labelsOf(headers: http.IncomingHttpHeaders): CaptureLabels {
  const given = Object.entries(ownHeaders).flatMap(([header, name]) => {
    const value = headers[header];
    return typeof value === "string" && value !== "" ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}

function headersOnward(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const kept = Object.entries(withoutHop(headers)).filter(([name]) => !Object.hasOwn(ownHeaders, name));
  // A body without a length is sent in chunks for any method: Node would send that of a GET without framing, and the
  // server would take it for the next request.
  const framing = headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
  return { ...Object.fromEntries(kept), ...framing, "accept-encoding": "identity" };
}

/** Without the headers of this connection: the known ones, and those that its Connection header names. */
function withoutHop(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/[\s,]+/));
  // Framing headers are never per connection.
  named.delete("content-length");
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name) && !named.has(name)));
}

const TOO_LARGE = { lost: "its request is larger than 64 MiB" };
const TOO_MANY = { lost: "too many requests were being sent at the same time" };

function headerPairs({ headers }: http.IncomingMessage): readonly (readonly [string, string])[] {
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const));
}

/** The request body, read while it is forwarded; undefined if it is incomplete. */
function textOf(
  request: http.IncomingMessage,
  account: ReturnType<BodyBudget["account"]>,
): Promise<string | { readonly lost: string } | undefined> {
  return new Promise((resolve) => {
    let pieces: Buffer[] = [];
    let size = 0;
    let isKept = true;
    request.on("data", (piece: Buffer) => {
      size += piece.length;
      isKept &&= size <= RECORDED_BYTES_MAX && account.take(piece.length);
      if (isKept) pieces.push(piece);
      else pieces = [];
    });
    request.on("end", () => {
      if (isKept) resolve(Buffer.concat(pieces).toString("utf8"));
      else resolve(size > RECORDED_BYTES_MAX ? TOO_LARGE : TOO_MANY);
    });
    request.on("close", () => resolve(undefined));
  });
}

const refusals: { readonly [code: string]: string } = {
  host_foreign: "this Host is not allowed; use the proxy's address, 127.0.0.1",
  origin_refused: "cross-origin request refused",
};

function refuseAddress(response: http.ServerResponse): void {
  const names = Object.keys(proxiedProviders).map((name) => `/${name}/`);
  refuse(response, new Error(`the path must begin with one of ${names.join(", ")}`), 404);
}

/** In the form in which every provider's SDK shows an error. */
function refuse(response: http.ServerResponse, error: unknown, status = 502): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const message = `hansard proxy: ${reasonOf(error)}`;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { type: "proxy_error", message } }));
}
