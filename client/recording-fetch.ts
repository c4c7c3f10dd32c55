// A `fetch` that any provider's SDK takes: it records model calls, and hands every byte on unchanged and unbuffered.
import type { InteractionRecorder } from "./interaction-recorder.js";
import { observeBody, reasonOf } from "./observed-body.js";
import { beginRecording, type Recording } from "./recording.js";

type Fetch = typeof globalThis.fetch;

export interface RecordingFetchOptions {
  /** What really asks; the global `fetch` by default. */
  readonly fetch?: Fetch | undefined;
}

export function recordingFetch(recorder: InteractionRecorder, options: RecordingFetchOptions = {}): Fetch {
  const plain = options.fetch ?? globalThis.fetch;
  return async (input, init) => {
    const path = pathOf(input);
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    const asked = path === undefined ? undefined : { method, path, request: () => requestText(input, init) };
    const recording = asked === undefined ? undefined : beginRecording(recorder, asked);
    if (recording === undefined) return plain(input, init);
    try {
      return observed(recording, await plain(input, init));
    } catch (error) {
      recording.end({ broken: reasonOf(error) });
      throw error;
    }
  };
}

function observed(recording: Recording, response: Response): Response {
  const watch = recording.answered(response.status, (name) => response.headers.get(name));
  if (response.body !== null) return likeResponse(response, observeBody(response.body, watch));
  watch.onEnd(undefined);
  return response;
}

/** The same answer with another body: a copy has no address, and some programs look at it. */
function likeResponse(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers, url, redirected, type } = response;
  const copy = new Response(body, { status, statusText, headers });
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(copy, name, { value });
  return copy;
}

function pathOf(input: Parameters<Fetch>[0]): string | undefined {
  const text = typeof input === "string" || input instanceof URL ? String(input) : input.url;
  return URL.canParse(text) ? new URL(text).pathname : undefined;
}

/** The body as it is sent, where it can be read without taking it away; a stream cannot. */
async function requestText(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): Promise<string | undefined> {
  const body = init?.body;
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) return new TextDecoder().decode(body);
  if (body instanceof Blob) return body.text();
  if (body === undefined && input instanceof Request && !input.bodyUsed) return input.clone().text();
  return undefined;
}
