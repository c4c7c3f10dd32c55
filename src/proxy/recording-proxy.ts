// A recording proxy on loopback, for programs that let nothing but the address of their provider be changed.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { recordingFetch, type Surroundings } from "../../client/index.js";
import type { Recorder } from "../recorder.js";

export interface ProxyOptions {
  readonly recorder: Recorder;
  readonly port: number;
  /** Where everything goes; without it the first part of the path names the provider. */
  readonly to?: string | undefined;
  /** What holds for calls that do not say otherwise. */
  readonly surroundings: Surroundings;
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

/** A program that can send headers says with these which session a call belongs to; they go no further. */
const ownHeaders = { "x-hansard-session": "session_id", "x-hansard-project": "project" } as const;

/** Of this connection and not of the next one. */
const hopByHop = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "host", "content-length", "expect"],
]);

const BODY_BYTES_MAX = 64 * 1024 * 1024;

export async function serveProxy({ recorder, port, to, surroundings }: ProxyOptions): Promise<Proxying> {
  const server = createServer((request, response) => {
    const ended = new AbortController();
    response.on("close", () => ended.abort());
    forward(request, response, ended.signal).catch((error: unknown) => refuse(response, error));
  });
  const forward = async (request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> => {
    const target = targetOf(request.url ?? "/", to);
    if (target === undefined) return refuseAddress(response);
    const recording = recordingFetch({
      recordInteraction: (input) => recorder.recordInteraction(input),
      surroundings: { ...surroundings, ...surroundingsOf(request.headers) },
    });
    const body = await bodyOf(request);
    const answer = await recording(target, {
      method: request.method ?? "GET",
      headers: headersOnward(request.headers),
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal,
    });
    response.writeHead(answer.status, answer.statusText, headersBack(answer.headers));
    response.flushHeaders();
    if (answer.body === null) response.end();
    else await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response);
  };
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function targetOf(path: string, to: string | undefined): URL | undefined {
  if (to !== undefined) return new URL(`${to.replace(/\/$/, "")}${path}`);
  const [, name = "", rest = ""] = /^\/([a-z]+)(\/.*)$/.exec(path) ?? [];
  const base = Object.hasOwn(proxiedProviders, name) ? proxiedProviders[name] : undefined;
  return base === undefined ? undefined : new URL(`${base}${rest}`);
}

function surroundingsOf(headers: IncomingHttpHeaders): Surroundings {
  const given = Object.entries(ownHeaders).flatMap(([header, name]) => {
    const value = headers[header];
    return typeof value === "string" && value !== "" ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}

/** Answers come uncompressed, so that what is recorded is what was sent, and nothing has to be unpacked on the way. */
function headersOnward(headers: IncomingHttpHeaders): [string, string][] {
  const kept = Object.entries(headers).filter(([name]) => !hopByHop.has(name) && !Object.hasOwn(ownHeaders, name));
  const pairs = kept.flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));
  return [...pairs.filter(([name]) => name !== "accept-encoding"), ["accept-encoding", "identity"]];
}

function headersBack(headers: Headers): OutgoingHttpHeaders {
  const kept = [...headers].filter(([name]) => !hopByHop.has(name) && name !== "content-encoding");
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(kept), ...(cookies.length === 0 ? {} : { "set-cookie": cookies }) };
}

/** Requests are read whole, since what is recorded is the whole of them; undefined where there is no body. */
async function bodyOf(request: IncomingMessage): Promise<string | Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > BODY_BYTES_MAX) throw new Error("the request is larger than 64 MiB");
    pieces.push(piece);
  }
  return size === 0 ? undefined : new Uint8Array(Buffer.concat(pieces));
}

function refuseAddress(response: ServerResponse): void {
  const names = Object.keys(proxiedProviders).map((name) => `/${name}/`);
  refuse(response, new Error(`the path must begin with one of ${names.join(", ")}`), 404);
}

/** In the shape that every provider's SDK shows as an error. */
function refuse(response: ServerResponse, error: unknown, status = 502): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = `hansard proxy: ${reason instanceof Error ? reason.message : String(reason)}`;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { type: "proxy_error", message } }));
}
