// Decisions as they were recorded, with their reason: the one thing that an agent says on purpose is worth knowing.

import type { EntryOf } from "../../../model/entry.js";
import type { Proposal } from "../../../model/memory.js";
import { codePoints } from "../../../model/normalise.js";
import { STATEMENT_CHARS_MAX } from "../../judge/gates/form.js";

const TRAILING = /[\s.,;:]+$/u;

/** Undefined where it says no reason. The reason is left out where both are too long for a statement. */
export function proposalOfDecision(entry: EntryOf<"decision">): Proposal | undefined {
  const decision = entry.decision.trim().replace(TRAILING, "");
  const rationale = entry.rationale.trim().replace(TRAILING, "");
  if (decision === "" || rationale === "") return undefined;
  const whole = `${decision} (${rationale})`.replaceAll(/\s+/g, " ");
  const fits = whole.length <= 2 * STATEMENT_CHARS_MAX && codePoints(whole) <= STATEMENT_CHARS_MAX;
  return {
    type: "adaptation",
    content: fits ? whole : decision,
    source: "decision",
    evidence: [entry.decision, ...(fits ? [entry.rationale] : [])].map((quote) => ({ entry_id: entry.id, quote })),
    project: entry.project,
    tags: [],
    generation: "",
  };
}
