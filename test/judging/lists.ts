// The labelled lists of judging, and what is promised of them.
import { type Measured, measurePairs, measureTurns } from "./measure.js";

/** The lists were written before the rules were mended by them; those held out have mended nothing. */
export const lists: readonly { readonly name: string; readonly measure: () => Measured }[] = [
  { name: "proposals", measure: () => measureTurns("turns.ndjson") },
  { name: "proposals, held out", measure: () => measureTurns("turns-held-out.ndjson") },
  { name: "uses", measure: () => measurePairs("pairs.ndjson") },
  { name: "uses, held out", measure: () => measurePairs("pairs-held-out.ndjson") },
];

export const PRECISION_MIN = 0.8;
