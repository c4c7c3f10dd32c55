// Walks through a range of the log, batch by batch, so no more than a batch is in memory; and reads claims alongside.
import type { EntryLog, KeptClaims, StoredBody, StoredEntry } from "./port.js";

export interface WalkRange {
  /** Start of the walk; 0 for the first entry. */
  readonly after?: number;
  /** End of the walk, usually the head at its start; without it, the end of the log. */
  readonly through?: number;
  readonly entries_max?: number;
  readonly bytes_max?: number;
}

const ENTRIES_MAX = 500;
const BYTES_MAX = 4 * 1024 * 1024;

/** Ends early if entries are missing; callers who need every position must check. */
export function walkLog(log: Pick<EntryLog, "read">, range: WalkRange = {}): AsyncGenerator<readonly StoredEntry[]> {
  return walk((batch) => log.read(batch), range);
}

/** The same with bodies as text, without the chain's fields. */
export function walkBodies(
  log: Pick<EntryLog, "readBodies">,
  range: WalkRange = {},
): AsyncGenerator<readonly StoredBody[]> {
  return walk((batch) => log.readBodies(batch), range);
}

async function* walk<E extends { readonly position: number }>(
  read: (batch: { after: number; limit: number; bytes_max: number }) => Promise<readonly E[]>,
  range: WalkRange,
): AsyncGenerator<readonly E[]> {
  const { through = Number.POSITIVE_INFINITY, entries_max: limit = ENTRIES_MAX, bytes_max = BYTES_MAX } = range;
  for (let after = range.after ?? 0; after < through; ) {
    const batch = await read({ after, limit, bytes_max });
    const last = batch.at(-1);
    if (last === undefined) return;
    const within = last.position <= through ? batch : batch.filter(({ position }) => position <= through);
    if (within.length > 0) yield within;
    after = last.position;
    // The walk may run on the thread that captures, which has other work in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** About 250 bytes per claim, and few scans of all claims. */
const POSITIONS = 200_000;

export class ClaimReader {
  readonly #log: Pick<EntryLog, "head" | "keptClaims">;
  #claims: KeptClaims = new Map();
  #through = 0;

  constructor(log: Pick<EntryLog, "head" | "keptClaims">) {
    this.#log = log;
  }

  /** The claims of an entry; positions must ascend. */
  async of(position: number): Promise<readonly string[]> {
    if (position > this.#through) {
      // Never past the end: later entries take their claims later.
      this.#through = Math.min((await this.#log.head()).position, position + POSITIONS);
      this.#claims = await this.#log.keptClaims({ after: position - 1, through: this.#through });
    }
    return this.#claims.get(position) ?? [];
  }
}
