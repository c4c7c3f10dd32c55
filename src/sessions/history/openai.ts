// History in OpenAI's form: system messages in front, results as separate messages after their call.
import { type Content, wordsOf } from "../../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { type Item, type ToolCall, toToolName } from "./items.js";
import type { OpenAiCall, OpenAiMessage } from "./model-input.js";
import type { MessageGroup } from "./repair.js";

export function systemToOpenAi(item: Item & { readonly type: "system" }): OpenAiMessage {
  return { role: "system", content: toContent(item.content, "system"), ...nameOf(item) } as OpenAiMessage;
}

export function groupToOpenAi(
  group: MessageGroup,
  { include_reasoning }: { readonly include_reasoning: boolean },
): readonly OpenAiMessage[] {
  const { type: role, calls } = group;
  const content = toContent(group.content, role);
  // The common case, for speed.
  if (calls.length === 0 && group.name === "" && !include_reasoning) return [{ role, content } as OpenAiMessage];
  const tool_calls = calls.map(({ call }) => toOpenAiCall(call));
  const message = {
    role,
    content,
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
    ...nameOf(group),
    ...(include_reasoning ? group.reasoning : {}),
  };
  const results = calls.flatMap(({ call, result }): readonly OpenAiMessage[] => {
    if (result === undefined) return [];
    const answer = { role: "tool", content: toContent(result.content, "tool"), tool_call_id: call.id };
    return [{ ...answer, ...nameOf(result) } as OpenAiMessage];
  });
  return [message as OpenAiMessage, ...results];
}

function toOpenAiCall(call: ToolCall): OpenAiCall {
  return { id: call.id, type: "function", function: { name: toToolName(call.name, 64), arguments: call.arguments } };
}

/** Names of speakers may contain neither white space nor some other characters; these are replaced. */
function nameOf(from: { readonly name: string }): { readonly name?: string } {
  if (from.name === "") return {};
  return {
    name: Array.from(from.name.replaceAll(/[\s<|\\/>]/g, "_"))
      .slice(0, 64)
      .join(""),
  };
}

function toContent(content: Content, role: OpenAiMessage["role"]): string | readonly JsonObject[] {
  if (typeof content === "string") return content;
  if (content.length === 0) return "";
  return content.map((part) => mediaOf(part, role) ?? { type: "text", text: wordsOf(part) });
}

/** The parts besides text that a role may have; undefined for all that are described in words. */
function mediaOf(part: JsonValue, role: OpenAiMessage["role"]): JsonObject | undefined {
  if (!isJsonObject(part)) return undefined;
  if (role === "assistant" && part.type === "refusal" && typeof part.refusal === "string") {
    return { type: "refusal", refusal: part.refusal };
  }
  if (role !== "user") return undefined;
  const { input_audio: audio, file } = part;
  if (part.type === "input_audio" && isJsonObject(audio) && hasTexts(audio, "data", "format")) {
    return { type: "input_audio", input_audio: { data: audio.data as string, format: audio.format as string } };
  }
  if (part.type === "file" && isJsonObject(file) && (hasTexts(file, "file_id") || hasTexts(file, "file_data"))) {
    return { type: "file", file };
  }
  const isImage = part.type === "image_url" || part.type === "input_image";
  return isImage ? toImage(part.image_url) : toMedia(part);
}

/** The URL of an image, alone or in an object, as people write it. */
function toImage(given: JsonValue | undefined): JsonObject | undefined {
  const image = isJsonObject(given) ? given : { url: given ?? null };
  if (typeof image.url !== "string") return undefined;
  const { url, detail } = image;
  return { type: "image_url", image_url: typeof detail === "string" ? { url, detail } : { url } };
}

/** Anthropic's image and document blocks as OpenAI's. */
function toMedia(part: JsonObject): JsonObject | undefined {
  if (!isJsonObject(part.source)) return undefined;
  const { source } = part;
  const inline = hasTexts(source, "data", "media_type") && source.type !== "text";
  const data = inline ? `data:${source.media_type};base64,${source.data}` : undefined;
  if (part.type === "image") return toImage(source.url ?? data);
  if (part.type !== "document" || data === undefined) return undefined;
  const filename = typeof part.title === "string" ? part.title : "document";
  return { type: "file", file: { filename, file_data: data } };
}

function hasTexts(object: JsonObject, ...names: readonly string[]): boolean {
  return names.every((name) => typeof object[name] === "string" && object[name] !== "");
}
