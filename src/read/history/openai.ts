// History in OpenAI's form: system messages in front, results as messages of their own behind their call.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import type { Call, Content, Item } from "./items.js";
import type { Turn } from "./repair.js";

export interface OpenAiMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly JsonObject[];
  readonly tool_calls?: readonly OpenAiCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

export interface OpenAiCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export function systemToOpenAi(item: Item & { readonly type: "system" }): OpenAiMessage {
  return { role: "system", content: toContent(item.content, "system"), ...nameOf(item) };
}

export function turnToOpenAi(turn: Turn): readonly OpenAiMessage[] {
  const tool_calls = turn.calls.map(({ call }) => toOpenAiCall(call));
  const message: OpenAiMessage = {
    role: turn.type,
    content: toContent(turn.content, turn.type),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
    ...nameOf(turn),
  };
  const results = turn.calls.flatMap(({ call, result }): readonly OpenAiMessage[] => {
    if (result === undefined) return [];
    return [{ role: "tool", content: toContent(result.content, "tool"), tool_call_id: call.id, ...nameOf(result) }];
  });
  return [message, ...results];
}

function toOpenAiCall(call: Call): OpenAiCall {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function nameOf(from: { readonly name: string }): { readonly name?: string } {
  return from.name === "" ? {} : { name: from.name };
}

/** The part types each role may carry; all others are put into words. */
const PARTS: { readonly [role in OpenAiMessage["role"]]: readonly string[] } = {
  system: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
};

function toContent(content: Content, role: OpenAiMessage["role"]): string | readonly JsonObject[] {
  if (typeof content === "string") return content;
  if (content.length === 0) return "";
  return content.map((part) => toPart(part, role));
}

function toPart(part: JsonValue, role: OpenAiMessage["role"]): JsonObject {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isJsonObject(part)) return { type: "text", text: JSON.stringify(part) };
  if (typeof part.type === "string" && PARTS[role].includes(part.type) && isWhole(part)) return part;
  if (typeof part.text === "string") return { type: "text", text: part.text };
  const image = role === "user" ? toImage(part) : undefined;
  return image ?? { type: "text", text: JSON.stringify(part) };
}

function isWhole(part: JsonObject): boolean {
  return part.type !== "text" || typeof part.text === "string";
}

/** Anthropic's image block as OpenAI's. */
function toImage(part: JsonObject): JsonObject | undefined {
  if (part.type !== "image" || !isJsonObject(part.source)) return undefined;
  const { source } = part;
  if (typeof source.url === "string") return { type: "image_url", image_url: { url: source.url } };
  if (typeof source.data !== "string" || typeof source.media_type !== "string") return undefined;
  return { type: "image_url", image_url: { url: `data:${source.media_type};base64,${source.data}` } };
}
