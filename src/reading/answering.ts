// What a call has before it that is answered from a log and its index.
import type { EntryLog } from "../log/port.js";
import type { Mask } from "../model/mask.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import type { Rebuilding } from "./rebuilding.js";
import type { SteadyIndex } from "./steady.js";

/** `R` is what reads an index: the readers of every subject, which this folder need not know. */
export interface Answering<R> {
  readonly log: EntryLog;
  readonly mask: Mask;
  /** Single entries, from the log alone. */
  readonly entries: EntryReader;
  readonly index: SteadyIndex<R>;
  readonly rebuilding: Rebuilding;
  /** Removes from the index's files what deleted rows have left there. */
  readonly purge: () => Promise<string | undefined>;
}
