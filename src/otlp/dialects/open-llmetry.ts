// OpenLLMetry (Traceloop): its entities, the indexed attributes of older versions, and queries of vector databases. Newer
// versions write calls as the semantic conventions say.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { type Attributes, fromText, numberAt, textAt, valueAt } from "../attributes.js";
import type { CallMeaning, Dialect, SpanMeaning } from "../meaning.js";
import { answerOf, toMessages } from "../messages.js";
import type { SpanItem } from "../telemetry-items.js";
import { genAiCall } from "./gen-ai.js";
import { documentsIn, flattenedList } from "./shared.js";

export const openLlmetry: Dialect = {
  name: "open-llmetry",
  span(span) {
    const { attributes, events } = span;
    const kind = textAt(attributes, "traceloop.span.kind");
    if (kind !== undefined) return entityOf(kind, span);
    if (events.some(({ name }) => name === "db.query.result")) return { is: "retrieval", documents: queriedIn(span) };
    if (textAt(attributes, "llm.request.type") === "embedding") return { is: "step" };
    const isIndexed = "gen_ai.prompt.0.role" in attributes || "gen_ai.completion.0.role" in attributes;
    if (isIndexed || "gen_ai.prompt.0.content" in attributes) return indexedCall(span);
    return undefined;
  },
};

function entityOf(kind: string, { attributes, name }: SpanItem): SpanMeaning {
  if (kind !== "tool") return { is: "step" };
  return {
    is: "tool",
    tool: textAt(attributes, "traceloop.entity.name") ?? name,
    args: argumentsOf(valueAt(attributes, "traceloop.entity.input")),
    result: valueAt(attributes, "traceloop.entity.output"),
  };
}

/** A decorated function's arguments: named ones, or a single object, or all of them as they were passed. */
function argumentsOf(input: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(input) || !Array.isArray(input.args)) return input;
  const { args } = input;
  const kwargs = isJsonObject(input.kwargs) ? input.kwargs : {};
  if (args.length === 0) return kwargs;
  const [only] = args as readonly JsonValue[];
  if (args.length === 1 && isJsonObject(only)) return { ...only, ...kwargs };
  return { args, ...kwargs };
}

function queriedIn({ events }: SpanItem): readonly string[] {
  const documents = events
    .filter(({ name }) => name === "db.query.result")
    .map(({ attributes }): JsonObject => {
      const id = textAt(attributes, "db.query.result.id");
      const content = textAt(attributes, "db.query.result.document");
      return { ...(id === undefined ? {} : { id }), ...(content === undefined ? {} : { content }) };
    });
  return documentsIn(documents);
}

function indexedCall(span: SpanItem): CallMeaning {
  const { attributes } = span;
  const output = flattenedList(attributes, "gen_ai.completion").flatMap((item) => indexedMessage(item, "assistant"));
  const tools = flattenedList(attributes, "llm.request.functions");
  const answer = output.length === 0 ? undefined : answerOf(output);
  return {
    ...genAiCall(span),
    messages: flattenedList(attributes, "gen_ai.prompt").flatMap((item) => indexedMessage(item, "user")),
    response: answer?.response,
    tool_calls: answer?.tool_calls ?? [],
    reasoning: answer?.reasoning,
    ...(tools.length === 0 ? {} : { tools: tools.map(withParameters) }),
    finish_reason: textAt(attributes, "gen_ai.completion.0.finish_reason"),
    first_token_ms: firstToken(attributes),
  };
}

function firstToken(attributes: Attributes): number | undefined {
  const seconds = numberAt(attributes, "llm.chat_completions.streaming_time_to_first_token");
  return seconds === undefined ? undefined : seconds * 1_000;
}

function indexedMessage(item: JsonObject, role: string): readonly JsonObject[] {
  const content = typeof item.content === "string" ? fromText(item.content) : (item.content ?? "");
  const calls = flattenedList(item, "tool_calls").map(({ id, name, arguments: given }) => ({
    ...(id === undefined ? {} : { id }),
    name: name ?? "",
    arguments: given ?? "{}",
  }));
  const said = Array.isArray(content) ? content : (item.content ?? "");
  return toMessages({
    role: item.role ?? role,
    content: said,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(item.tool_call_id === undefined ? {} : { tool_call_id: item.tool_call_id }),
  });
}

function withParameters({ parameters, ...tool }: JsonObject): JsonObject {
  return typeof parameters === "string" ? { ...tool, parameters: fromText(parameters) } : tool;
}
