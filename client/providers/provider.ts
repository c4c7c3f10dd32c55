// A model call in the same form for every provider.
import { snapshot } from "../snapshot.js";

export type Json = { readonly [name: string]: unknown };

/** What the model was given. */
export interface RecordedRequest {
  readonly model?: string | undefined;
  readonly messages: readonly unknown[];
  readonly system?: unknown;
  readonly tools?: unknown;
  /** The rest of the request. */
  readonly settings: Json;
}

/** What it answered, as far as it came. */
export interface ProviderAnswer {
  readonly text: string;
  /** Calls it makes, in OpenAI's shape. */
  readonly tool_calls: readonly Json[];
  readonly usage: Json | undefined;
  readonly model?: string | undefined;
  readonly message_id?: string | undefined;
  readonly finish_reason?: string | undefined;
  /** What the provider sent, where that is more than text and calls. */
  readonly content?: unknown;
  /** What the provider says went wrong. */
  readonly error?: string | undefined;
  /** Whether it came to its end. */
  readonly is_whole: boolean;
}

export interface Provider {
  /** Whether a request to this path is a model call of this shape. */
  serves(path: string): boolean;
  given(body: Json, path: string): RecordedRequest;
  /** From the events of a stream, or from the one document of an answer that was not streamed. */
  answer(documents: readonly Json[]): ProviderAnswer;
}

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function jsonAt(value: unknown, name: string): Json {
  const found = isJson(value) ? value[name] : undefined;
  return isJson(found) ? found : {};
}

export function listAt(value: unknown, name: string): readonly Json[] {
  const found = isJson(value) ? value[name] : undefined;
  return Array.isArray(found) ? found.filter(isJson) : [];
}

export function textAt(value: unknown, name: string): string | undefined {
  const found = isJson(value) ? value[name] : undefined;
  return typeof found === "string" ? found : undefined;
}

/** The texts of content, as every provider shapes its parts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((part) => (typeof part === "string" ? part : partText(part)));
  return texts.filter((text) => text !== "").join("\n");
}

function partText(part: unknown): string {
  if (!isJson(part) || part.thought === true) return "";
  return textAt(part, "text") ?? "";
}

/** Counts at their places, under the names that all usage has. */
export function usageOf(source: unknown, places: { readonly [name: string]: readonly (readonly string[])[] }) {
  const usage: { [name: string]: number } = {};
  for (const [name, paths] of Object.entries(places)) {
    for (const path of paths) {
      const count = path.reduce((value: unknown, key) => (isJson(value) ? value[key] : undefined), source);
      if (typeof count !== "number" || usage[name] !== undefined) continue;
      usage[name] = count;
    }
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

export function toolCall(id: unknown, name: unknown, args: unknown): Json {
  const text = typeof args === "string" ? args : JSON.stringify(snapshot(args ?? {}));
  return { id: String(id ?? ""), type: "function", function: { name: String(name ?? ""), arguments: text } };
}

/** What an error document says, whichever provider wrote it. */
export function errorText(document: unknown): string | undefined {
  if (!isJson(document)) return undefined;
  const { error } = document;
  if (typeof error === "string") return error;
  return isJson(error) ? (textAt(error, "message") ?? JSON.stringify(error)) : undefined;
}
