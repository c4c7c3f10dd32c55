// A model call as bytes, from its request to the end of its answer; `recordingFetch` and the proxy both record with it.
import { CallWatch } from "./call-watch.js";
import type { InteractionRecorder } from "./default-labels.js";
import { type ModelCall, toInteraction } from "./model-call.js";
import type { StreamWatch } from "./observed-stream.js";
import { anthropicMessages } from "./providers/anthropic-messages.js";
import { gemini } from "./providers/gemini.js";
import { openAiChat } from "./providers/openai-chat.js";
import { openAiResponses } from "./providers/openai-responses.js";
import type { Provider } from "./providers/provider.js";

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** The body as it is sent; undefined where it cannot be known. */
  readonly request: () => Promise<string | undefined>;
}

/** Undefined where nothing that is recorded is asked for. */
export function beginRecording(recorder: InteractionRecorder, asked: Asked): Recording | undefined {
  const provider = asked.method.toUpperCase() === "POST" ? providerOf(asked.path) : undefined;
  return provider === undefined ? undefined : new Recording(recorder, provider, asked);
}

/** A stream that never ends must not fill the program's memory. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

type Known = Partial<Pick<ModelCall, "status" | "request_id" | "isStream" | "answer" | "broken">>;

export class Recording {
  readonly #watch: CallWatch;
  readonly #provider: Provider;
  readonly #path: string;
  readonly #request: Promise<string | undefined>;

  constructor(recorder: InteractionRecorder, provider: Provider, { path, request }: Asked) {
    this.#watch = new CallWatch(recorder);
    this.#provider = provider;
    this.#path = path;
    this.#request = request();
    // Looked at when the call has ended, which may be long after it failed.
    this.#request.catch(() => undefined);
  }

  /** Resolves once it was recorded, or cannot be. */
  get recorded(): Promise<void> {
    return this.#watch.recorded;
  }

  /** The response has begun; the observer that this returns sees its body. */
  answered(status: number, header: (name: string) => string | null | undefined): StreamWatch<Uint8Array> {
    const known = {
      status,
      request_id: header("request-id") ?? header("x-request-id") ?? undefined,
      isStream: (header("content-type") ?? "").startsWith("text/event-stream"),
    };
    const decoder = new TextDecoder();
    let [answer, bytes] = ["", 0];
    return {
      onPiece: (piece) => {
        bytes += piece.length;
        if (bytes <= ANSWER_BYTES_MAX) answer += decoder.decode(piece, { stream: true });
      },
      onEnd: (broken) => {
        const cut =
          bytes > ANSWER_BYTES_MAX ? "the answer is longer than 64 MiB, and recorded as far as that" : undefined;
        this.end({ ...known, answer: `${answer}${decoder.decode()}`, broken: broken ?? cut });
      },
    };
  }

  end(known: Known): void {
    this.#watch.end(async () => {
      const request = await this.#request;
      if (request === undefined) return undefined;
      const nothing = { status: undefined, request_id: undefined, isStream: false, answer: "", broken: undefined };
      return toInteraction({ ...nothing, ...known, provider: this.#provider, path: this.#path, request });
    });
  }
}

/** The providers whose calls are understood: a new one is a file in `providers/` and an item here. */
const providers: readonly Provider[] = [openAiChat, openAiResponses, anthropicMessages, gemini];

function providerOf(path: string): Provider | undefined {
  return providers.find((provider) => provider.serves(path));
}
