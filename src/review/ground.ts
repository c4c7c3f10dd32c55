// What a proposal is judged by: the entries that its evidence names, what the session was given, and what is known
// already. Whoever calls looks all of it up first, so that judging reads nothing and says the same again.
import type { MemoryStatus } from "../model/memory.js";
import type { QuotedEntry } from "../read/memories/quoted-entry.js";

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
