// The door for reflection: which entries to look back at, as it comes in from any surface.
import { conversationKinds } from "../model/kinds.js";
import { Rejection, reject } from "../model/rejection.js";
import type { RowFilter } from "../ports/entry-index.js";
import { type EntryListOptions, parseEntryFilter } from "./list-query.js";

/** Filters as in lists. */
export interface ReflectionOptions extends Omit<EntryListOptions, "limit" | "cursor"> {
  /** The newest so many, 30 by default, at most 100,000. */
  readonly limit?: number | string | undefined;
}

export interface ReflectionQuery {
  readonly filter: RowFilter;
  readonly limit: number;
}

const LIMIT_DEFAULT = 30;
const REFLECTION_LIMIT_MAX = 100_000;

export function parseReflectionQuery(options: ReflectionOptions, nowMs: number): ReflectionQuery | Rejection {
  const limit = parseLimit(options.limit);
  if (limit instanceof Rejection) return limit;
  const filter = parseEntryFilter(options, nowMs);
  if (filter instanceof Rejection) return filter;
  const kinds = filter.kinds?.filter((kind) => conversationKinds.includes(kind)) ?? conversationKinds;
  // Another kind than those of a conversation leaves nothing to look at.
  return { filter: { ...filter, kinds }, limit: kinds.length === 0 ? 0 : limit };
}

function parseLimit(value: unknown): number | Rejection {
  if (value === undefined || value === null || value === "") return LIMIT_DEFAULT;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || Number.isNaN(number)) {
    return reject({ code: "limit_invalid", field: "limit", message: "limit must be a number" });
  }
  return Math.min(Math.max(Math.floor(number), 0), REFLECTION_LIMIT_MAX);
}
