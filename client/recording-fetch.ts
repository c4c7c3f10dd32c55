// A `fetch` that any provider's SDK takes: it records model calls, and hands every byte on unchanged and unbuffered.
import type { Surroundings } from "./context.js";
import type { InteractionInput } from "./entries.js";
import { type ModelCall, toInteraction } from "./model-call.js";
import { type BodyWatch, observeBody, reasonOf } from "./observed-body.js";
import type { Provider } from "./providers/provider.js";
import { providerOf } from "./providers/providers.js";

type Fetch = typeof globalThis.fetch;

/** Whatever records interactions: a connected recorder, or one of the library. */
export interface InteractionRecorder {
  recordInteraction(input: InteractionInput): Promise<unknown>;
  /** What holds where the call is made. */
  readonly surroundings?: Surroundings;
}

export interface RecordingFetchOptions {
  /** What really asks; the global `fetch` by default. */
  readonly fetch?: Fetch | undefined;
}

export function recordingFetch(recorder: InteractionRecorder, options: RecordingFetchOptions = {}): Fetch {
  const plain = options.fetch ?? globalThis.fetch;
  return async (input, init) => {
    const address = addressOf(input);
    const provider = isPost(input, init) && address !== undefined ? providerOf(address.pathname) : undefined;
    if (address === undefined || provider === undefined) return plain(input, init);
    const request = requestText(input, init);
    const recording = new Recording(recorder, { provider, path: address.pathname, request });
    try {
      return recording.observe(await plain(input, init));
    } catch (error) {
      recording.end({ broken: reasonOf(error) });
      throw error;
    }
  };
}

interface Asked {
  readonly provider: Provider;
  readonly path: string;
  readonly request: Promise<string | undefined>;
}

/** One call, from its beginning to the last byte of its answer. */
class Recording {
  readonly #recorder: InteractionRecorder;
  readonly #asked: Asked;
  readonly #startMs = performance.now();
  readonly #created_at = new Date().toISOString();
  // The function that is told at the end runs elsewhere, and would not know.
  readonly #surroundings: Surroundings;
  #isEnded = false;

  constructor(recorder: InteractionRecorder, asked: Asked) {
    this.#recorder = recorder;
    this.#asked = asked;
    this.#surroundings = { ...recorder.surroundings };
  }

  observe(response: Response): Response {
    const known = {
      status: response.status,
      request_id: response.headers.get("request-id") ?? response.headers.get("x-request-id") ?? undefined,
      isStream: (response.headers.get("content-type") ?? "").startsWith("text/event-stream"),
    };
    if (response.body === null) {
      this.end({ ...known, answer: "" });
      return response;
    }
    const decoder = new TextDecoder();
    let answer = "";
    const watch: BodyWatch = {
      onPiece: (piece) => {
        answer += decoder.decode(piece, { stream: true });
      },
      onEnd: (broken) => this.end({ ...known, answer: `${answer}${decoder.decode()}`, broken }),
    };
    return likeResponse(response, observeBody(response.body, watch));
  }

  end(known: Partial<Pick<ModelCall, "status" | "request_id" | "isStream" | "answer" | "broken">>): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const latency_ms = Math.round(performance.now() - this.#startMs);
    // Whatever fails here must not reach whoever made the call.
    this.#record(known, latency_ms).catch(() => undefined);
  }

  async #record(known: Parameters<Recording["end"]>[0], latency_ms: number): Promise<void> {
    const { provider, path } = this.#asked;
    const request = await this.#asked.request;
    if (request === undefined) return;
    const nothing = { status: undefined, request_id: undefined, isStream: false, answer: "", broken: undefined };
    const interaction = toInteraction({ ...nothing, ...known, provider, path, request });
    if (interaction === undefined) return;
    const happened = { created_at: this.#created_at, latency_ms };
    await this.#recorder.recordInteraction({ ...this.#surroundings, ...interaction, ...happened });
  }
}

/** The same answer with another body: a copy has no address, and some programs look at it. */
function likeResponse(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers, url, redirected, type } = response;
  const copy = new Response(body, { status, statusText, headers });
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(copy, name, { value });
  return copy;
}

function addressOf(input: Parameters<Fetch>[0]): URL | undefined {
  const text = typeof input === "string" || input instanceof URL ? String(input) : input.url;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function isPost(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]): boolean {
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  return method.toUpperCase() === "POST";
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
