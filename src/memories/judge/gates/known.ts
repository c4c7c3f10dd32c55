// The sixth gate: what is known, waits or was rejected is not proposed again. What only resembles it, or contradicts it,
// is proposed with a word about it.
import type { MemoryStatus } from "../../../model/memory.js";
import type { Stems } from "../../text/stems.js";
import { comparable } from "../comparable.js";
import { contradict } from "../contradiction.js";
import type { KnownMemory } from "../ground.js";
import type { Gate } from "./gate.js";
import { projectOf } from "./project.js";

const SAME_MIN = 0.7;
const SIMILAR_MIN = 0.4;
/** Two statements that contradict each other have at least their subject in common. */
const RELATED_MIN = 0.2;

/** What a memory of a status is called in a reason; undefined where it may be proposed anew. */
const inWords: { readonly [S in MemoryStatus]: string | undefined } = {
  active: "is known already",
  candidate: "waits for a verdict already",
  rejected: "was rejected before",
  superseded: undefined,
};

export const known: Gate = (trial, { ground, stems }) => {
  const project = projectOf(trial, ground);
  const relevant = ground.memories.filter(
    (memory) => inWords[memory.status] !== undefined && (memory.project === project || memory.project === ""),
  );
  const similar_to: string[] = [];
  const conflicts_with: string[] = [];
  let same: KnownMemory | undefined;
  for (const memory of relevant) {
    const relation = relationOf(trial.content, memory.content, stems);
    if (relation === "same") same = firstOf(same, memory);
    else if (relation === "similar" && memory.status !== "rejected") similar_to.push(memory.id);
    else if (relation === "conflicting" && memory.status !== "rejected") conflicts_with.push(memory.id);
  }
  if (same === undefined) return { passed: { ...trial, similar_to, conflicts_with } };
  const dropped = `The same ${inWords[same.status]}: memory ${same.id}.`;
  return same.status === "candidate" ? { dropped, joins: same.id } : { dropped };
};

/** What one statement is to another. */
export function relationOf(one: string, other: string, stems: Stems): "same" | "similar" | "conflicting" | "unrelated" {
  const likeness = stems.likeness(one, other);
  // Statements of stop words alone have no stems to be alike in.
  if (likeness < RELATED_MIN && stems.of(one).size > 0) return "unrelated";
  if (comparable(one) === comparable(other)) return "same";
  // A number or a "not" is all that distinguishes statements that have everything else in common.
  if (contradict(one, other, stems)) return "conflicting";
  if (likeness >= SAME_MIN) return "same";
  return likeness >= SIMILAR_MIN ? "similar" : "unrelated";
}

/** A verdict counts for more than waiting: what was rejected gets no evidence by way of a candidate like it. */
function firstOf(one: KnownMemory | undefined, other: KnownMemory): KnownMemory {
  return one === undefined || (one.status === "candidate" && other.status !== "candidate") ? other : one;
}
