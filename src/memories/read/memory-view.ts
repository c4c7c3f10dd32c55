// A memory as readers see it, and the order in which candidates wait for a person.
import type { HeardEvidence, KeptMemory } from "../../index/memory-fold.js";
import { formatTime } from "../../model/time.js";
import type { MemorySummary } from "./memory-answers.js";
import type { Related } from "./relations.js";

export function toSummary(kept: KeptMemory, related: Related): MemorySummary {
  const {
    evidence,
    proposed: _,
    promoted: ____,
    proposed_ms,
    decided: __,
    decided_ms,
    reason,
    superseded_by,
    is_cited: ___,
    ...rest
  } = kept;
  return {
    ...rest,
    ...related,
    evidence: evidence.map(({ entry_id, quote }) => ({ entry_id, quote })),
    created_at: formatTime(proposed_ms),
    decided_at: formatTime(decided_ms),
    ...(reason === "" ? {} : { reason }),
    ...(superseded_by === "" ? {} : { superseded_by }),
  };
}

/** What words of each weigh; a person's own word as much as a user's. */
const weights: { readonly [said_by: string]: number } = { user: 3, tool: 2, assistant: 1 };
const WEIGHT_OF_A_PERSON = 3;

/** A candidate is worth half as much when it is so much older. */
const HALF_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Where a candidate stands in the queue: sessions × weight × recency. As a logarithm it stays the same as time goes by: a
 * newer one is ahead of an older one by a constant, and nothing moves while a person turns pages.
 */
export function rankOf({ source, evidence, proposed_ms }: KeptMemory, through = Number.POSITIVE_INFINITY): number {
  const heard = evidence.filter(({ added }) => added <= through);
  const sessions = new Set(heard.map(({ said_in }) => said_in)).size;
  const weight = Math.max(source === "person" ? WEIGHT_OF_A_PERSON : 1, ...heard.map(weightOf));
  const newest_ms = Math.max(proposed_ms, ...heard.map(({ said_ms }) => said_ms));
  return Math.round(newest_ms + HALF_LIFE_MS * Math.log2(Math.max(1, sessions) * weight));
}

function weightOf({ said_by }: HeardEvidence): number {
  return weights[said_by] ?? 1;
}
