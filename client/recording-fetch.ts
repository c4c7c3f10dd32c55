// A `fetch` that any provider's SDK takes: it records model calls, and hands every byte on unchanged and unbuffered.
import { Attempts } from "./attempts.js";
import { brokenBy, unreadable } from "./broken-call.js";
import type { InteractionRecorder } from "./default-labels.js";
import { assertKnown } from "./known-options.js";
import { observeBody } from "./observed-stream.js";
import { type Asked, beginRecording, type Recording } from "./recording.js";
import { sentKeys } from "./sent-keys.js";

type Fetch = typeof globalThis.fetch;

export interface RecordingFetchOptions {
  /** What really asks; the global `fetch` by default. */
  readonly fetch?: Fetch | undefined;
  /** Hears why a call is not recorded; a warning on stderr by default. */
  readonly onLost?: ((reason: string) => void) | undefined;
}

/** Throws at once where it cannot work, and never inside of the agent's call. */
export function recordingFetch(recorder: InteractionRecorder, options: RecordingFetchOptions = {}): Fetch {
  if (typeof (recorder as InteractionRecorder | undefined)?.recordInteraction !== "function") {
    throw new TypeError("recordingFetch needs a recorder: recordingFetch(connectRecorder()), or one of openRecorder()");
  }
  assertKnown("recordingFetch", options, ["fetch", "onLost"]);
  const attempts = new Attempts();
  const plain = options.fetch ?? globalThis.fetch;
  return async (input, init) => {
    const path = pathOf(input);
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    const request = {
      method,
      path: path ?? "",
      request: () => requestText(input, init),
      keys: keysOf(input, init),
      header: headersOf(input, init),
    };
    const recording =
      path === undefined ? undefined : beginRecording(recorder, request, { onLost: options.onLost, attempts });
    if (recording === undefined) return plain(input, init);
    try {
      return await observed(recording, await plain(input, init));
    } catch (error) {
      await recording.end({ broken: brokenBy(error) });
      throw error;
    }
  };
}

async function observed(recording: Recording, response: Response): Promise<Response> {
  const { status, headers, body } = response;
  const watch = recording.answered(status, (name) => headers?.get(name));
  if (isStream(body)) return likeResponse(response, observeBody(body, watch));
  // Another `fetch` than the runtime's may have a body of its own kind, which cannot be looked at without taking it away.
  await watch.onEnd(body ? unreadable("the body of the answer cannot be read") : undefined);
  return response;
}

function isStream(body: unknown): body is ReadableStream<Uint8Array> {
  return typeof (body as { readonly getReader?: unknown } | null | undefined)?.getReader === "function";
}

/** The same answer with another body. */
function likeResponse(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  // Servers send statuses that a program may not make up.
  const line = status >= 200 && status <= 599 ? { status, statusText } : {};
  return withFactsOf(response, new Response(body, { ...line, headers }));
}

/** A copy has no address, and some programs look at it; nor does a copy of the copy. */
function withFactsOf(response: Response, copy: Response): Response {
  const { status, statusText, ok, url, redirected, type } = response;
  const clone = (): Response => withFactsOf(response, Response.prototype.clone.call(copy));
  for (const [name, value] of Object.entries({ status, statusText, ok, url, redirected, type, clone })) {
    Object.defineProperty(copy, name, { value });
  }
  return copy;
}

function pathOf(input: Parameters<Fetch>[0]): string | undefined {
  const text = typeof input === "string" || input instanceof URL ? String(input) : (input as Partial<Request>)?.url;
  return text !== undefined && URL.canParse(text) ? new URL(text).pathname : undefined;
}

function headersOf(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): (name: string) => string | null {
  try {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
    return (name) => headers.get(name);
  } catch {
    return () => null;
  }
}

function keysOf(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): readonly string[] {
  const address = input instanceof Request ? input.url : String(input);
  try {
    return sentKeys(new Headers(init?.headers ?? (input instanceof Request ? input.headers : {})), address);
  } catch {
    // Headers that no request can have: what really asks refuses them.
    return sentKeys([], address);
  }
}

/** The body as it is sent, where it can be read without taking it away; a stream cannot. */
async function requestText(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): ReturnType<Asked["request"]> {
  const body = init?.body;
  if (typeof body === "string") return body;
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return new TextDecoder().decode(body);
  if (body instanceof Blob) return body.text();
  if (body === undefined && input instanceof Request && !input.bodyUsed) return input.clone().text();
  return isStream(body)
    ? { lost: "the request's body is a stream, which cannot be read without taking it away" }
    : undefined;
}
