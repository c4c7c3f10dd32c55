// One request to the server: through Node's own HTTP, whose sockets need not keep a process alive, or else through `fetch`.
import { type NodeModules, node, unref } from "./node.js";
import { reasonOf } from "./observed-stream.js";

export interface Wire {
  readonly status: number;
  readonly text: string;
  /** What the server asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

interface PostOptions {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly timeout_ms: number;
}

export interface Transport {
  /** Fails where there is no answer. */
  post(options: PostOptions): Promise<Wire>;
  close(): void;
}

const ANSWER_CHARS_MAX = 8 * 1024 * 1024;

/** The program may put another `fetch` in the place of this one, which records what goes through it. */
const plainFetch = globalThis.fetch;

export function createTransport(url: URL): Transport {
  return node === undefined ? fetchTransport(url) : nodeTransport(url, node);
}

function fetchTransport(url: URL): Transport {
  return {
    async post({ headers, body, timeout_ms }) {
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), timeout_ms);
      try {
        const init = { method: "POST", headers, body, signal: stop.signal, redirect: "manual" } as const;
        const answer = await plainFetch(url, { ...init, keepalive: body.length < KEEPALIVE_CHARS_MAX });
        const retryAfterMs = retryAfter(answer.headers.get("retry-after"));
        return { status: answer.status, text: await answer.text(), retryAfterMs };
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => undefined,
  };
}

/** A page that is left still sends what is not larger than this. */
const KEEPALIVE_CHARS_MAX = 16 * 1024;

function nodeTransport(url: URL, { http, https }: NodeModules): Transport {
  const client = url.protocol === "https:" ? https : http;
  const agent = new client.Agent({ keepAlive: true, maxSockets: 1 });
  const post = ({ headers, body, timeout_ms }: PostOptions): Promise<Wire> =>
    new Promise((resolve, reject) => {
      const length = { "content-length": String(Buffer.byteLength(body)) };
      const request = client.request(url, { method: "POST", agent, headers: { ...headers, ...length } });
      const timer = unref(setTimeout(() => request.destroy(new Error("no answer in time")), timeout_ms));
      const done = (): void => clearTimeout(timer);
      request.on("socket", (socket) => socket.unref());
      request.on("error", (error) => {
        done();
        reject(error);
      });
      request.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          if (text.length < ANSWER_CHARS_MAX) text += chunk;
        });
        response.on("error", (error) => {
          done();
          reject(error);
        });
        response.on("end", () => {
          done();
          const retryAfterMs = retryAfter(response.headers["retry-after"]);
          resolve({ status: response.statusCode ?? 0, text, retryAfterMs });
        });
      });
      request.end(body);
    });
  return { post, close: () => agent.destroy() };
}

/**
 * Why there was no connection, in words. What OpenSSL says of a server that speaks no TLS is its own source's place and a
 * number.
 */
export function connectionWords(error: unknown): string {
  const words = reasonOf(error);
  const [, tls] = /:SSL routines:[^:]*:([^:]+)/.exec(words) ?? [];
  if (tls === undefined) return words;
  return tls === "wrong version number" ? "it speaks no TLS; is it an http:// address?" : `no TLS connection: ${tls}`;
}

function retryAfter(header: string | null | undefined): number | undefined {
  const seconds = Number(header ?? undefined);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 300) * 1000 : undefined;
}
