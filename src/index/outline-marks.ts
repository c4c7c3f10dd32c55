// One character for each entry of a session, by what it is: enough for a map of the session.
import type { EntryRow } from "./port.js";
import { carries, FAILED } from "./references.js";
import type { TurnEvent } from "./turns.js";

interface MarkMeaning {
  /** The column of the map that it counts in. */
  readonly bin: OutlineBin;
  readonly failed: boolean;
}

/** What a map of a session counts. */
export const outlineBins = ["prompts", "answers", "calls", "failures", "decisions", "others"] as const;
export type OutlineBin = (typeof outlineBins)[number];

export const MARKS = {
  u: { bin: "prompts", failed: false },
  a: { bin: "answers", failed: false },
  t: { bin: "calls", failed: false },
  f: { bin: "failures", failed: true },
  d: { bin: "decisions", failed: false },
  o: { bin: "others", failed: false },
} as const satisfies { readonly [mark: string]: MarkMeaning };

export type Mark = keyof typeof MARKS;

export function markOf(row: EntryRow, event: TurnEvent | undefined): Mark {
  if (carries(row, FAILED)) return "f";
  if (row.kind === "tool_call") return "t";
  if (row.kind === "decision") return "d";
  if (row.kind === "message" && row.role === "assistant") return "a";
  if (row.kind === "interaction" || row.kind === "response") return "a";
  return event === "asked" ? "u" : "o";
}
