// Entries that clients captured and the log never got: each client numbers its entries, so a missing number is a
// missing entry.

import type { EntryLog } from "../log/port.js";
import { walkBodies } from "../log/walk-log.js";
import { parseJsonObject } from "../model/json.js";

interface MissingDeliveries {
  readonly client_run: string;
  /** Numbers that are missing, from and to, both inclusive, in order. */
  readonly missing: readonly (readonly [from: number, to: number])[];
}

export interface ClientDeliveries {
  /** How many runs of clients numbered their entries. */
  readonly runs: number;
  readonly gaps: readonly MissingDeliveries[];
}

/** What was captured after the last delivered entry cannot be known; forgotten entries count as missing. */
export async function findMissingDeliveries(log: Pick<EntryLog, "readBodies">): Promise<ClientDeliveries> {
  const tallies = new Map<string, Tally>();
  for await (const batch of walkBodies(log)) {
    for (const { body = "" } of batch) {
      // Parsing takes many times as long as a text search, and most entries come from no such client.
      const { client_run, client_seq } = body.includes('"client_run"') ? (parseJsonObject(body) ?? {}) : {};
      if (typeof client_run !== "string" || typeof client_seq !== "number") continue;
      const tally = tallies.get(client_run) ?? { highest: 0, missing: [] };
      tallies.set(client_run, tally);
      take(tally, client_seq);
    }
  }
  const gaps = [...tallies].map(([client_run, { missing }]) => ({ client_run, missing }));
  return { runs: tallies.size, gaps: gaps.filter(({ missing }) => missing.length > 0) };
}

interface Tally {
  highest: number;
  missing: (readonly [from: number, to: number])[];
}

/** Numbers come almost in order, so there are few ranges at any time. */
function take(tally: Tally, seq: number): void {
  if (seq > tally.highest) {
    if (seq > tally.highest + 1) tally.missing.push([tally.highest + 1, seq - 1]);
    tally.highest = seq;
    return;
  }
  const at = tally.missing.findIndex(([from, to]) => from <= seq && seq <= to);
  const range = tally.missing[at];
  if (range === undefined) return;
  const [from, to] = range;
  const left = [[from, seq - 1] as const, [seq + 1, to] as const].filter(([first, last]) => first <= last);
  tally.missing.splice(at, 1, ...left);
}
