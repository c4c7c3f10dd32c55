// The door for sessions: list, timeline and history options as they come in, parsed into queries.
import type { SessionFilter } from "../index/session-fold.js";
import { parseSessionId } from "../model/ids.js";
import { Rejection, reject } from "../model/rejection.js";
import { fingerprintOf, parseCursor } from "../search/cursor.js";
import { type Given, parseFilters } from "../search/filters.js";
import type { Page } from "../search/lists/list-query.js";
import { parseCount, parseLimit, parsePosition, parseSwitch } from "../search/parameters.js";
import { type FilterOptions, MESSAGES_DEFAULT, questionRules } from "../search/question-rules.js";
import type { SessionsReached } from "./session-list.js";

/** Filters of the list of sessions: those that hold an entry with the label. */
export interface SessionListOptions extends FilterOptions<"sessions">, Page {}

export interface SessionListQuery {
  readonly filter: SessionFilter;
  readonly given: Given;
  readonly limit: number;
  readonly fingerprint: string;
  /** Where the list goes on. */
  readonly after?: SessionsReached;
}

export interface TimelineOptions extends Page {
  /** By position: `asc` is the default. */
  readonly order?: string | undefined;
  /** Whether rows of interactions and responses carry `response_excerpt`, the beginning of the response. */
  readonly excerpts?: boolean | string | undefined;
  /** Begins beyond this position, in the direction of the order; a cursor wins over it. */
  readonly after?: number | string | undefined;
}

export interface TimelineQuery {
  readonly session_id: string;
  readonly order: "asc" | "desc";
  readonly excerpts: boolean;
  readonly given: Given;
  readonly limit: number;
  readonly fingerprint: string;
  readonly after?: number;
}

export type HistoryFormat = "openai" | "anthropic";

export interface HistoryOptions {
  /** How many messages at most, the newest; 500 by default. System messages and a summary do not count. */
  readonly max_messages?: number | string | undefined;
  /** How many tokens at most, of everything that is returned. */
  readonly max_tokens?: number | string | undefined;
  readonly format?: HistoryFormat | string | undefined;
  /** Keeps tool calls of the last message that have no result yet. */
  readonly include_pending?: boolean | string | undefined;
  /** `reasoning` keeps, in OpenAI's form, the fields that carry what a model thought. */
  readonly include?: string | undefined;
}

export interface HistoryQuery {
  readonly session_id: string;
  readonly max_messages: number;
  readonly max_tokens?: number;
  readonly format: HistoryFormat;
  readonly include_pending: boolean;
  readonly include_reasoning: boolean;
}

export function parseSessionListQuery(options: SessionListOptions): SessionListQuery | Rejection {
  const rule = questionRules.sessions;
  const limit = parseLimit(options.limit, rule.limit);
  if (limit instanceof Rejection) return limit;
  // None of these filters is a time, so that it does not matter what time it is.
  const asked = parseFilters(rule.filters, options, 0);
  if (asked instanceof Rejection) return asked;
  const fingerprint = fingerprintOf(["sessions", asked.given]);
  const cursor = parseCursor(options.cursor, { fingerprint, numbers: 3 });
  if (cursor instanceof Rejection) return cursor;
  if (cursor === undefined) return { ...asked, limit, fingerprint };
  const [last_ms, position, as_of] = cursor as readonly [number, number, number];
  return { ...asked, limit, fingerprint, after: { last_ms, position, as_of } };
}

export function parseTimelineQuery(id: unknown, options: TimelineOptions): TimelineQuery | Rejection {
  const session_id = parseSessionId(id);
  if (session_id instanceof Rejection) return session_id;
  const limit = parseLimit(options.limit, questionRules.timeline.limit);
  if (limit instanceof Rejection) return limit;
  const order = options.order === undefined || options.order === "" ? "asc" : options.order;
  if (order !== "asc" && order !== "desc") {
    return reject({ code: "field_invalid", field: "order", message: "order must be asc or desc" });
  }
  const excerpts = parseSwitch("excerpts", options.excerpts);
  if (excerpts instanceof Rejection) return excerpts;
  const given = { session_id, order };
  const fingerprint = fingerprintOf(["timeline", given]);
  const cursor = parseCursor(options.cursor, { fingerprint, numbers: 1 });
  if (cursor instanceof Rejection) return cursor;
  const beyond = parsePosition("after", options.after);
  if (beyond instanceof Rejection) return beyond;
  const after = cursor === undefined ? beyond : cursor[0];
  const query = { session_id, order, excerpts, given, limit, fingerprint } as const;
  return { ...query, ...(after === undefined || after === null ? {} : { after }) };
}

export function parseHistoryQuery(id: unknown, options: HistoryOptions): HistoryQuery | Rejection {
  const session_id = parseSessionId(id);
  if (session_id instanceof Rejection) return session_id;
  const max_messages = parseCount("max_messages", options.max_messages) ?? MESSAGES_DEFAULT;
  if (max_messages instanceof Rejection) return max_messages;
  const max_tokens = parseCount("max_tokens", options.max_tokens);
  if (max_tokens instanceof Rejection) return max_tokens;
  const format = options.format === undefined || options.format === "" ? "openai" : options.format;
  if (format !== "openai" && format !== "anthropic") {
    return reject({ code: "field_invalid", field: "format", message: "format must be openai or anthropic" });
  }
  const include_pending = parseSwitch("include_pending", options.include_pending);
  if (include_pending instanceof Rejection) return include_pending;
  const { include = "" } = options;
  if (include !== "" && include !== null && include !== "reasoning") {
    return reject({ code: "field_invalid", field: "include", message: "include can only be reasoning" });
  }
  const switches = { include_pending, include_reasoning: include === "reasoning" };
  return { session_id, max_messages, format, ...switches, ...(max_tokens === undefined ? {} : { max_tokens }) };
}
