// Messages of every dialect in OpenAI's shape, which histories and contexts are read from. An unknown part stays as
// it came.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { fromText } from "./attributes.js";

/** A list of messages, a single one, or a text, which is the user's. */
export function toMessages(value: JsonValue | undefined, role = "user"): readonly JsonObject[] {
  if (value === undefined || value === null || value === "") return [];
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[];
    const isParts = items.length > 0 && items.every((item) => isJsonObject(item) && !("role" in item) && isPart(item));
    return isParts ? toMessage({ role, parts: items }) : items.flatMap((item) => toMessages(item, role));
  }
  if (!isJsonObject(value)) return [{ role, content: typeof value === "string" ? value : JSON.stringify(value) }];
  if (Array.isArray(value.messages)) return toMessages(value.messages, role);
  if (isJsonObject(value.message)) return toMessage({ role, ...value.message });
  // LangChain's own form.
  if (isJsonObject(value.kwargs) && "content" in value.kwargs) {
    const named = Array.isArray(value.id) ? String(value.id.at(-1)) : "";
    return toMessage({ role: langchainRoles[named] ?? role, ...value.kwargs });
  }
  return toMessage({ role, ...value });
}

const langchainRoles: { readonly [name: string]: string } = {
  HumanMessage: "user",
  AIMessage: "assistant",
  AIMessageChunk: "assistant",
  SystemMessage: "system",
  ToolMessage: "tool",
};

const roles: { readonly [role: string]: string } = {
  model: "assistant",
  human: "user",
  ai: "assistant",
  function: "tool",
};

/** One message; results of tools are messages of their own. */
function toMessage(message: JsonObject): readonly JsonObject[] {
  const { role: given, type, parts, content, text, tool_calls, toolCalls, finish_reason: _, ...others } = message;
  const role = typeof given === "string" ? (roles[given] ?? given) : "user";
  const rest = type === undefined || type === "message" ? others : { ...others, type };
  const listed = parts ?? content ?? text;
  const value = typeof listed === "string" && parts !== undefined ? fromText(listed) : listed;
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : value === undefined ? [] : [value];
  const read = readParts(list);
  const calls = [...callsIn(tool_calls ?? toolCalls), ...read.calls];
  const said: { [name: string]: JsonValue } = { role, ...rest, content: contentOf(read.parts, value) };
  if (calls.length > 0) said.tool_calls = calls;
  if (read.reasoning !== "") said.reasoning_content = read.reasoning;
  const isEmpty = read.parts.length === 0 && calls.length === 0 && read.reasoning === "" && read.results.length > 0;
  if (role === "tool" && read.results.length === 0) return [{ ...said, ...toolId(message) }];
  return [...(isEmpty ? [] : [said as JsonObject]), ...read.results];
}

function toolId(message: JsonObject): { readonly tool_call_id?: string } {
  const id = message.tool_call_id ?? message.toolCallId ?? message.id;
  return typeof id === "string" && id !== "" ? { tool_call_id: id } : {};
}

interface ReadParts {
  readonly parts: readonly JsonValue[];
  readonly calls: readonly JsonObject[];
  readonly results: readonly JsonObject[];
  readonly reasoning: string;
}

function readParts(list: readonly JsonValue[]): ReadParts {
  const parts: JsonValue[] = [];
  const calls: JsonObject[] = [];
  const results: JsonObject[] = [];
  const reasoning: string[] = [];
  for (const part of list) {
    if (!isJsonObject(part)) {
      if (part !== null && part !== "") parts.push({ type: "text", text: String(part) });
      continue;
    }
    const kind = kindOf(part);
    if (kind === "text") parts.push({ ...withoutCopies(part), type: "text", text: textOfPart(part) });
    else if (kind === "call") calls.push(toCall(part));
    else if (kind === "result") results.push(toResult(part));
    else if (kind === "reasoning") reasoning.push(textOfPart(part));
    else parts.push(part);
  }
  return { parts, calls, results, reasoning: reasoning.join("\n") };
}

type PartKind = "text" | "call" | "result" | "reasoning" | "other";

/** Parts by their `type`. */
const partKinds: { readonly [type: string]: PartKind } = {
  text: "text",
  input_text: "text",
  output_text: "text",
  tool_call: "call",
  "tool-call": "call",
  tool_use: "call",
  function_call: "call",
  tool_call_response: "result",
  "tool-result": "result",
  tool_result: "result",
  function_call_output: "result",
  reasoning: "reasoning",
  thinking: "reasoning",
};

function kindOf(part: JsonObject): PartKind {
  if (typeof part.type === "string") return partKinds[part.type] ?? "other";
  // Gemini's and Bedrock's parts have no type.
  if (part.thought === true) return "reasoning";
  if (isJsonObject(part.functionCall) || isJsonObject(part.toolUse)) return "call";
  if (isJsonObject(part.functionResponse) || isJsonObject(part.toolResult)) return "result";
  if (isJsonObject(part.reasoningContent)) return "reasoning";
  return typeof part.text === "string" ? "text" : "other";
}

