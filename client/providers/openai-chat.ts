// OpenAI's chat completions, which many other providers speak too.
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

export const openAiChat: Provider = {
  serves: (path) => path.endsWith("/chat/completions"),
  given({ messages, tools, model, ...settings }) {
    return { model: textOf(model), messages: Array.isArray(messages) ? messages : [], tools, settings };
  },
  answer(documents) {
    const message = new ChatMessage();
    for (const document of documents) message.take(document);
    return message.answer();
  },
};

interface CallDraft {
  id: string;
  name: string;
  args: string;
}

/** One message, put together from whole choices or from their deltas. */
class ChatMessage {
  readonly #calls = new Map<number, CallDraft>();
  readonly #others: { [name: string]: string } = {};
  #text = "";
  #head: Json = {};
  #usage: Json | undefined;
  #finish: string | undefined;
  #error: string | undefined;

  take(document: Json): void {
    if (textAt(document, "id") !== undefined) this.#head = { ...this.#head, id: document.id, model: document.model };
    this.#usage = usageOf(document.usage, usagePlaces) ?? this.#usage;
    this.#error ??= errorText(document);
    const [choice] = listAt(document, "choices").filter(({ index = 0 }) => index === 0);
    if (choice === undefined) return;
    this.#finish = textAt(choice, "finish_reason") ?? this.#finish;
    const part = "delta" in choice ? jsonAt(choice, "delta") : jsonAt(choice, "message");
    this.#text += contentText(part.content);
    for (const name of otherTexts) {
      const text = textAt(part, name);
      if (text !== undefined) this.#others[name] = `${this.#others[name] ?? ""}${text}`;
    }
    for (const [at, call] of listAt(part, "tool_calls").entries()) this.#takeCall(call, at);
  }

  answer(): ProviderAnswer {
    return {
      text: this.#text,
      tool_calls: [...this.#calls.values()].map(({ id, name, args }) => toolCall(id, name, args)),
      usage: this.#usage,
      model: textAt(this.#head, "model"),
      message_id: textAt(this.#head, "id"),
      finish_reason: this.#finish,
      ...(Object.keys(this.#others).length === 0 ? {} : { content: this.#others }),
      error: this.#error,
      is_whole: this.#finish !== undefined,
    };
  }

  #takeCall(given: Json, at: number): void {
    const index = typeof given.index === "number" ? given.index : at;
    const call = this.#calls.get(index) ?? { id: "", name: "", args: "" };
    this.#calls.set(index, call);
    // Some send the name with every delta, and it is a part of the name nowhere.
    call.id = textAt(given, "id") || call.id;
    call.name = textAt(jsonAt(given, "function"), "name") || call.name;
    call.args += textAt(jsonAt(given, "function"), "arguments") ?? "";
  }
}

/** Fields other than the content that are also text of the model. */
const otherTexts = ["refusal", "reasoning_content", "reasoning"] as const;

const usagePlaces = {
  input_tokens: [["prompt_tokens"]],
  output_tokens: [["completion_tokens"]],
  cache_read_tokens: [["prompt_tokens_details", "cached_tokens"]],
  reasoning_tokens: [["completion_tokens_details", "reasoning_tokens"]],
} as const;

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
