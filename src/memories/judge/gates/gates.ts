// The gates in their order, and the judgement that they come to. All sources pass the same ones, and none asks a model.
import type { Evidence, Proposal } from "../../../model/memory.js";
import type { Stems } from "../../text/stems.js";
import type { Ground } from "../ground.js";
import type { KeptProposal } from "../judged.js";
import { evidence } from "./evidence.js";
import { feedbackGuard } from "./feedback-guard.js";
import { form } from "./form.js";
import type { Gate, Trial } from "./gate.js";
import { grounding } from "./grounding.js";
import { hedge } from "./hedge.js";
import { known } from "./known.js";
import { project } from "./project.js";

const gates = {
  form,
  evidence,
  grounding,
  hedge,
  feedback_guard: feedbackGuard,
  known,
  project,
} as const satisfies { readonly [name: string]: Gate };

type GateName = keyof typeof gates;

const gateNames = Object.keys(gates) as readonly GateName[];

type Judgement =
  | { readonly kept: KeptProposal }
  | {
      readonly dropped: GateName;
      /** A sentence for people. */
      readonly reason: string;
      /** The waiting candidate that says the same: this evidence is added to it, and nothing else is proposed. */
      readonly adds_evidence_to?: { readonly id: string; readonly evidence: readonly Evidence[] };
    };

export function judge(proposal: Proposal, ground: Ground, stems: Stems): Judgement {
  const court = { proposal, ground, stems };
  let trial: Trial = { ...proposal, similar_to: [], conflicts_with: [] };
  for (const name of gateNames) {
    const ruling = gates[name](trial, court);
    if ("passed" in ruling) {
      trial = ruling.passed;
      continue;
    }
    const { dropped: reason, joins } = ruling;
    if (joins === undefined) return { dropped: name, reason };
    // What the last gate would drop has no evidence to add either.
    const placed = gates.project(trial, court);
    if ("dropped" in placed) return { dropped: "project", reason: placed.dropped };
    return { dropped: name, reason, adds_evidence_to: { id: joins, evidence: trial.evidence } };
  }
  return { kept: trial };
}
