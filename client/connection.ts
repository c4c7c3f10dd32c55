// One connection to a Hansard server: the client delivers through it, and the library asks a server through it. It uses Node's
// own HTTP, whose sockets need not keep a process alive, and `fetch` where there is no Node. It follows no redirects: the key
// is for the address it was given for.
import { type NodeModules, node, unref } from "./node.js";
import { ConnectionError, timeoutError, toConnectionError } from "./server-errors.js";

export interface ConnectionOptions {
  /** Where the server is, without a slash at its end. */
  readonly address: string;
  readonly key: string | undefined;
  /** Whether a request that is under way keeps the process alive. */
  readonly keeps_process_alive: boolean;
  readonly sockets_max?: number;
}

export interface ServerRequest {
  /** The path with its query, as it is sent. */
  readonly path: string;
  readonly timeout_ms: number;
  /** A request with a body is a POST, and one without is a GET. */
  readonly body?: { readonly type: string; readonly text: string } | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface AnswerHead {
  readonly status: number;
  readonly content_type: string;
  /** Where a redirect leads. */
  readonly location: string | undefined;
  /** How long the server asked to be left alone. */
  readonly retry_after_ms: number | undefined;
}

export interface ServerAnswer extends AnswerHead {
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends an answer that is not read. */
  cancel(): void;
}

export interface WholeAnswer extends AnswerHead {
  readonly text: string;
}

interface Sent extends ServerRequest {
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

interface Transport {
  send(sent: Sent): Promise<ServerAnswer>;
  close(): void;
}

export class Connection {
  readonly #key: string | undefined;
  readonly #keepsProcessAlive: boolean;
  readonly #transport: Transport;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#key = options.key;
    this.#keepsProcessAlive = options.keeps_process_alive;
    this.#transport = node === undefined ? fetchTransport(options) : nodeTransport(options, node);
  }

  /** Resolves when the answer begins; its body is read as it comes. Fails with a `ConnectionError` where none comes in time. */
  open(request: ServerRequest): Promise<ServerAnswer> {
    return this.#inTime(request, (signal) => this.#send(request, signal));
  }

  /** Resolves with the whole answer. */
  ask(request: ServerRequest): Promise<WholeAnswer> {
    return this.#inTime(request, async (signal) => {
      const { body, cancel: _, ...head } = await this.#send(request, signal);
      return { ...head, text: await readText(body) };
    });
  }

  /** Refuses further requests and, in Node, ends those under way. */
  close(): void {
    this.#isClosed = true;
    this.#transport.close();
  }

  #send(request: ServerRequest, signal: AbortSignal): Promise<ServerAnswer> {
    const { body } = request;
    const headers = {
      ...(this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }),
      ...(body === undefined ? {} : { "content-type": body.type }),
    };
    return this.#transport.send({ ...request, headers, signal });
  }

  async #inTime<T>(request: ServerRequest, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new ConnectionError("aborted", "the connection is closed");
    const { timeout_ms, signal } = request;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), timeout_ms);
    if (!this.#keepsProcessAlive) unref(timer);
    try {
      return await work(signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]));
    } catch (error) {
      throw stop.signal.aborted ? timeoutError(timeout_ms, error) : toConnectionError(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** All bytes of a body. */
export async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of textOf(body)) text += piece;
  return text;
}

/** A body as text, as it comes. */
export async function* textOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  for await (const chunk of body) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

function nodeTransport(
  { address, keeps_process_alive, sockets_max }: ConnectionOptions,
  modules: NodeModules,
): Transport {
  const base = new URL(address);
  const client = base.protocol === "https:" ? modules.https : modules.http;
  const agent = new client.Agent({
    keepAlive: true,
    ...(sockets_max === undefined ? {} : { maxSockets: sockets_max }),
  });
  const folder = base.pathname.replace(/\/+$/, "");
  const send = (sent: Sent): Promise<ServerAnswer> =>
    new Promise((resolve, reject) => {
      const { path, body, headers, signal } = sent;
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body.text)) };
      // The path is sent as it is: `.` and `..` are ids like any other, and a URL would resolve them.
      const request = client.request(base, {
        method: body === undefined ? "GET" : "POST",
        path: `${folder}${path}`,
        headers: { ...headers, ...length },
        agent,
        signal,
      });
      if (!keeps_process_alive) request.on("socket", (socket) => socket.unref());
      request.on("error", (error: Error & { readonly code?: string }) => {
        // The server may close an idle socket at the moment it is used again. A question can be asked twice.
        const isStale = request.reusedSocket && error.code === "ECONNRESET" && body === undefined;
        if (isStale && !signal.aborted) resolve(send(sent));
        else reject(error);
      });
      request.on("response", (response) => {
        const { statusCode = 0, headers: given } = response;
        resolve({
          status: statusCode,
          content_type: given["content-type"] ?? "",
          location: given.location,
          retry_after_ms: retryAfter(given["retry-after"]),
          body: wholeBody(response, () => response.complete),
          cancel: () => void response.destroy(),
        });
      });
      request.end(body?.text);
    });
  return { send, close: () => agent.destroy() };
}

/** What breaks while a body is read is a connection error, too. */
async function* wholeBody(
  body: AsyncIterable<Uint8Array>,
  isComplete: () => boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    throw toConnectionError(error);
  }
  if (!isComplete()) throw toConnectionError({ code: "ERR_STREAM_PREMATURE_CLOSE" });
}

/** The program may put another `fetch` in place of this one, to record what goes through it. */
const plainFetch = globalThis.fetch;

function fetchTransport({ address }: ConnectionOptions): Transport {
  return {
    async send({ path, body, headers, signal }) {
      const method = body === undefined ? "GET" : "POST";
      const keepalive = body !== undefined && body.text.length < KEEPALIVE_CHARS_MAX;
      const init = { method, headers, signal, keepalive, redirect: "manual", body: body?.text ?? null } as const;
      const answer = await plainFetch(`${address}${path}`, init);
      return {
        // A browser hides the status of a redirect.
        status: answer.type === "opaqueredirect" ? 302 : answer.status,
        content_type: answer.headers.get("content-type") ?? "",
        location: answer.headers.get("location") ?? undefined,
        retry_after_ms: retryAfter(answer.headers.get("retry-after")),
        body: wholeBody(chunksOf(answer.body), () => true),
        cancel: () => void answer.body?.cancel().catch(() => undefined),
      };
    },
    close: () => undefined,
  };
}

/** When its page is left, a browser still sends what is not larger than this. */
const KEEPALIVE_CHARS_MAX = 16 * 1024;

/** Not every browser can iterate over a stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream?.getReader();
  if (reader === undefined) return;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function retryAfter(header: string | null | undefined): number | undefined {
  const seconds = Number(header ?? undefined);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 300) * 1000 : undefined;
}
