// A real server on a free port for one test, and short ways to ask it.
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { openRecorder, type Recorder, type RecorderOptions } from "../../src/index.js";
import { inspectStore } from "../../src/recorder/inspect-store.js";
import { type ServeOptions, type Serving, serve } from "../../src/surfaces/http/serve.js";
import { storeOfFile, storeOfTest } from "../support/store.js";

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. Tests say what they expect of it, so its type is left open. */
  // biome-ignore lint/suspicious/noExplicitAny: every answer has another shape, and the assertions are the check.
  readonly body: any;
}

export interface TestServer extends Serving {
  readonly data: string;
  readonly recorder: Recorder;
  get(path: string): Promise<HttpResponse>;
  /** Sends a string or bytes as they are, anything else as JSON. */
  post(path: string, body?: unknown, headers?: { readonly [name: string]: string }): Promise<HttpResponse>;
  request(path: string, options: RequestInit): Promise<HttpResponse>;
}

type TestServerOptions = Pick<RecorderOptions, "rebuild"> & { readonly data: string } & Partial<
    Omit<ServeOptions, "recorder">
  >;

/** A server for one test; called inside the test. */
export async function startServer(options: Partial<TestServerOptions> = {}): Promise<TestServer> {
  const server = await openServer({ data: options.data ?? (await storeOfTest()), ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A server for all tests of a file; called outside of them. */
export function serverOfFile(): () => TestServer {
  const store = storeOfFile();
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await openServer({ data: await store() });
  });
  afterAll(() => server?.close());
  return () => server as TestServer;
}

async function openServer({ data, rebuild = {}, ...options }: TestServerOptions): Promise<TestServer> {
  const recorder = await openRecorder({ data, rebuild });
  const serving = await serve({
    version: "1.2.3",
    port: 0,
    inspect: () => inspectStore({ data }),
    ...options,
    recorder,
  });
  const request = (path: string, init: RequestInit): Promise<HttpResponse> => ask(`${serving.address}${path}`, init);
  return {
    ...serving,
    data,
    recorder,
    request,
    get: (path) => request(path, {}),
    post: (path, body, headers = { "content-type": "application/json" }) =>
      request(path, { method: "POST", headers, ...(body === undefined ? {} : { body: toBytes(body) }) }),
  };
}

async function ask(address: string, init: RequestInit): Promise<HttpResponse> {
  const response = await fetch(address, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : undefined,
  };
}

function toBytes(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === "string" ? body : JSON.stringify(body);
}
