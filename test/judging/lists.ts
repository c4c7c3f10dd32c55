// The labelled lists of judging, and what is promised of them.
import { type Measured, measurePairs, measureTurns } from "./measure.js";

/**
 * All lists were written before the rules met them; `atFirst` is what was right then. By the first list the rules were improved
 * afterwards, by the others only where they showed more than a single sentence.
 */
export const lists: readonly { readonly name: string; readonly atFirst: string; readonly measure: () => Measured }[] = [
  { name: "proposals", atFirst: "42 of 50", measure: () => measureTurns("turns.ndjson") },
  { name: "proposals, held out", atFirst: "23 of 30", measure: () => measureTurns("turns-held-out.ndjson") },
  { name: "proposals, hard", atFirst: "14 of 19", measure: () => measureTurns("turns-hard.ndjson") },
  { name: "proposals, last", atFirst: "22 of 23", measure: () => measureTurns("turns-last.ndjson") },
  { name: "uses", atFirst: "49 of 49", measure: () => measurePairs("pairs.ndjson") },
  { name: "uses, held out", atFirst: "25 of 25", measure: () => measurePairs("pairs-held-out.ndjson") },
  { name: "uses, hard", atFirst: "15 of 17", measure: () => measurePairs("pairs-hard.ndjson") },
];

export const PRECISION_MIN = 0.8;
