// Middleware for the AI SDK: `wrapLanguageModel({ model, middleware: recordingMiddleware(recorder) })`.
import { type Broken, brokenBy } from "../broken-call.js";
import { CallWatch } from "../call-watch.js";
import type { InteractionRecorder } from "../default-labels.js";
import { observeStream } from "../observed-stream.js";
import { isJson, type Json, jsonAt, textAt, toolCall, usageOf } from "../providers/provider.js";
import { reasonOf } from "../server-errors.js";
import { seenInteraction } from "./model-calls.js";

interface AiSdkCall {
  readonly params: { readonly prompt: readonly unknown[]; readonly tools?: unknown };
  readonly model: { readonly modelId: string };
}

/** In the shape of its third specification; the parts that are looked at are those of the second too. */
export function recordingMiddleware(recorder: InteractionRecorder) {
  return {
    specificationVersion: "v3" as const,
    async wrapGenerate<R>({
      doGenerate,
      ...call
    }: AiSdkCall & { readonly doGenerate: () => PromiseLike<R> }): Promise<R> {
      const seen = new Seen(recorder, call);
      try {
        const result = await doGenerate();
        await seen.whole(result);
        return result;
      } catch (error) {
        await seen.end(brokenBy(error));
        throw error;
      }
    },
    async wrapStream<P, R extends { readonly stream: ReadableStream<P> }>({
      doStream,
      ...call
    }: AiSdkCall & { readonly doStream: () => PromiseLike<R> }): Promise<R> {
      const seen = new Seen(recorder, call);
      try {
        const result = await doStream();
        const watch = { onPiece: (part: P) => seen.take(part), onEnd: (broken?: Broken) => seen.end(broken) };
        return { ...result, stream: observeStream(result.stream, watch) };
      } catch (error) {
        await seen.end(brokenBy(error));
        throw error;
      }
    },
  };
}

class Seen {
  readonly #call: AiSdkCall;
  readonly #watch: CallWatch;
  readonly #tool_calls: Json[] = [];
  #text = "";
  #reasoning = "";
  #finish: Json = {};
  #response: Json = {};
  #error: string | undefined;

  constructor(recorder: InteractionRecorder, call: AiSdkCall) {
    this.#call = call;
    const { prompt: messages, tools } = call.params;
    this.#watch = new CallWatch(recorder, {
      asked: () => seenInteraction({ messages, tools, model: call.model.modelId }),
    });
  }

  whole(result: unknown): Promise<void> {
    const { content } = isJson(result) ? result : {};
    for (const part of Array.isArray(content) ? content : []) this.take(part);
    this.#finish = isJson(result) ? result : {};
    this.#response = jsonAt(result, "response");
    return this.end(undefined);
  }

  take(part: unknown): void {
    if (!isJson(part)) return;
    const { type } = part;
    if (String(type).endsWith("-delta")) this.#watch.answering();
    if (type === "text" || type === "text-delta") this.#text += textAt(part, "text") ?? textAt(part, "delta") ?? "";
    if (type === "reasoning" || type === "reasoning-delta") {
      this.#reasoning += textAt(part, "text") ?? textAt(part, "delta") ?? "";
    }
    if (type === "tool-call") this.#tool_calls.push(toolCall(part.toolCallId, part.toolName, part.input));
    if (type === "response-metadata") this.#response = { ...this.#response, ...part };
    if (type === "finish") this.#finish = part;
    if (type === "error") this.#error = reasonOf(part.error);
  }

  end(broken: Broken | undefined): Promise<void> {
    const { prompt, tools } = this.#call.params;
    const { finishReason } = this.#finish;
    const extra = {
      message_id: textAt(this.#response, "id"),
      finish_reason: typeof finishReason === "string" ? finishReason : textAt(finishReason, "unified"),
      tool_calls: this.#tool_calls.length === 0 ? undefined : this.#tool_calls,
      reasoning: this.#reasoning === "" ? undefined : this.#reasoning,
    };
    return this.#watch.end(() =>
      seenInteraction({
        messages: prompt,
        tools,
        response: this.#text,
        extra,
        model: textAt(this.#response, "modelId") ?? this.#call.model.modelId,
        usage: usageOf(this.#finish.usage, usagePlaces),
        error: this.#error ?? broken?.reason,
      }),
    );
  }
}

const usagePlaces = {
  input_tokens: [["inputTokens", "total"], ["inputTokens"]],
  output_tokens: [["outputTokens", "total"], ["outputTokens"]],
  cache_read_tokens: [["inputTokens", "cacheRead"], ["cachedInputTokens"]],
  cache_write_tokens: [["inputTokens", "cacheWrite"]],
  reasoning_tokens: [["outputTokens", "reasoning"], ["reasoningTokens"]],
} as const;
