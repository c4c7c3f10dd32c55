// Langfuse's SDK: observations with a type. Spans of other libraries that it passes on keep their own dialect.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { type Attributes, objectAt, textAt, valueAt } from "../attributes.js";
import type { CallMeaning, Dialect } from "../meaning.js";
import { answerOf, toMessages } from "../messages.js";
import type { SpanItem } from "../telemetry-items.js";
import { msOfNanos } from "../times.js";
import { documentsIn, usageOf } from "./shared.js";

const INPUT = "langfuse.observation.input";
const OUTPUT = "langfuse.observation.output";

export const langfuse: Dialect = {
  name: "langfuse",
  span(span) {
    const { attributes, name } = span;
    const type = textAt(attributes, "langfuse.observation.type");
    if (type === undefined) return undefined;
    if (type === "generation") return generation(span);
    if (type === "retriever") return { is: "retrieval", documents: documentsIn(valueAt(attributes, OUTPUT)) };
    if (type !== "tool") return { is: "step" };
    return { is: "tool", tool: name, args: valueAt(attributes, INPUT), result: valueAt(attributes, OUTPUT) };
  },
};

function generation({ attributes, start }: SpanItem): CallMeaning {
  const input = valueAt(attributes, INPUT);
  const output = outputOf(attributes);
  const answer = output.length === 0 ? undefined : answerOf(output);
  const known = isJsonObject(input) ? input : {};
  return {
    is: "call",
    messages: toMessages(input),
    system: known.system,
    tools: known.tools,
    response: answer?.response,
    tool_calls: answer?.tool_calls ?? [],
    reasoning: answer?.reasoning,
    model: textAt(attributes, "langfuse.observation.model.name", "gen_ai.response.model", "gen_ai.request.model"),
    message_id: textAt(attributes, "gen_ai.response.id"),
    usage: langfuseUsage(attributes),
    settings: objectAt(attributes, "langfuse.observation.model.parameters"),
    first_token_ms: firstToken(textAt(attributes, "langfuse.observation.completion_start_time"), start),
    error:
      textAt(attributes, "langfuse.observation.level") === "ERROR"
        ? (textAt(attributes, "langfuse.observation.status_message") ?? "failed without a message")
        : undefined,
  };
}

/** A provider's answer, a message, or its text. */
function outputOf(attributes: Attributes): readonly JsonObject[] {
  const output = valueAt(attributes, OUTPUT);
  if (isJsonObject(output) && Array.isArray(output.choices)) {
    return (output.choices as readonly JsonValue[]).flatMap((choice) =>
      isJsonObject(choice) ? toMessages(choice.message, "assistant") : [],
    );
  }
  const isMessage =
    isJsonObject(output) && ["role", "content", "parts", "tool_calls", "message"].some((key) => key in output);
  if (isJsonObject(output) && !isMessage) return [{ role: "assistant", content: JSON.stringify(output) }];
  return toMessages(output, "assistant");
}

/** Counts whose names contain others are parts of those. */
function langfuseUsage(attributes: Attributes): JsonObject | undefined {
  const details = objectAt(attributes, "langfuse.observation.usage_details");
  if (details === undefined) return undefined;
  return usageOf(details, {
    input_tokens: ["input", "input_tokens", "prompt_tokens", "promptTokens"],
    output_tokens: ["output", "output_tokens", "completion_tokens", "completionTokens"],
    cache_read_tokens: ["cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cached_tokens"],
    cache_write_tokens: ["cache_creation_input_tokens", "input_cache_creation"],
    reasoning_tokens: ["output_reasoning_tokens", "output_reasoning", "reasoning_tokens"],
  });
}

/** The SDK writes the time as JSON. */
function firstToken(time: string | undefined, start: JsonValue | undefined): number | undefined {
  const at = time === undefined ? Number.NaN : Date.parse(time.replaceAll('"', ""));
  const from = msOfNanos(start);
  return from === undefined || Number.isNaN(at) || at < from ? undefined : at - from;
}
