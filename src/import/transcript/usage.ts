// Tokens in the names that all usage has, whatever the source calls them.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";

const names = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"] as const;

export type Usage = { readonly [N in (typeof names)[number]]?: number };
/** Where each count lies in a source: a name, or names one inside the other. */
export type UsageNames = { readonly [N in (typeof names)[number]]?: readonly (readonly string[])[] };

/** Counts as the source has them, each at the first of its places that holds one; undefined where there is none. */
export function toUsage(source: JsonValue | undefined, places: UsageNames): Usage | undefined {
  if (!isJsonObject(source)) return undefined;
  let usage: { [name: string]: number } | undefined;
  for (const name of names) {
    for (const path of places[name] ?? []) {
      const count = valueAt(source, path);
      if (typeof count !== "number" || count < 0) continue;
      usage ??= {};
      usage[name] = count;
      break;
    }
  }
  return usage;
}

/** What one usage has more than another: of a call that is told in several messages each counts its own part. */
export function usageBeyond(usage: Usage | undefined, counted: JsonValue | undefined): Usage | undefined {
  if (usage === undefined || !isJsonObject(counted)) return usage;
  const left = names.flatMap((name): readonly [string, number][] => {
    const before = counted[name];
    const more = (usage[name] ?? 0) - (typeof before === "number" ? before : 0);
    return more > 0 ? [[name, more]] : [];
  });
  return left.length === 0 ? undefined : (Object.fromEntries(left) as Usage);
}

/** Of two counts of the same call the later one is whole: it has at least as many tokens of output. */
export function greaterUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (other.output_tokens ?? 0) >= (one.output_tokens ?? 0) ? other : one;
}

export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sums = names.flatMap((name): readonly [string, number][] => {
    if (one[name] === undefined && other[name] === undefined) return [];
    return [[name, (one[name] ?? 0) + (other[name] ?? 0)]];
  });
  return Object.fromEntries(sums) as Usage;
}

function valueAt(source: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = source;
  for (const name of path) value = isJsonObject(value) ? (value as JsonObject)[name] : undefined;
  return value;
}

/** As Anthropic counts: what came from the cache is no part of the input. */
export const anthropicUsage: UsageNames = {
  input_tokens: [["input_tokens"]],
  output_tokens: [["output_tokens"]],
  cache_read_tokens: [["cache_read_input_tokens"]],
  cache_write_tokens: [["cache_creation_input_tokens"]],
};

/** As OpenAI counts, in both of its interfaces: what came from the cache is part of the input. */
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