function isPart(item: JsonObject): boolean {
  return kindOf(item) !== "other" || typeof item.type === "string";
}

function textOfPart(part: JsonObject): string {
  const { text, content, thinking, reasoningContent } = part;
  const inner = isJsonObject(reasoningContent) ? reasoningContent.reasoningText : undefined;
  const value = text ?? content ?? thinking ?? (isJsonObject(inner) ? inner.text : inner);
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

function withoutCopies({ content: _, type: __, text: ___, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Calls of tools, in OpenAI's shape. */
export function callsIn(value: JsonValue | undefined): readonly JsonObject[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  return list.filter(isJsonObject).map(toCall);
}

function toCall(part: JsonObject): JsonObject {
  const inner = [part.functionCall, part.toolUse, part.function, part.tool_call].find(isJsonObject) ?? {};
  const own = isJsonObject(inner.function) ? { ...inner, ...inner.function } : inner;
  const id = part.id ?? part.toolCallId ?? part.call_id ?? own.id ?? own.toolUseId ?? part.callId;
  const name = part.name ?? part.toolName ?? own.name;
  const given = part.arguments ?? part.input ?? part.args ?? own.arguments ?? own.args ?? own.input;
  return {
    ...(typeof id === "string" ? { id } : {}),
    type: "function",
    function: {
      name: typeof name === "string" ? name : "",
      arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
    },
  };
}

function toResult(part: JsonObject): JsonObject {
  const inner = [part.functionResponse, part.toolResult].find(isJsonObject) ?? {};
  const id = part.id ?? part.toolCallId ?? part.tool_use_id ?? part.call_id ?? part.tool_call_id;
  const known = id ?? inner.id ?? inner.toolUseId;
  const name = part.name ?? part.toolName ?? inner.name;
  const value = part.response ?? part.result ?? part.output ?? part.content ?? inner.response ?? inner.content;
  return {
    role: "tool",
    ...(typeof known === "string" ? { tool_call_id: known } : {}),
    ...(typeof name === "string" ? { name } : {}),
    content: resultText(value),
  };
}

/** The AI SDK wraps results in their type. */
export function unwrapped(value: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(value) || typeof value.type !== "string" || !("value" in value)) return value;
  return Object.keys(value).length <= 3 ? value.value : value;
}

function resultText(value: JsonValue | undefined): string {
  const plain = unwrapped(value);
  if (plain === undefined || plain === null) return "";
  return typeof plain === "string" ? plain : JSON.stringify(plain);
}

/** Parts that are all text are one text, as they were typed. */
function contentOf(parts: readonly JsonValue[], given: JsonValue | undefined): JsonValue {
  if (typeof given === "string") return given;
  const isText = parts.every((part) => isJsonObject(part) && part.type === "text");
  if (!isText) return parts as JsonValue;
  if (parts.length === 1) return textOfPart(parts[0] as JsonObject);
  return parts.length === 0 ? "" : (parts as JsonValue);
}

/** The text of a message's content. */
export function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = (content as readonly JsonValue[]).map((part) => (isJsonObject(part) ? textOfPart(part) : String(part)));
  return texts.filter((text) => text !== "").join("\n");
}

/** What the user said last. Where only others spoke, the last words there are. */
export function promptOf(messages: readonly JsonObject[]): string | undefined {
  const said = (message: JsonObject | undefined): string | undefined => {
    const text = message === undefined ? "" : textOf(message.content);
    return text.trim() === "" ? undefined : text;
  };
  const user = messages.findLast((message) => message.role === "user" && said(message) !== undefined);
  return said(user) ?? said(messages.findLast((message) => said(message) !== undefined));
}

/** The answer of a call: its words, its calls of tools, and its thoughts. */
export function answerOf(
  messages: readonly JsonObject[],
  separator = "\n",
): {
  readonly response: string;
  readonly tool_calls: readonly JsonObject[];
  readonly reasoning: string | undefined;
} {
  const own = messages.filter(({ role }) => role !== "tool");
  const texts = own.map(({ content }) => textOf(content)).filter((text) => text !== "");
  const thoughts = own.flatMap(({ reasoning_content: text }) =>
    typeof text === "string" && text !== "" ? [text] : [],
  );
  return {
    response: texts.join(separator),
    tool_calls: own.flatMap(({ tool_calls }) =>
      Array.isArray(tool_calls) ? (tool_calls as readonly JsonObject[]) : [],
    ),
    reasoning: thoughts.length === 0 ? undefined : thoughts.join("\n"),
  };
}
