// What a gate is: a pure function that lets a proposal pass, perhaps changed, or says in a sentence why not.
import type { Proposal } from "../../../model/memory.js";
import type { Stems } from "../../text/stems.js";
import type { Ground } from "../ground.js";
import type { KeptProposal } from "../judged.js";

/** A proposal on its way through the gates, with what those before found out: it becomes what is kept. */
export type Trial = KeptProposal;

export type Ruling =
  | { readonly passed: Trial }
  | {
      readonly dropped: string;
      /** The candidate that says the same and gets the evidence. */
      readonly joins?: string;
    };

interface Court {
  /** As its source made it, before the first gate cleaned it. */
  readonly proposal: Proposal;
  readonly ground: Ground;
  readonly stems: Stems;
}

export type Gate = (trial: Trial, court: Court) => Ruling;
