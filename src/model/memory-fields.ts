// What the entries of the memory loop carry: a statement, the words it rests on, verdicts on it, and its uses. The log
// itself writes them.
//
// A statement and its quotes lie in entries of their own, so that the words of what is forgotten go, and a statement that
// rests on something else too can stay.
import type { JsonObject } from "./json.js";

/** A statement on its way to the queue; the entry's id is the memory's. */
interface MemoryProposedFields {
  readonly type: string;
  readonly content: string;
  readonly source: string;
  readonly generation: string;
  readonly confidence?: number;
  readonly tags: readonly string[];
  readonly valid_until: string;
  /**
   * Of the ids of the entries that it rests on, a hash, since it may outlive them; empty where it rests on none. What they
   * say is in entries of their own.
   */
  readonly cites: string;
  readonly similar_to: readonly string[];
  readonly conflicts_with: readonly string[];
  readonly actor: string;
}

/** Another wording, or the words of an entry that the statement rests on. */
interface MemoryEditedFields {
  readonly memory_id: string;
  readonly content: string;
  /** Quotes of one entry. */
  readonly evidence: readonly JsonObject[];
  /** Who said them: a user, a tool or an assistant. */
  readonly said_by: string;
  readonly said_in: string;
  readonly said_at: string;
  readonly actor: string;
}

interface VerdictFields {
  readonly memory_id: string;
  readonly actor: string;
  readonly reason: string;
}

interface MemorySupersededFields extends VerdictFields {
  /** The memory that stands in its place; empty where there is none. */
  readonly superseded_by: string;
  /** What it was before: a candidate, or active. */
  readonly status_before: string;
}

/** What became of memories in one turn. */
interface MemoryReinforcedFields {
  readonly turn_id: string;
  /** Each with `memory_id`, and which of `given`, `used` and `confirmed` is true of it. */
  readonly memories: readonly JsonObject[];
  readonly actor: string;
}

export interface MemoryFieldsByKind {
  readonly memory_proposed: MemoryProposedFields;
  readonly memory_edited: MemoryEditedFields;
  readonly memory_promoted: VerdictFields;
  readonly memory_rejected: VerdictFields;
  readonly memory_superseded: MemorySupersededFields;
  readonly memory_reinforced: MemoryReinforcedFields;
}

export type MemoryKind = keyof MemoryFieldsByKind;
