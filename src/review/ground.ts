// What a proposal is judged by: the entries that its evidence names, what the session was given, and what is known
// already. Whoever calls looks all of it up first, so that judging reads nothing and says the same again.
import type { MemoryStatus } from "../model/memory.js";

/** Whose words a text is. What stands in a system message was said by nobody in the conversation. */
export type Speaker = "user" | "tool" | "assistant" | "system";

export interface Spoken {
  readonly by: Speaker;
  readonly text: string;
}

/** An entry as far as it can be quoted. */
export interface QuotedEntry {
  readonly entry_id: string;
  readonly session_id: string;
  readonly project: string;
  readonly said: readonly Spoken[];
}

export interface KnownMemory {
  readonly id: string;
  readonly content: string;
  readonly project: string;
  readonly status: MemoryStatus;
}

/** A text that a session was given: of a context pack, a memory that was recalled or listed, or a consolidation's summary. */
export interface GivenText {
  readonly session_id: string;
  readonly from: "context_pack" | "memory" | "consolidation";
  readonly text: string;
}

export interface Ground {
  /** Those that the evidence names and that are there, by id. An entry that was forgotten is not. */
  readonly entriesById: ReadonlyMap<string, QuotedEntry>;
  /** What the sessions of those entries were given. */
  readonly given: readonly GivenText[];
  /** Memories of the entries' projects, and global ones, whatever their status. */
  readonly memories: readonly KnownMemory[];
}
