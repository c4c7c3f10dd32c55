// Views: an interaction together with the response that completed it, and the short form that lists show.

import type { Entry, EntryOf, EntrySummary, Interaction } from "../../model/entry.js";
import { codePoints, firstCodePoints } from "../../model/normalise.js";

/** What the response gives wins; references add up, since both name what was used for the same turn. */
export function complete(interaction: Interaction, response: EntryOf<"response">): Interaction {
  const isUsageGiven = Object.keys(response.usage).length > 0;
  const latency_ms = response.latency_ms ?? interaction.latency_ms;
  return {
    ...interaction,
    response: response.response,
    response_summary: response.response_summary || interaction.response_summary,
    memories_used: union(interaction.memories_used, response.memories_used),
    chunks_used: union(interaction.chunks_used, response.chunks_used),
    model: response.model || interaction.model,
    usage: isUsageGiven ? response.usage : interaction.usage,
    ...(latency_ms === undefined ? {} : { latency_ms }),
    error: response.error || interaction.error,
    extra: { ...interaction.extra, ...response.extra },
    response_id: response.id,
  };
}

export function summarise(entry: Entry): EntrySummary {
  if (entry.kind === "interaction") {
    const { response, context_pack: _, ...rest } = entry;
    return { ...rest, response_chars: codePoints(response) };
  }
  if (entry.kind === "response") {
    const { response, ...rest } = entry;
    return { ...rest, response_chars: codePoints(response) };
  }
  return entry;
}

/** How many code points of a response are enough to be read in passing. */
const EXCERPT_CHARS = 2_000;

/** The beginning of the response that an entry brought; what is not to be seen must be masked before. */
export function excerptOf(entry: Entry): { readonly response_excerpt?: string } {
  if (entry.kind !== "interaction" && entry.kind !== "response") return {};
  return { response_excerpt: firstCodePoints(entry.response, EXCERPT_CHARS) };
}

function union(left: readonly string[], right: readonly string[]): readonly string[] {
  return right.length === 0 ? left : [...new Set([...left, ...right])];
}
