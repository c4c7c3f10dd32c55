// What the passes over the record ask for, a stretch of the log at a time, so that a pass that was killed goes on where it
// stopped and nobody waits for long.
import type { EntryOf } from "../model/entry.js";
import type { Proposal } from "../model/memory.js";
import type { LookedAt, PassedOverWords } from "./review/memory-answers.js";

/** The next stretch of the log, and of which entries; empty labels mean any. */
export interface PassRange {
  readonly after: number;
  readonly through?: number;
  readonly project: string;
  readonly session_id: string;
  /** Only what was recorded as it happened, and so was not brought in from elsewhere. */
  readonly is_live: boolean;
  readonly now_ms: number;
}

/** A call of a tool, as far as rules look at it. */
export type BareCall = Pick<EntryOf<"tool_call">, "id" | "session_id" | "project" | "args" | "is_error">;

/** What rules find in some entries. */
export interface RulesFound {
  readonly proposals: readonly Proposal[];
  readonly passed_over: readonly PassedOverWords[];
  readonly looked_at: LookedAt;
}

export interface ProposalStep extends RulesFound {
  /** How far it came; where the log ends there is no more. */
  readonly through: number;
  readonly is_end: boolean;
  readonly calls: readonly BareCall[];
}

/** What a turn says of a memory. */
export interface MemoryUse {
  readonly memory_id: string;
  readonly given: boolean;
  readonly used: boolean;
  readonly confirmed: boolean;
}

export interface TurnUses {
  readonly turn_id: string;
  readonly project: string;
  readonly client: string;
  readonly uses: readonly MemoryUse[];
}

export interface UsesStep {
  readonly through: number;
  readonly is_end: boolean;
  readonly turns: readonly TurnUses[];
  /** Turns that are not over yet. */
  readonly waiting: readonly string[];
}

/** A turn, only once it is over where a time is given. */
export interface TurnQuery {
  readonly id: string;
  readonly now_ms?: number | undefined;
}
