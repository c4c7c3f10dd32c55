// What becomes of a proposal: it is kept, with what was found out about it, or dropped with a reason.
import type { Evidence, MemoryStatus, Proposal } from "../../model/memory.js";

/** Words of one entry, and who said them, where and when. */
export interface HeardWords {
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

export interface DroppedProposal {
  /** The gate that it did not pass. */
  readonly dropped: string;
  readonly reason: string;
  /** The candidate that says the same already and got the evidence. */
  readonly adds_evidence_to?: string;
}

export type Judged =
  | { readonly kept: KeptProposal; readonly heard: readonly HeardWords[] }
  | (DroppedProposal & { readonly heard?: readonly HeardWords[] });

/** Words that were looked for in the entries that they name, or why they are not there. */
export type Hearing =
  | {
      readonly words: readonly HeardWords[] /** Of the entries, without repetition. */;
      readonly projects: readonly string[];
    }
  | { readonly missing: string };

/** A statement, in a project or everywhere. */
export interface StatementWish {
  readonly content: string;
  readonly project: string;
}

/** A memory that says just the same. */
export interface Twin {
  readonly id: string;
  readonly status: MemoryStatus;
}
