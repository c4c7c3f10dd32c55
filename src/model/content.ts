// The text of a content: what of a message's parts is text, and what stands for those that are not. Whoever searches or hands
// on a message asks here; what people are shown of one is in content-parts.ts.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";

/** What a message says: text, or content parts in whatever shape a provider gives them. */
export type Content = string | readonly JsonValue[];

/** The fields in which providers of OpenAI's form carry what a model thought. */
export const reasoningFields = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;

/** Text as it is, any other value as its JSON; nothing where there is no value. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The texts of a content, one for each part that has one; what is not text says nothing here. */
export function contentTexts(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return Array.isArray(content) ? content.flatMap((part) => textOf(part) ?? []) : [];
}

/** A part in words, as a model is given it: its text or its refusal where it has one, else its JSON. */
export function wordsOf(part: JsonValue): string {
  return spokenIn(part) ?? JSON.stringify(part);
}

/** Whether nothing is said in it, and nothing shown. */
export function isBlank(content: Content): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content.every((part) => spokenIn(part)?.trim() === "");
}

/** Everything that was said in a part, aloud or in thought: neither its type nor the bytes of an image are words. */
export function saidIn(part: JsonObject): readonly string[] {
  return [part.text, part.refusal, part.thinking].filter((text) => typeof text === "string");
}

function textOf(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  return isJsonObject(part) && typeof part.text === "string" ? part.text : undefined;
}

/** Parts that carry more than a text. */
const MEDIA: ReadonlySet<unknown> = new Set(["image", "image_url", "input_audio", "file", "document"]);

/** Undefined for a part that is more than its text, or has none. */
function spokenIn(part: JsonValue): string | undefined {
  if (typeof part === "string") return part;
  if (!isJsonObject(part)) return undefined;
  const texts = [part.text, part.refusal].filter((text) => typeof text === "string");
  const text = texts.find((each) => each !== "") ?? "";
  if (text.trim() !== "") return text;
  return texts.length > 0 && !MEDIA.has(part.type) ? text : undefined;
}
