// A model call as bytes, from its request to the end of its answer; `recordingFetch` and the proxy both record with it.
import { type AgentLabels, labelsInBody, labelsInHeaders } from "./agent-session.js";
import { CallWatch, type OnLost } from "./call-watch.js";
import type { InteractionRecorder } from "./default-labels.js";
import { type ModelCall, toInteraction } from "./model-call.js";
import type { StreamWatch } from "./observed-stream.js";
import { anthropicMessages } from "./providers/anthropic-messages.js";
import { gemini } from "./providers/gemini.js";
import { openAiChat } from "./providers/openai-chat.js";
import { openAiResponses } from "./providers/openai-responses.js";
import type { Provider } from "./providers/provider.js";
import { withoutKeys } from "./sent-keys.js";

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** The body as it is sent; undefined where it cannot be known, and as a reason where that loses the call. */
  readonly request: () => Promise<string | { readonly lost: string } | undefined>;
  /** What it was sent with, which is masked. */
  readonly keys: readonly string[];
  /** A header that it was sent with, by its name in lower case. */
  readonly header: (name: string) => string | null | undefined;
}

/** Undefined where nothing that is recorded is asked for. */
export function beginRecording(recorder: InteractionRecorder, asked: Asked, onLost?: OnLost): Recording | undefined {
  const provider = asked.method.toUpperCase() === "POST" ? providerOf(asked.path) : undefined;
  return provider === undefined ? undefined : new Recording({ recorder, provider, asked, onLost });
}

/** A stream that never ends must not fill the program's memory. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

type Known = Partial<Pick<ModelCall, "status" | "request_id" | "isStream" | "answer" | "broken">>;

export class Recording {
  readonly #watch: CallWatch;
  readonly #provider: Provider;
  readonly #path: string;
  readonly #request: ReturnType<Asked["request"]>;
  readonly #keys: readonly string[];
  readonly #named: AgentLabels;
  readonly #given: ReadonlySet<string>;

  constructor(parts: {
    readonly recorder: InteractionRecorder;
    readonly provider: Provider;
    readonly asked: Asked;
    readonly onLost: OnLost | undefined;
  }) {
    const { recorder, provider, asked, onLost } = parts;
    this.#watch = new CallWatch(recorder, onLost);
    this.#provider = provider;
    this.#path = asked.path;
    this.#keys = asked.keys;
    this.#named = labelsInHeaders(asked.header);
    const labels = Object.entries(recorder.currentLabels ?? {}).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    this.#given = new Set(labels.map(([name]) => name));
    this.#request = asked.request();
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
          bytes > ANSWER_BYTES_MAX ? "the answer is longer than 64 MiB; only its beginning was recorded" : undefined;
        this.end({ ...known, answer: `${answer}${decoder.decode()}`, broken: broken ?? cut });
      },
    };
  }

  /** Labels that are not given otherwise, as the agent names them. */
  #labelled<I extends object>(call: I, request: string): I {
    const found = { ...labelsInBody(request), ...this.#named };
    const given = Object.entries(found).filter(([name]) => !this.#given.has(name));
    return given.length === 0 ? call : { ...call, ...Object.fromEntries(given) };
  }

  end(known: Known): void {
    this.#watch.end(async () => {
      const request = await this.#request;
      if (request === undefined) return undefined;
      if (typeof request === "object") throw new Error(request.lost);
      const nothing = { status: undefined, request_id: undefined, isStream: false, answer: "", broken: undefined };
      const call = toInteraction({ ...nothing, ...known, provider: this.#provider, path: this.#path, request });
      return call && withoutKeys(this.#labelled(call, request), this.#keys);
    });
  }
}

/** The providers whose calls are understood: a new one is a file in `providers/` and an item here. */
const providers: readonly Provider[] = [openAiChat, openAiResponses, anthropicMessages, gemini];

function providerOf(path: string): Provider | undefined {
  return providers.find((provider) => provider.serves(path));
}
