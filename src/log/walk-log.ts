// A walk through the log from one position to another, batch by batch: no more of it is in memory at once than a batch.
import type { EntryLog, KeptClaims, StoredBody, StoredEntry } from "./port.js";

export interface WalkRange {
  /** Where it begins; 0 for the first entry. */
  readonly after?: number;
  /** Where it ends, as a rule the head at its beginning; without it, where the log has no more to give. */
  readonly through?: number;
  readonly entries_max?: number;
  readonly bytes_max?: number;
}

const ENTRIES_MAX = 500;
const BYTES_MAX = 4 * 1024 * 1024;

/** Ends early where nothing follows although more was promised; whoever counts on every position looks for that. */
export function walkLog(log: Pick<EntryLog, "read">, range: WalkRange = {}): AsyncGenerator<readonly StoredEntry[]> {
  return walk((batch) => log.read(batch), range);
}

/** The same with bodies as text, and without what the chain is made of. */
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
    // The log may be read on the thread that captures, which has other things to do in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

// What leads to the entries of a walk, asked for many positions at once: an engine may look at every claim for each question.
/** At some 250 bytes a claim, and few looks at all claims of a long log. */
const POSITIONS = 200_000;

export class ClaimReader {
  readonly #log: Pick<EntryLog, "head" | "keptClaims">;
  #claims: KeptClaims = new Map();
  #through = 0;

  constructor(log: Pick<EntryLog, "head" | "keptClaims">) {
    this.#log = log;
  }

  /** The claims that lead to an entry; positions come in rising order. */
  async of(position: number): Promise<readonly string[]> {
    if (position > this.#through) {
      // Never beyond the end: what comes later takes its claims later.
      this.#through = Math.min((await this.#log.head()).position, position + POSITIONS);
      this.#claims = await this.#log.keptClaims({ after: position - 1, through: this.#through });
    }
    return this.#claims.get(position) ?? [];
  }
}
