// The third gate: a number, a path, an address, a flag or an identifier that no quote has was invented.
import { particularsOf, standsIn } from "../particulars.js";
import type { Gate } from "./gate.js";

export const grounding: Gate = (trial) => {
  // A person's word needs no evidence, and then there is no quote to look in.
  if (trial.source === "person" && trial.evidence.length === 0) return { passed: trial };
  const missing = particularsOf(trial.content).find(
    (particular) => !trial.evidence.some(({ quote }) => standsIn(particular, quote)),
  );
  return missing === undefined ? { passed: trial } : { dropped: `"${missing}" stands in no quote.` };
};
