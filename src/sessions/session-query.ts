// The parsed queries for lists of sessions, timelines and histories.
import type { SessionsReached } from "./session-list.js";

/** The default maximum of messages in a history. */
export const MESSAGES_DEFAULT = 500;

/** What a list of sessions can be sorted by. */
export const sessionSorts = [
  ...(["last", "first", "title", "project", "client", "entries", "turns", "failures"] as const),
  ...(["files", "length", "tokens", "cost"] as const),
] as const;

export type SessionSort = (typeof sessionSorts)[number];

export interface SessionListQuery extends SessionsWanted {
  readonly fingerprint: string;
  readonly now_ms: number;
}

/** Which sessions, in which order, and where the list continues. */
export interface SessionsWanted {
  readonly filter: SessionFilter;
  readonly sort: SessionSort;
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly fingerprint: string;
  readonly after?: SessionsReached;
}

/** A missing one filters nothing; an empty label selects entries, or sessions, without it. */
export interface SessionFilter {
  /** With an entry of this project, or in the project that its parent is in. */
  readonly project?: string | readonly string[];
  readonly client?: string | readonly string[];
  readonly user_id?: string;
  readonly tag?: string;
  /** With entries since then, and until then. */
  readonly since_ms?: number;
  readonly until_ms?: number;
  /** A part of the title or of the first prompt, whatever its case. */
  readonly title?: string;
  readonly id_prefix?: string;
  /** `""` selects sessions without a recorded parent. */
  readonly parent?: string;
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
