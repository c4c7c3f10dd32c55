// OpenAI's responses: input and output are lists of items.
import {
  contentText,
  errorText,
  isJson,
  type Json,
  jsonAt,
  listAt,
  type Provider,
  type ProviderAnswer,
  textAt,
  toolCall,
  usageOf,
} from "./provider.js";

export const openAiResponses: Provider = {
  serves: (path) => path.endsWith("/responses"),
  given({ input, instructions, tools, model, ...settings }) {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : Array.isArray(input) ? input : [];
    const given = { messages: items.map(toMessage), tools, settings };
    return { ...given, model: typeof model === "string" ? model : undefined, system: instructions ?? undefined };
  },
  answer(documents) {
    const whole = documents.findLast((one) => ends.has(textAt(one, "type") ?? ""));
    if (whole !== undefined) return fromResponse(jsonAt(whole, "response"));
    const [only] = documents;
    if (documents.length === 1 && only?.object === "response") return fromResponse(only);
    return fromEvents(documents);
  },
};

const ends = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Calls and their results in the shape of messages; other items stay what they are, as content. */
function toMessage(item: unknown): unknown {
  if (!isJson(item) || textAt(item, "role") !== undefined) return item;
  if (item.type === "function_call") {
    return { role: "assistant", content: null, tool_calls: [toolCall(item.call_id, item.name, item.arguments)] };
  }
  if (item.type === "function_call_output") return { role: "tool", tool_call_id: item.call_id, content: item.output };
  return { role: "assistant", content: [item] };
}

function fromResponse(response: Json): ProviderAnswer {
  const items = listAt(response, "output");
  const status = textAt(response, "status");
  return {
    ...fromItems(items),
    usage: usageOf(response.usage, usagePlaces),
    model: textAt(response, "model"),
    message_id: textAt(response, "id"),
    finish_reason: textAt(jsonAt(response, "incomplete_details"), "reason") ?? status,
    error: errorText(response),
    is_whole: status !== "in_progress",
  };
}

/** A stream that broke off: what came of it until then. */
function fromEvents(events: readonly Json[]): ProviderAnswer {
  const done = events.filter(({ type }) => type === "response.output_item.done").map((event) => jsonAt(event, "item"));
  const isDone = new Set(done.map(({ id }) => id));
  const open = events.filter(({ type, item_id }) => type === "response.output_text.delta" && !isDone.has(item_id));
  const { text, ...items } = fromItems(done);
  const failed = events.find(({ type }) => type === "error");
  const head = jsonAt(events[0], "response");
  return {
    ...items,
    text: `${text}${open.map((event) => textAt(event, "delta") ?? "").join("")}`,
    usage: undefined,
    model: textAt(head, "model"),
    message_id: textAt(head, "id"),
    error: (failed === undefined ? undefined : textAt(failed, "message")) ?? events.map(errorText).find(Boolean),
    is_whole: false,
  };
}

function fromItems(items: readonly Json[]): Pick<ProviderAnswer, "text" | "tool_calls" | "content"> {
  const texts = items.filter(({ type }) => type === "message").map(({ content }) => contentText(content));
  const calls = items.filter(({ type }) => type === "function_call");
  return {
    text: texts.join("\n"),
    tool_calls: calls.map(({ call_id, name, arguments: args }) => toolCall(call_id, name, args)),
    ...(items.length > 0 ? { content: items } : {}),
  };
}

const usagePlaces = {
  input_tokens: [["input_tokens"]],
  output_tokens: [["output_tokens"]],
  cache_read_tokens: [["input_tokens_details", "cached_tokens"]],
  reasoning_tokens: [["output_tokens_details", "reasoning_tokens"]],
} as const;
