// A memory: a learned statement, where it came from, and what became of it. Nothing but the shapes.

export const memoryTypes = ["identity", "preference", "project", "episodic", "knowledge", "adaptation"] as const;
export type MemoryType = (typeof memoryTypes)[number];

export const memoryStatuses = ["candidate", "active", "superseded", "rejected"] as const;
export type MemoryStatus = (typeof memoryStatuses)[number];

export const memorySources = ["person", "agent", "rule:commands", "rule:words", "decision", "import", "model"] as const;
export type MemorySource = (typeof memorySources)[number];

/** Why a candidate is turned down, as surfaces offer it; any other text will do. */
export const rejectionReasons = ["wrong", "obvious", "temporary", "wrong_project", "duplicate", "other"] as const;

/** Words of an entry that a statement rests on, exactly as they stand there. */
export interface Evidence {
  readonly entry_id: string;
  readonly quote: string;
}

/** A statement on its way to the queue: what a source says, before any gate has looked at it. */
export interface Proposal {
  readonly type: MemoryType;
  readonly content: string;
  readonly source: MemorySource;
  readonly evidence: readonly Evidence[];
  /** The proposer's word; the entries' own project wins. */
  readonly project: string;
  readonly tags: readonly string[];
  /** Empty where no model proposed it. */
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
