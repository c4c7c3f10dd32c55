// Vercel's AI SDK up to 6, and 7 with the older shape of spans. Its outer spans repeat what their calls say.
import type { JsonObject, JsonValue } from "../../model/json.js";
import { type Attributes, fromText, numberAt, textAt, valueAt } from "../attributes.js";
import type { CallMeaning, Dialect } from "../meaning.js";
import { callsIn, toMessages, unwrapped } from "../messages.js";
import type { SpanItem } from "../telemetry-items.js";
import { documentsIn, settingsOf, usageOf } from "./shared.js";

export const aiSdk: Dialect = {
  name: "ai-sdk",
  span(span) {
    const { attributes } = span;
    const operation = textAt(attributes, "ai.operationId");
    if (operation === undefined) return undefined;
    if (operation === "ai.toolCall") {
      return {
        is: "tool",
        tool: textAt(attributes, "ai.toolCall.name") ?? "unknown",
        args: valueAt(attributes, "ai.toolCall.args", "ai.toolCall.input"),
        result: unwrapped(valueAt(attributes, "ai.toolCall.result", "ai.toolCall.output")),
        call_id: textAt(attributes, "ai.toolCall.id"),
      };
    }
    if (/\.do(?:Generate|Stream)$/.test(operation)) return aiSdkCall(span);
    if (operation.startsWith("ai.rerank")) {
      return { is: "retrieval", documents: documentsIn(valueAt(attributes, "ai.documents")) };
    }
    return { is: "step" };
  },
};

function aiSdkCall({ attributes, events }: SpanItem): CallMeaning {
  const response = textAt(attributes, "ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object");
  const calls = callsIn(valueAt(attributes, "ai.response.toolCalls", "ai.result.toolCalls") ?? null);
  const isAnswered = response !== undefined || calls.length > 0 || attributes["ai.response.text"] !== undefined;
  const first = events.find(({ name }) => name === "ai.stream.firstChunk")?.attributes ?? {};
  return {
    is: "call",
    messages: toMessages(valueAt(attributes, "ai.prompt.messages", "ai.prompt")),
    tools: toolsIn(attributes["ai.prompt.tools"]),
    response: isAnswered ? (response ?? "") : undefined,
    tool_calls: calls,
    reasoning: textAt(attributes, "ai.response.reasoning"),
    model: textAt(attributes, "ai.response.model", "gen_ai.response.model", "ai.model.id", "gen_ai.request.model"),
    provider: textAt(attributes, "ai.model.provider", "gen_ai.system"),
    message_id: textAt(attributes, "ai.response.id", "gen_ai.response.id"),
    usage: aiSdkUsage(attributes),
    finish_reason: textAt(attributes, "ai.response.finishReason", "ai.finishReason"),
    settings: settingsOf(attributes, "ai.settings.", settingsApart),
    first_token_ms: numberAt(attributes, "ai.response.msToFirstChunk") ?? numberAt(first, "ai.response.msToFirstChunk"),
  };
}

/** They are labels. */
const settingsApart = ["context.sessionId", "context.userId"];

/** Each tool is JSON of its own. */
function toolsIn(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === "string") return fromText(value);
  if (!Array.isArray(value)) return undefined;
  return value.map((tool: JsonValue) => (typeof tool === "string" ? fromText(tool) : tool));
}

function aiSdkUsage(attributes: Attributes): JsonObject | undefined {
  return usageOf(attributes, {
    input_tokens: ["ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens"],
    output_tokens: ["ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens"],
    cache_read_tokens: ["ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens"],
    cache_write_tokens: ["ai.usage.inputTokenDetails.cacheWriteTokens"],
    reasoning_tokens: ["ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens"],
  });
}
