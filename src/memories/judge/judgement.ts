// What a proposal is judged by, and what becomes of it. Everything is looked up first: judging reads nothing, so the same input
// gives the same result.
import type { Evidence, MemoryStatus, Proposal } from "../../model/memory.js";
import type { DroppedProposal } from "../review/memory-answers.js";
import type { QuotedEntry } from "../text/quoted-entry.js";

/** What drops a proposal beyond the quota of its proposer. */
export const HELD_BACK = "held_back";

/** A proposal on its way to the gates. */
export interface ScopedProposal extends Proposal {
  /** The key whose own entries are all that it may cite. */
  readonly cites_only?: string;
  /** By whom and when it is proposed, where that is limited: passes over the record have limits of their own. */
  readonly limited?: { readonly proposed_by: string; readonly now_ms: number };
}

export interface GateContext {
  /** The entries that the evidence names, by id; forgotten ones are missing. */
  readonly entriesById: ReadonlyMap<string, QuotedEntry>;
  /** What the sessions of those entries were given. */
  readonly given: readonly GivenText[];
  /** Memories of the entries' projects, and global ones, whatever their status. */
  readonly memories: readonly KnownMemory[];
  /** What was said in the turn before each entry, where it was needed. */
  readonly before?: ReadonlyMap<string, readonly string[]>;
  /** The entries whose messages begin like those of other sessions. */
  readonly templates?: ReadonlySet<string>;
  /** Lines of memory files that the sessions of those entries read. */
  readonly file_lines?: readonly FileLine[];
}

/** A line of a memory file. */
export interface FileLine {
  readonly session_id: string;
  readonly text: string;
}

export interface KnownMemory {
  readonly id: string;
  readonly content: string;
  readonly project: string;
  readonly status: MemoryStatus;
}

/**
 * A text that a session was given: of a context pack, an injected message, a memory that was recalled or listed, or a
 * consolidation's summary.
 */
export interface GivenText {
  readonly session_id: string;
  readonly from: "context_pack" | "injected" | "memory" | "memory_file" | "consolidation";
  /** In the form that `wordsOf` makes. */
  readonly words: string;
}

/** Quotes from one entry, and who said them, where and when. */
export interface QuotedEvidence {
  readonly entry_id: string;
  readonly evidence: readonly Evidence[];
  readonly said_by: string;
  readonly said_in: string;
  readonly said_at: string;
}

/** A proposal that passed every gate: cleaned, of the type that its evidence allows, in the project of its evidence. */
export interface KeptProposal extends Proposal {
  readonly similar_to: readonly string[];
  readonly conflicts_with: readonly string[];
}

export type Judged =
  | {
      readonly kept: KeptProposal;
      readonly quoted: readonly QuotedEvidence[];
      /** How sure it is at first; undefined where nothing is known of its source. */
      readonly confidence?: number;
    }
  | (DroppedProposal & { readonly quoted?: readonly QuotedEvidence[] });

/** Quotes found in the entries that they name, with the distinct projects of those entries; or what is missing. */
export type EvidenceLookup =
  | { readonly quoted: readonly QuotedEvidence[]; readonly projects: readonly string[] }
  | { readonly missing: string };

/** A statement, in a project or everywhere. */
export interface ScopedStatement {
  readonly content: string;
  readonly project: string;
}

/** A memory that says exactly the same. */
export interface DuplicateMemory {
  readonly id: string;
  readonly status: MemoryStatus;
}
