// What the passes ask for, one range of the log at a time, so a killed pass can be resumed and no call takes long.
import type { Proposal } from "../model/memory.js";
import type { CommandStep } from "./propose/commands/runs.js";
import type { WordsStep } from "./propose/words/said.js";
import type { LookedAt, PassedOverWords } from "./review/memory-answers.js";

/** The next range of the log, and which of its entries; empty labels mean any. */
export interface PassRange {
  readonly after: number;
  readonly through?: number;
  readonly project: string;
  readonly session_id: string;
  /** Only entries that were recorded as they happened, not imported ones. */
  readonly is_live: boolean;
  readonly now_ms: number;
}

/** What rules find in some entries. */
export interface RulesFound {
  readonly proposals: readonly Proposal[];
  /** What the rules on words read, in the order of the log. */
  readonly words: readonly WordsStep[];
  readonly passed_over: readonly PassedOverWords[];
  readonly looked_at: LookedAt;
}

export interface ProposalStep extends RulesFound {
  /** How far it came. */
  readonly through: number;
  readonly is_end: boolean;
  /** What the rules on commands read of its tool calls. */
  readonly steps: readonly CommandStep[];
}

/** What a turn did with a memory. */
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
  /** Unfinished turns. */
  readonly waiting: readonly string[];
}

/** A turn; with a time, only once it is over. */
export interface TurnQuery {
  readonly id: string;
  readonly now_ms?: number | undefined;
}
