// The log in memory: the executable specification of what a log engine does, used by tests.
import { randomUUID } from "node:crypto";
import { chainHash, GENESIS_HASH } from "../../model/chain.js";
import type { AppendOutcome, AppendUnit, EntryLog, Head, StoredEntry, TakenClaim } from "../../ports/entry-log.js";

export class MemoryLog implements EntryLog {
  readonly engine = "memory";
  readonly #logId = randomUUID();
  readonly #entries: StoredEntry[] = [];
  readonly #positionByClaim = new Map<string, number>();

  async head(): Promise<Head> {
    const last = this.#entries.at(-1);
    return { log_id: this.#logId, position: last?.position ?? 0, hash: last?.hash ?? GENESIS_HASH };
  }

  async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return units.map((unit) => this.#appendUnit(unit));
  }

  async read(range: {
    readonly after: number;
    readonly limit: number;
    readonly bytes_max?: number;
  }): Promise<readonly StoredEntry[]> {
    const found: StoredEntry[] = [];
    let bytes = 0;
    for (const entry of this.#entries.slice(range.after, range.after + range.limit)) {
      found.push(entry);
      bytes += entry.body?.byteLength ?? 0;
      if (bytes >= (range.bytes_max ?? Number.POSITIVE_INFINITY)) break;
    }
    return found;
  }

  async get(positions: readonly number[]): Promise<readonly (StoredEntry | undefined)[]> {
    return positions.map((position) => this.#entries[position - 1]);
  }

  async find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    return claims.map((claim) => this.#positionByClaim.get(claim));
  }

  async close(): Promise<void> {}

  #appendUnit(unit: AppendUnit): AppendOutcome {
    const taken: TakenClaim[] = [];
    for (const [item, { claims }] of unit.entries()) {
      for (const claim of claims) {
        const position = this.#positionByClaim.get(claim);
        if (position !== undefined) taken.push({ item, claim, position });
      }
    }
    if (taken.length > 0) return { taken };
    return {
      placed: unit.map((entry) => {
        const { claims, ...kept } = entry;
        const position = this.#entries.length + 1;
        const previous = this.#entries.at(-1)?.hash ?? GENESIS_HASH;
        const hash = chainHash({ ...kept, previous, position });
        this.#entries.push({ ...kept, position, hash });
        for (const claim of claims) this.#positionByClaim.set(claim, position);
        return { position, hash };
      }),
    };
  }
}
