// OpenInference (Arize): kinds of spans, and messages, tools and documents flattened into attributes.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { type Attributes, fromText, objectAt, textAt, valueAt } from "../attributes.js";
import type { CallMeaning, Dialect, SpanMeaning } from "../meaning.js";
import { answerOf, toMessages } from "../messages.js";
import type { SpanItem } from "../telemetry-items.js";
import { documentsIn, flattenedList, usageOf } from "./shared.js";

export const openInference: Dialect = {
  name: "open-inference",
  span(span) {
    const kind = textAt(span.attributes, "openinference.span.kind");
    if (kind === undefined) return undefined;
    return (readers[kind.toUpperCase()] ?? step)(span);
  },
};

function step(): SpanMeaning {
  return { is: "step" };
}

const readers: { readonly [kind: string]: (span: SpanItem) => SpanMeaning } = {
  LLM: callOf,
  TOOL: ({ attributes, name }) => ({
    is: "tool",
    tool: textAt(attributes, "tool.name", "tool_call.function.name") ?? name,
    args: valueAt(attributes, "tool_call.function.arguments", "input.value", "tool.parameters"),
    result: valueAt(attributes, "output.value"),
    call_id: textAt(attributes, "tool_call.id", "tool.id"),
  }),
  RETRIEVER: ({ attributes }) => ({ is: "retrieval", documents: documentsAt(attributes, "retrieval.documents") }),
  RERANKER: ({ attributes }) => ({ is: "retrieval", documents: documentsAt(attributes, "reranker.output_documents") }),
};

/** The flattened documents; the span's output has their ids where those are missing. */
function documentsAt(attributes: Attributes, name: string): readonly string[] {
  const output = objectAt(attributes, "output.value");
  const whole = Array.isArray(output?.documents) ? (output.documents as readonly JsonValue[]) : [];
  const documents = flattenedList(attributes, name).map((item, nth): JsonObject => {
    const { "document.id": id, "document.content": content, "document.metadata": metadata } = item;
    const other = whole[nth];
    const known = id ?? (isJsonObject(other) ? other.id : undefined);
    return {
      ...(known === undefined ? {} : { id: known }),
      ...(content === undefined ? {} : { content }),
      ...(typeof metadata === "string" ? { metadata: fromText(metadata) } : {}),
    };
  });
  return documentsIn(documents);
}

function callOf({ attributes }: SpanItem): CallMeaning {
  const output = messagesAt(attributes, "llm.output_messages", "assistant");
  const prompts = flattenedList(attributes, "llm.prompts").map((item) => ({ content: item["prompt.text"] ?? "" }));
  const asked = messagesAt(attributes, "llm.input_messages", "user");
  const whole = objectAt(attributes, "output.value");
  const said = output.length > 0 ? output : plainOutput(attributes);
  const answer = said.length === 0 ? undefined : answerOf(said);
  const tools = flattenedList(attributes, "llm.tools").flatMap(({ "tool.json_schema": schema }) =>
    typeof schema === "string" ? [fromText(schema)] : [],
  );
  return {
    is: "call",
    messages: asked.length > 0 ? asked : prompts.length > 0 ? toMessages(prompts) : plainInput(attributes),
    tools: tools.length === 0 ? undefined : tools,
    response: answer?.response,
    tool_calls: answer?.tool_calls ?? [],
    reasoning: answer?.reasoning,
    model: textAt(attributes, "llm.model_name"),
    provider: textAt(attributes, "llm.provider", "llm.system"),
    message_id: typeof whole?.id === "string" && typeof whole.object === "string" ? whole.id : undefined,
    usage: usageOf(attributes, {
      input_tokens: ["llm.token_count.prompt"],
      output_tokens: ["llm.token_count.completion"],
      cache_read_tokens: ["llm.token_count.prompt_details.cache_read"],
      cache_write_tokens: ["llm.token_count.prompt_details.cache_write"],
      reasoning_tokens: ["llm.token_count.completion_details.reasoning"],
    }),
    finish_reason: textAt(attributes, "llm.finish_reason"),
    settings: settingsIn(attributes),
  };
}

function settingsIn(attributes: Attributes): JsonObject | undefined {
  const { model: _, tools: __, messages: ___, ...settings } = objectAt(attributes, "llm.invocation_parameters") ?? {};
  return Object.keys(settings).length === 0 ? undefined : settings;
}

/** A whole request or answer has messages of its own, which the flattened ones repeat. */
function plainInput(attributes: Attributes): readonly JsonObject[] {
  return toMessages(valueAt(attributes, "input.value"));
}

function plainOutput(attributes: Attributes): readonly JsonObject[] {
  return toMessages(attributes["output.value"], "assistant");
}

function messagesAt(attributes: Attributes, name: string, role: string): readonly JsonObject[] {
  return flattenedList(attributes, name).flatMap((item) => {
    const parts = flattenedList(item, "message.contents").map((part): JsonObject => {
      const { "message_content.type": type = "text", "message_content.text": text } = part;
      const image = part["message_content.image.image.url"];
      return {
        type,
        ...(text === undefined ? {} : { text }),
        ...(image === undefined ? {} : { image_url: { url: image } }),
      };
    });
    const calls = flattenedList(item, "message.tool_calls").map((call): JsonObject => {
      const { "tool_call.id": id, "tool_call.function.name": named, "tool_call.function.arguments": given } = call;
      return { ...(id === undefined ? {} : { id }), name: named ?? "", arguments: given ?? "{}" };
    });
    const { "message.role": own, "message.content": content, "message.tool_call_id": tool_call_id } = item;
    return toMessages({
      role: own ?? role,
      content: content ?? (parts.length > 0 ? parts : ""),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(tool_call_id === undefined ? {} : { tool_call_id }),
    });
  });
}
