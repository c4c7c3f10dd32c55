// Bodies of the log for capture: read a little at a time, in turns with whatever else the thread does.
import type { TimeSlice } from "../../model/scheduling.js";
import type { EntryLog, StoredBody } from "../port.js";

/** What is read of the log at once, so that a batch of thousands holds little of it in memory and nobody waits for long. */
export const READ_ENTRIES = 100;
const READ_BYTES = 4 * 1024 * 1024;

/** The bodies at these positions in their order. */
export async function* bodiesAt(
  log: Pick<EntryLog, "getBodies">,
  positions: readonly number[],
  turn: TimeSlice,
): AsyncGenerator<StoredBody | undefined> {
  for (let used = 0; used < positions.length; ) {
    const stored = await log.getBodies(positions.slice(used, used + READ_ENTRIES), READ_BYTES);
    used += stored.length;
    for (const one of stored) {
      yield one;
      if (turn.isOver) await turn.next();
    }
  }
}
