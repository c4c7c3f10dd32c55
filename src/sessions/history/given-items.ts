// The newest request of a session that has only interactions, as the items of its history: what the model was given, in any
// provider's form, and what it answered.
import type { EntryOf, Interaction } from "../../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { type Item, type ItemOrigin, messageToItems } from "./items.js";

/** Undefined if no message was recorded. */
export function givenItems(interaction: Interaction): readonly Item[] | undefined {
  const { messages, system } = interaction.context_pack;
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const from = { entry_id: interaction.id, position: interaction.position };
  const systems = system === undefined || system === null ? [] : [{ role: "system", content: system }];
  const names = new CallNames();
  return [...systems, ...messages, answerOf(interaction)]
    .filter(isJsonObject)
    .flatMap((message) => toItems(message, names).map((item) => ({ ...item, from })));
}

/** Anthropic's blocks keep the order of thoughts, texts and calls. */
function answerOf({ response, extra }: Interaction): JsonObject {
  const { content, tool_calls } = extra;
  if (Array.isArray(content) && content.some(isAnthropicBlock)) return { role: "assistant", content };
  const reasoning = isJsonObject(content) ? content : {};
  return {
    ...reasoning,
    role: "assistant",
    content: response,
    tool_calls: Array.isArray(tool_calls) ? tool_calls : [],
  };
}

const BLOCKS: ReadonlySet<unknown> = new Set(["text", "tool_use", "thinking", "redacted_thinking", "server_tool_use"]);

function isAnthropicBlock(part: JsonValue): boolean {
  return isJsonObject(part) && BLOCKS.has(part.type);
}

function toItems(message: JsonObject, names: CallNames): readonly Item[] {
  const { role, content, tool_calls, tool_call_id, name } = message;
  const parts = Array.isArray(content) ? content : [];
  const calls = parts.flatMap((part) => callIn(part, names));
  const results = parts.flatMap((part) => resultIn(part, names));
  const isSaid = (part: JsonValue): boolean => callIn(part).length + resultIn(part).length === 0;
  const said = Array.isArray(content) ? content.filter(isSaid) : content;
  if (results.length > 0 && Array.isArray(said) && said.length === 0) return results;
  const recorded = {
    role: typeof role === "string" ? role : "user",
    content: typeof said === "string" || Array.isArray(said) ? said : "",
    tool_calls: [...(Array.isArray(tool_calls) ? tool_calls.filter(isJsonObject) : []), ...calls],
    tool_call_id: typeof tool_call_id === "string" ? tool_call_id : "",
    name: typeof name === "string" ? name : "",
    injected: "",
    // Reasoning is a field next to the content.
    extra: message,
  };
  return [...messageToItems(recorded as unknown as EntryOf<"message">), ...results];
}

/** Gemini's calls have no ids: the first result with a name belongs to the first call with it. */
class CallNames {
  readonly #called = new Map<string, number>();
  readonly #answered = new Map<string, number>();

  call(name: string): string {
    return this.#next(this.#called, name);
  }

  result(name: string): string {
    return this.#next(this.#answered, name);
  }

  #next(counts: Map<string, number>, name: string): string {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name}-${count}`;
  }
}

/** A call as the AI SDK or Gemini writes it; Anthropic's are read with the message. */
function callIn(part: JsonValue, names?: CallNames): readonly JsonObject[] {
  if (!isJsonObject(part)) return [];
  if (part.type === "tool-call")
    return [{ id: part.toolCallId ?? "", name: part.toolName ?? "", input: part.input ?? {} }];
  if (!isJsonObject(part.functionCall)) return [];
  const { id, name = "", args = {} } = part.functionCall;
  return [{ id: typeof id === "string" ? id : (names?.call(String(name)) ?? ""), name, input: args }];
}

function resultIn(part: JsonValue, names?: CallNames): readonly (Item & { readonly from?: ItemOrigin })[] {
  if (!isJsonObject(part)) return [];
  const result = { type: "result", name: "", is_error: false, is_spare: false } as const;
  if (part.type === "tool-result") {
    const output = isJsonObject(part.output) && "value" in part.output ? part.output.value : part.output;
    return [{ ...result, call_id: String(part.toolCallId ?? ""), content: textOf(output) }];
  }
  if (!isJsonObject(part.functionResponse)) return [];
  const { id, name = "", response } = part.functionResponse;
  const call_id = typeof id === "string" ? id : (names?.result(String(name)) ?? "");
  return [{ ...result, call_id, content: textOf(response) }];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}
