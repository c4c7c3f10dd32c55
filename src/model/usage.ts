// Tokens that a call to a model took, under one set of names for every provider.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";

export const tokenNames = [
  ...(["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"] as const),
] as const;

export type TokenName = (typeof tokenNames)[number];
export type Usage = { readonly [N in TokenName]?: number };
/** Where a count is in the source: a name, or nested names. */
export type UsageNames = { readonly [N in TokenName]?: readonly (readonly string[])[] };

/** Counts as the source has them, each from the first place that has one; undefined if there is none. */
export function toUsage(source: JsonValue | undefined, places: UsageNames): Usage | undefined {
  if (!isJsonObject(source)) return undefined;
  let usage: { [name: string]: number } | undefined;
  for (const name of tokenNames) {
    for (const path of places[name] ?? []) {
      const count = valueAt(source, path);
      // Other values are not token counts: larger sums would not be exact.
      if (!Number.isSafeInteger(count) || (count as number) < 0) continue;
      usage ??= {};
      usage[name] = count as number;
      break;
    }
  }
  return usage;
}

function valueAt(source: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = source;
  for (const name of path) value = isJsonObject(value) ? (value as JsonObject)[name] : undefined;
  return value;
}

/** As Anthropic counts: cached tokens are not part of the input. */
export const anthropicUsage: UsageNames = {
  input_tokens: [["input_tokens"]],
  output_tokens: [["output_tokens"]],
  cache_read_tokens: [["cache_read_input_tokens"]],
  cache_write_tokens: [["cache_creation_input_tokens"]],
};

/** As OpenAI counts, in both of its interfaces: cached tokens are part of the input. */
export const openAiUsage: UsageNames = {
  input_tokens: [["input_tokens"], ["prompt_tokens"]],
  output_tokens: [["output_tokens"], ["completion_tokens"]],
  cache_read_tokens: [
    ["cached_input_tokens"],
    ["input_tokens_details", "cached_tokens"],
    ["prompt_tokens_details", "cached_tokens"],
  ],
  cache_write_tokens: [["cache_write_input_tokens"]],
  reasoning_tokens: [
    ["reasoning_output_tokens"],
    ["output_tokens_details", "reasoning_tokens"],
    ["completion_tokens_details", "reasoning_tokens"],
  ],
};

/**
 * What counts include, which differs by provider. Anthropic's input excludes tokens read from and written to the cache;
 * OpenAI's and Gemini's includes them. OpenAI's output includes thinking; Gemini's does not.
 */
export type Counting = "anthropic" | "openai" | "gemini";

/** Names that identify a provider's usage. */
const marks: { readonly [C in Counting]: readonly string[] } = {
  anthropic: [
    ...["cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation"],
    ...["cacheReadInputTokens", "cacheWriteInputTokens"],
  ],
  gemini: [
    ...["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount"],
    ...["prompt_token_count", "candidates_token_count", "thoughts_token_count", "cached_content_token_count"],
  ],
  openai: [
    ...["prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details"],
    ...["input_tokens_details", "output_tokens_details", "cached_input_tokens", "reasoning_output_tokens"],
  ],
};

/** All names of counts: our own, those of providers, and those of the AI SDK and Ollama. */
const anyUsage: UsageNames = {
  input_tokens: [
    ...(openAiUsage.input_tokens ?? []),
    ...[["promptTokenCount"], ["prompt_token_count"], ["inputTokens"], ["promptTokens"], ["prompt_eval_count"]],
  ],
  output_tokens: [
    ...(openAiUsage.output_tokens ?? []),
    ...[["candidatesTokenCount"], ["candidates_token_count"], ["outputTokens"], ["completionTokens"], ["eval_count"]],
  ],
  cache_read_tokens: [
    ["cache_read_tokens"],
    ...(anthropicUsage.cache_read_tokens ?? []),
    ...(openAiUsage.cache_read_tokens ?? []),
    ...[["cachedContentTokenCount"], ["cached_content_token_count"], ["prompt_cache_hit_tokens"]],
    ...[["cacheReadInputTokens"], ["cachedInputTokens"]],
  ],
  cache_write_tokens: [
    ["cache_write_tokens"],
    ...(anthropicUsage.cache_write_tokens ?? []),
    ...(openAiUsage.cache_write_tokens ?? []),
    ["cacheWriteInputTokens"],
  ],
  reasoning_tokens: [
    ["reasoning_tokens"],
    ...(openAiUsage.reasoning_tokens ?? []),
    ...[["thoughtsTokenCount"], ["thoughts_token_count"], ["reasoningTokens"]],
  ],
};

/** Recorded usage under any of these names; undefined if it has no count. */
export function readUsage(
  source: JsonValue | undefined,
): { readonly usage: Usage; readonly counting?: Counting } | undefined {
  const usage = toUsage(source, anyUsage);
  if (usage === undefined) return undefined;
  const counting = countings.find((one) => marks[one].some((name) => Object.hasOwn(source as JsonObject, name)));
  return { usage, ...(counting === undefined ? {} : { counting }) };
}

const countings = Object.keys(marks) as readonly Counting[];
