// Anthropic's messages: content is a list of blocks, and a stream brings them delta by delta.
import {
  contentText,
  errorText,
  type Json,
  jsonAt,
  listAt,
  type Provider,
  type ProviderAnswer,
  textAt,
  toolCall,
  usageOf,
} from "./provider.js";

export const anthropicMessages: Provider = {
  serves: (path) => path.endsWith("/v1/messages"),
  given({ messages, system, tools, model, ...settings }) {
    const given = { messages: Array.isArray(messages) ? messages : [], system, tools, settings };
    return { ...given, model: typeof model === "string" ? model : undefined };
  },
  answer(documents) {
    const [first] = documents;
    return first?.type === "message" ? fromMessage(first, true) : fromEvents(documents);
  },
};

function fromMessage(message: Json, is_whole: boolean): ProviderAnswer {
  const content = listAt(message, "content");
  return {
    text: contentText(content.filter(({ type }) => type === "text")),
    tool_calls: content
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => toolCall(id, name, input)),
    usage: usageOf(message.usage, usagePlaces),
    model: textAt(message, "model"),
    message_id: textAt(message, "id"),
    finish_reason: textAt(message, "stop_reason"),
    ...(content.length > 0 ? { content } : {}),
    is_whole,
  };
}

type Block = { [name: string]: unknown };

function fromEvents(events: readonly Json[]): ProviderAnswer {
  let message: Json = {};
  const blocks: Block[] = [];
  for (const event of events) {
    if (event.type === "message_start") message = jsonAt(event, "message");
    if (event.type === "content_block_start") blocks.push({ ...jsonAt(event, "content_block"), at: event.index });
    if (event.type === "content_block_delta") extend(blocks, event);
    if (event.type === "message_delta") {
      const usage = { ...jsonAt(message, "usage"), ...jsonAt(event, "usage") };
      message = { ...message, ...jsonAt(event, "delta"), usage };
    }
  }
  const content = blocks.map(({ at: _, partial_json, ...block }) =>
    typeof partial_json === "string" ? { ...block, input: parsedInput(partial_json) } : block,
  );
  const answer = fromMessage({ ...message, content }, events.at(-1)?.type === "message_stop");
  return { ...answer, error: events.map(errorText).find(Boolean) };
}

/** What a delta adds to, by its type. */
const additions: { readonly [type: string]: readonly [from: string, to: string] } = {
  text_delta: ["text", "text"],
  thinking_delta: ["thinking", "thinking"],
  signature_delta: ["signature", "signature"],
  input_json_delta: ["partial_json", "partial_json"],
};

function extend(blocks: readonly Block[], event: Json): void {
  const block = blocks.find(({ at }) => at === event.index);
  const delta = jsonAt(event, "delta");
  const [from, to] = additions[textAt(delta, "type") ?? ""] ?? [];
  if (block !== undefined && from !== undefined && to !== undefined) {
    block[to] = `${block[to] ?? ""}${textAt(delta, from) ?? ""}`;
  } else if (block !== undefined && delta.type === "citations_delta") {
    block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation];
  }
}

/** Of a stream that broke off, the text as far as it came. */
function parsedInput(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

const usagePlaces = {
  input_tokens: [["input_tokens"]],
  output_tokens: [["output_tokens"]],
  cache_read_tokens: [["cache_read_input_tokens"]],
  cache_write_tokens: [["cache_creation_input_tokens"]],
} as const;
