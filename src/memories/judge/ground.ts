// What a proposal is judged by: the entries that its evidence names, what the session was given, and what is known
// already. Whoever calls looks all of it up first, so that judging reads nothing and says the same again.
import type { MemoryStatus } from "../../model/memory.js";
import type { QuotedEntry } from "../read/quoted-entry.js";
import { comparable } from "./comparable.js";

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
  /** As `wordsOf` has it, worked out once: a pack is asked for with every proposal of its session. */
  readonly words: string;
}

/** A text in the form in which quotes are looked for in it, with a space at either end. */
export function wordsOf(text: string): string {
  return ` ${comparable(text)} `;
}

export interface Ground {
  /** Those that the evidence names and that are there, by id. An entry that was forgotten is not. */
  readonly entriesById: ReadonlyMap<string, QuotedEntry>;
  /** What the sessions of those entries were given. */
  readonly given: readonly GivenText[];
  /** Memories of the entries' projects, and global ones, whatever their status. */
  readonly memories: readonly KnownMemory[];
}
