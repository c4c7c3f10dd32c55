// The door for sessions: list, timeline and history options as they come in, parsed into queries.
import type { SessionFilter } from "../indexing/session-fold.js";
import { parseSessionId } from "../model/ids.js";
import { Rejection, reject } from "../model/rejection.js";
import { fingerprintOf, parseCursor } from "./cursor.js";
import { type Page, parseLabels, parseLimit } from "./list-query.js";

export interface SessionListOptions extends Page {
  /** Sessions with an entry of this project. */
  readonly project?: string | undefined;
  /** Sessions with an entry of this client. */
  readonly client?: string | undefined;
}

export interface SessionListQuery {
  readonly filter: SessionFilter;
  readonly limit: number;
  readonly fingerprint: string;
  /** Where the list goes on: below this position, as things were at that one. */
  readonly after?: { readonly position: number; readonly as_of: number };
}

export interface TimelineOptions extends Page {
  /** By position: `asc` is the default. */
  readonly order?: string | undefined;
}

export interface TimelineQuery {
  readonly session_id: string;
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly fingerprint: string;
  readonly after?: number;
}

export type HistoryFormat = "openai" | "anthropic";

export interface HistoryOptions {
  /** How many messages at most, the newest; 500 by default. */
  readonly max_messages?: number | string | undefined;
  /** How many tokens at most; whole turns are dropped, oldest first. */
  readonly max_tokens?: number | string | undefined;
  readonly format?: HistoryFormat | string | undefined;
  /** Keeps tool calls of the last message that have no result yet. */
  readonly include_pending?: boolean | string | undefined;
}

export interface HistoryQuery {
  readonly session_id: string;
  readonly max_messages: number;
  readonly max_tokens?: number;
  readonly format: HistoryFormat;
  readonly include_pending: boolean;
}

const SESSIONS_DEFAULT = 50;
const TIMELINE_DEFAULT = 100;
const MESSAGES_DEFAULT = 500;

export function parseSessionListQuery(options: SessionListOptions): SessionListQuery | Rejection {
  const limit = parseLimit(options.limit, SESSIONS_DEFAULT);
  if (limit instanceof Rejection) return limit;
  const filter = parseLabels({ project: options.project, client: options.client });
  if (filter instanceof Rejection) return filter;
  const fingerprint = fingerprintOf(["sessions", filter]);
  const cursor = parseCursor(options.cursor, { fingerprint, numbers: 2 });
  if (cursor instanceof Rejection) return cursor;
  if (cursor === undefined) return { filter, limit, fingerprint };
  const [position, as_of] = cursor as readonly [number, number];
  return { filter, limit, fingerprint, after: { position, as_of } };
}

export function parseTimelineQuery(id: unknown, options: TimelineOptions): TimelineQuery | Rejection {
  const session_id = parseSessionId(id);
  if (session_id instanceof Rejection) return session_id;
  const limit = parseLimit(options.limit, TIMELINE_DEFAULT);
  if (limit instanceof Rejection) return limit;
  const order = options.order === undefined || options.order === "" ? "asc" : options.order;
  if (order !== "asc" && order !== "desc") {
    return reject({ code: "field_invalid", field: "order", message: "order must be asc or desc" });
  }
  const fingerprint = fingerprintOf(["timeline", session_id, order]);
  const cursor = parseCursor(options.cursor, { fingerprint, numbers: 1 });
  if (cursor instanceof Rejection) return cursor;
  const after = cursor?.[0];
  return { session_id, order, limit, fingerprint, ...(after === undefined || after === null ? {} : { after }) };
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
  const include_pending = parseFlag("include_pending", options.include_pending);
  if (include_pending instanceof Rejection) return include_pending;
  return { session_id, max_messages, format, include_pending, ...(max_tokens === undefined ? {} : { max_tokens }) };
}

function parseCount(name: string, value: unknown): number | undefined | Rejection {
  if (value === undefined || value === null || value === "") return undefined;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  // Infinity is how a program says "all of it".
  if (typeof number === "number" && !Number.isNaN(number)) return Math.max(0, Math.floor(number));
  return reject({ code: "limit_invalid", field: name, message: `${name} must be a number` });
}

function parseFlag(name: string, value: unknown): boolean | Rejection {
  if (value === undefined || value === null || value === false || value === "false" || value === "0") return false;
  if (value === true || value === "" || value === "true" || value === "1") return true;
  return reject({ code: "field_invalid", field: name, message: `${name} must be true or false` });
}
