// The parsed queries for lists of sessions, timelines and histories.
import type { SessionFilter } from "../index/session-fold.js";
import type { SessionsReached } from "./session-list.js";

/** The default maximum of messages in a history. */
export const MESSAGES_DEFAULT = 500;

export interface SessionListQuery {
  readonly filter: SessionFilter;
  readonly limit: number;
  readonly fingerprint: string;
  /** Where the list continues. */
  readonly after?: SessionsReached;
}

export interface TimelineQuery {
  readonly session_id: string;
  readonly order: "asc" | "desc";
  readonly excerpts: boolean;
  readonly limit: number;
  readonly fingerprint: string;
  readonly after?: number | undefined;
}

export type HistoryFormat = "openai" | "anthropic";

export interface HistoryQuery {
  readonly session_id: string;
  readonly max_messages: number;
  readonly max_tokens?: number | undefined;
  readonly format: HistoryFormat;
  readonly include_pending: boolean;
  readonly include_reasoning: boolean;
}
