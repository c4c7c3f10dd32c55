// The daily token budget of models: what it is, and how much of it was sent, from one audit entry for each request.

import { type EntryIndex, rowPages } from "../../../index/port.js";
import type { EntryOf } from "../../../model/entry.js";
import { type Rejection, reject } from "../../../model/rejection.js";
import type { EntryReader } from "../../../search/lists/entry-reader.js";

/** The action of an audit entry whose target is how many tokens are about to be sent. */
export const EXTRACTION = "extraction";
/** The action of one that takes tokens back, because the request could not be sent. */
export const UNSENT = "extraction_unsent";

const READ_AT_ONCE = 1_000;
const DAILY_TOKENS = 200_000;

interface Parts {
  readonly index: Pick<EntryIndex, "list">;
  readonly entries: Pick<EntryReader, "read">;
}

/** By all runs since then. */
export async function tokensSentSince(since_ms: number, { index, entries }: Parts): Promise<number> {
  const filter = { kinds: ["audit"], since_ms };
  let sum = 0;
  for await (const page of rowPages((place) => index.list({ filter, ...place }), READ_AT_ONCE)) {
    const audits = await entries.read(page.map(({ position }) => position));
    for (const entry of audits) if (entry.kind === "audit") sum += sentIn(entry);
  }
  // A request before midnight may have been taken back after it.
  return Math.max(0, sum);
}

function sentIn({ action, target }: EntryOf<"audit">): number {
  const tokens = Number(target);
  if (!Number.isFinite(tokens)) return 0;
  return action === EXTRACTION ? tokens : action === UNSENT ? -tokens : 0;
}

/** How many tokens a model may be sent in a day. */
export function parseDailyTokens(value: unknown): number | Rejection {
  if ((value ?? undefined) === undefined) return DAILY_TOKENS;
  if (typeof value === "number" && value >= 0) return value;
  return reject({ code: "field_invalid", field: "daily_tokens", message: "daily_tokens must be a number of tokens" });
}
