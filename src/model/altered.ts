// How every surface names an entry whose body is not the one that was recorded: its text is never shown.
import type { AlteredEntry } from "./entry.js";

export const ALTERED_WORDS = "altered: does not match its hash";

/** Whether a row of a list stands for an altered entry, of which there is nothing but the envelope. */
export function isAltered<R extends object>(row: R): row is Extract<R, AlteredEntry> {
  return "altered" in row && row.altered === true;
}
