// The text of a content: the texts in its parts, and replacements for parts without text. For searches and models;
// content-parts.ts has what people see.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";

/** What a message says: text, or content parts in any provider's form. */
export type Content = string | readonly JsonValue[];

/** The fields in which OpenAI-compatible providers return a model's thoughts. */
export const reasoningFields = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"] as const;

/** Text unchanged, any other value as JSON; empty if there is no value. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The texts of a content, one for each part that has one; other parts are left out. */
export function contentTexts(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return Array.isArray(content) ? content.flatMap((part) => textOf(part) ?? []) : [];
}

/** A part as a model gets it: its text or refusal if it has one, otherwise its JSON. */
export function wordsOf(part: JsonValue): string {
  return spokenIn(part) ?? JSON.stringify(part);
}

/** Whether it has no text and nothing to show. */
export function isBlank(content: Content): boolean {
  if (typeof content === "string") return content.trim() === "";
  return content.every((part) => spokenIn(part)?.trim() === "");
}

/** All texts of a part, thoughts included, but neither its type nor the bytes of an image. */
export function saidIn(part: JsonObject): readonly string[] {
  return [part.text, part.refusal, part.thinking].filter((text) => typeof text === "string");
}

function textOf(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  return isJsonObject(part) && typeof part.text === "string" ? part.text : undefined;
}

/** Parts that contain more than a text. */
const MEDIA: ReadonlySet<unknown> = new Set(["image", "image_url", "input_audio", "file", "document"]);

/** Undefined if the part has no text, or more than a text. */
function spokenIn(part: JsonValue): string | undefined {
  if (typeof part === "string") return part;
  if (!isJsonObject(part)) return undefined;
  const texts = [part.text, part.refusal].filter((text) => typeof text === "string");
  const text = texts.find((each) => each !== "") ?? "";
  if (text.trim() !== "") return text;
  return texts.length > 0 && !MEDIA.has(part.type) ? text : undefined;
}
