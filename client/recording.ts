// A model call as bytes, from its request to the end of its answer; `recordingFetch` and the proxy both record with it.
import { type AgentLabels, labelsInBody, labelsInHeaders } from "./agent-session.js";
import type { Attempts } from "./attempts.js";
import { unreadable } from "./broken-call.js";
import { CallWatch, type OnLost } from "./call-watch.js";
import type { CaptureLabels, InteractionRecorder } from "./default-labels.js";
import { asksForEmbeddings, toRaw } from "./embedding-call.js";
import type { InteractionInput } from "./entries.js";
import { type ModelCall, toInteraction } from "./model-call.js";
import type { StreamWatch } from "./observed-stream.js";
import { anthropicMessages } from "./providers/anthropic-messages.js";
import { gemini } from "./providers/gemini.js";
import { openAiChat } from "./providers/openai-chat.js";
import { openAiResponses } from "./providers/openai-responses.js";
import type { Provider } from "./providers/provider.js";
import { withoutKeys } from "./sent-keys.js";
import { jsonObjectIn } from "./server-errors.js";

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

/** What the recordings of one program share. */
export interface RecordingOptions {
  readonly onLost?: OnLost | undefined;
  readonly attempts: Attempts;
}

/** Undefined where nothing that is recorded is asked for. */
export function beginRecording(
  recorder: InteractionRecorder,
  asked: Asked,
  options: RecordingOptions,
): Recording | undefined {
  if (asked.method.toUpperCase() !== "POST") return undefined;
  const provider = providerOf(asked.path);
  if (provider === undefined && !(asksForEmbeddings(asked.path) && recorder.append !== undefined)) return undefined;
  return new Recording({ recorder, provider, asked, options });
}

/** A stream that never ends must not fill the program's memory. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

const TOO_LONG = "the answer is longer than 64 MiB; only its beginning was recorded";
/** The first token of any provider's stream: what comes before are names and counts. */
const FIRST_TOKEN =
  /"(?:text|content|arguments|partial_json|thinking|reasoning_content|delta)"\s*:\s*"[^"]|"functionCall"|"tool_use"/;

/** A key may begin in the piece before. */
const KEY_CHARS_MAX = 64;

type Known = Partial<Pick<ModelCall, "status" | "request_id" | "isStream" | "answer" | "broken" | "isPending">>;

export class Recording {
  readonly #watch: CallWatch;
  readonly #recorder: InteractionRecorder;
  readonly #provider: Provider | undefined;
  readonly #asked: Asked;
  readonly #attempts: Attempts;
  readonly #request: ReturnType<Asked["request"]>;
  readonly #labels: CaptureLabels;
  readonly #named: AgentLabels;
  readonly #given: ReadonlySet<string>;

  constructor(parts: {
    readonly recorder: InteractionRecorder;
    readonly provider: Provider | undefined;
    readonly asked: Asked;
    readonly options: RecordingOptions;
  }) {
    const { recorder, provider, asked, options } = parts;
    const pending = provider === undefined ? {} : { asked: () => this.#interaction({ isPending: true }) };
    this.#watch = new CallWatch(recorder, { ...pending, onLost: options.onLost });
    this.#recorder = recorder;
    this.#provider = provider;
    this.#asked = asked;
    this.#attempts = options.attempts;
    this.#named = labelsInHeaders(asked.header);
    this.#labels = { ...recorder.currentLabels };
    const labels = Object.entries(this.#labels).filter(([, value]) => value !== undefined && value.length > 0);
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
    const isStream = (header("content-type") ?? "").startsWith("text/event-stream");
    const request_id = header("request-id") ?? header("x-request-id") ?? undefined;
    const decoder = new TextDecoder();
    let [answer, bytes, hasToken] = ["", 0, !isStream];
    return {
      onPiece: (piece) => {
        bytes += piece.length;
        if (bytes <= ANSWER_BYTES_MAX) answer += decoder.decode(piece, { stream: true });
        // Only what is new is looked at: a stream may never have one, and be long.
        if (hasToken || !FIRST_TOKEN.test(answer.slice(-piece.length - KEY_CHARS_MAX))) return;
        hasToken = true;
        this.#watch.answering();
      },
      onEnd: (broken) => {
        const cut = bytes > ANSWER_BYTES_MAX ? unreadable(TOO_LONG) : undefined;
        return this.end({
          status,
          request_id,
          isStream,
          answer: `${answer}${decoder.decode()}`,
          broken: broken ?? cut,
        });
      },
    };
  }

  /** Labels that are not given otherwise, as the agent names them. */
  #labelled<I extends object>(call: I, request: string): I {
    const found = { ...labelsInBody(request), ...this.#named };
    const given = Object.entries(found).filter(([name]) => !this.#given.has(name));
    return given.length === 0 ? call : { ...call, ...Object.fromEntries(given) };
  }

  /** Resolves when the call was recorded, or after a moment. */
  end(known: Known): Promise<void> {
    return this.#watch.end(() =>
      this.#provider === undefined ? this.#recordEmbeddings(known) : this.#interaction(known),
    );
  }

  /** What it asked; undefined where that is no JSON, and so no model call. */
  async #requestText(): Promise<string | undefined> {
    const request = await this.#request;
    if (typeof request === "object") throw new Error(request.lost);
    return request;
  }

  async #interaction(known: Known): Promise<Omit<InteractionInput, "latency_ms"> | undefined> {
    const [request, provider] = [await this.#requestText(), this.#provider];
    if (request === undefined || provider === undefined) return undefined;
    const nothing = { status: undefined, request_id: undefined, isStream: false, answer: "", broken: undefined };
    const call = toInteraction({ ...nothing, ...known, provider, path: this.#asked.path, request });
    if (call === undefined) return undefined;
    const { id } = this.#watch;
    const retry_of = this.#attempts.before(request);
    if (known.isPending !== true) this.#attempts.ended(request, { id, hasFailed: call.error !== undefined });
    const linked = retry_of === undefined ? call : { ...call, extra: { ...call.extra, retry_of } };
    return withoutKeys(this.#labelled(linked, request), this.#asked.keys);
  }

  async #recordEmbeddings({ status = 0, answer = "" }: Known): Promise<undefined> {
    const request = jsonObjectIn((await this.#requestText()) ?? "");
    if (status < 200 || status > 299) return;
    const { session_id, project, client, user_id, tags, parent_id } = this.#labelled(
      this.#labels,
      JSON.stringify(request),
    );
    const raw = toRaw(this.#asked.path, request, jsonObjectIn(answer));
    const labelled = { session_id, project, client, user_id, tags, parent_id, ...raw };
    await this.#recorder.append?.(withoutKeys(labelled, this.#asked.keys));
  }
}

/** The providers whose calls are understood: a new one is a file in `providers/` and an item here. */
const providers: readonly Provider[] = [openAiChat, openAiResponses, anthropicMessages, gemini];

function providerOf(path: string): Provider | undefined {
  return providers.find((provider) => provider.serves(path));
}
