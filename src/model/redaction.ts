// Redactions: an entry that names others, whose bodies go with the very transaction that appends it.
import { parseBody } from "./body.js";
import type { JsonObject } from "./json.js";

/** What the log wrote down about what was done to it stays: no redaction takes the body of such an entry. */
export const lastingKinds: readonly string[] = ["redaction", "audit"];

/** The positions that an entry erases: none unless it is a redaction, and never its own or a later one. */
export function erasedBy(entry: {
  readonly position: number;
  readonly kind: string;
  readonly body?: Uint8Array;
}): readonly number[] {
  const { position, kind, body } = entry;
  return kind !== "redaction" || body === undefined ? [] : namedIn(position, parseBody(position, body));
}

/** The same from a body that was parsed already. */
export function namedIn(position: number, body: JsonObject): readonly number[] {
  const { positions } = body;
  if (!Array.isArray(positions)) return [];
  const earlier = positions.filter((named) => Number.isSafeInteger(named) && named >= 1 && named < position);
  return [...new Set(earlier as readonly number[])];
}
