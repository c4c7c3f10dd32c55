// A memory: a learned statement, its origin and its history; and the fields of the entries it consists of.
import type { JsonObject } from "./json.js";

export const memoryTypes = ["identity", "preference", "project", "episodic", "knowledge", "adaptation"] as const;
export type MemoryType = (typeof memoryTypes)[number];

export const memoryStatuses = ["candidate", "active", "superseded", "rejected"] as const;
export type MemoryStatus = (typeof memoryStatuses)[number];

export const memorySources = ["person", "agent", "rule:commands", "rule:words", "decision", "import", "model"] as const;
export type MemorySource = (typeof memorySources)[number];

/** Suggested reasons for rejecting a candidate; any other text is accepted. */
export const rejectionReasons = ["wrong", "obvious", "temporary", "wrong_project", "duplicate", "other"] as const;

/** A verbatim quote of an entry that supports a statement. */
export interface Evidence {
  readonly entry_id: string;
  readonly quote: string;
}

/** A proposed statement before it is judged. */
export interface Proposal {
  readonly type: MemoryType;
  readonly content: string;
  readonly source: MemorySource;
  readonly evidence: readonly Evidence[];
  /** As the proposer says; the entries' own project has precedence. */
  readonly project: string;
  readonly tags: readonly string[];
  /** Empty if no model proposed it. */
  readonly generation: string;
  readonly valid_until?: string;
}

export interface Memory {
  readonly id: string;
  readonly type: MemoryType;
  readonly content: string;
  readonly project: string;
  readonly confidence: number;
  readonly status: MemoryStatus;
  readonly source: MemorySource;
  /** A key (`key:ID`), a person or a program. */
  readonly proposed_by: string;
  readonly generation: string;
  readonly given: number;
  readonly used: number;
  readonly confirmed: number;
  readonly last_confirmed_at?: string;
  readonly tags: readonly string[];
  readonly valid_until?: string;
  readonly evidence: readonly Evidence[];
  /** False once all its evidence was forgotten. */
  readonly supported: boolean;
  readonly similar_to: readonly string[];
  readonly conflicts_with: readonly string[];
}

/**
 * A proposed statement that passed; the entry's id is the memory's. Its quotes are in entries of their own: if one of
 * them is forgotten, a statement with other evidence stays.
 */
interface MemoryProposedFields {
  readonly type: string;
  readonly content: string;
  readonly source: string;
  readonly generation: string;
  readonly confidence?: number;
  readonly tags: readonly string[];
  readonly valid_until: string;
  /**
   * A hash of the ids of the entries that are its evidence, since it may outlive them; empty if there are none. The
   * quotes are in entries of their own.
   */
  readonly cites: string;
  readonly similar_to: readonly string[];
  readonly conflicts_with: readonly string[];
  readonly actor: string;
}

/** Another wording, or the text of an entry that is evidence. */
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
  /** The memory that replaced it; empty if none. */
  readonly superseded_by: string;
  /** Its state before: candidate, or active. */
  readonly status_before: string;
}

/** What happened to memories in one turn. */
interface MemoryReinforcedFields {
  readonly turn_id: string;
  /** Each with `memory_id`, and which of `given`, `used` and `confirmed` apply. */
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

/** A verdict in one line: which memory, by whom, and the reason if there is one. */
export function verdictWords({ memory_id, actor, reason }: MemoryFieldsByKind["memory_promoted"]): string {
  return `${memory_id} by ${actor}${reason === "" ? "" : `: ${reason}`}`;
}

const uses = ["given", "used", "confirmed"] as const;

export function reinforcedWords({ turn_id, memories }: MemoryFieldsByKind["memory_reinforced"]): string {
  const counts = uses.map((use) => [use, memories.filter((memory) => memory[use] === true).length] as const);
  const said = counts.filter(([, count]) => count > 0).map(([use, count]) => `${count} ${use}`);
  return `${said.join(", ")} in ${turn_id}`;
}
