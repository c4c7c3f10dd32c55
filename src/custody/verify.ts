// Verify: walks the chain from the first entry and names the first position that is not as it was recorded.
import { parseBody } from "../model/body.js";
import { chainHash, commitmentOf, GENESIS_HASH } from "../model/chain.js";
import { idClaim } from "../model/claims.js";
import { Fault } from "../model/fault.js";
import type { EntryLog, StoredEntry } from "../ports/entry-log.js";

export type Verification =
  | {
      readonly ok: true;
      readonly entries: number;
      readonly erased: number;
      readonly position: number;
      readonly hash: string;
    }
  | { readonly ok: false; readonly position: number; readonly reason: string };

export interface VerifyOptions {
  readonly onProgress?: (through: number) => void;
}

const BATCH_ENTRIES = 500;
const BATCH_BYTES = 8 * 1024 * 1024;

export async function verify(log: EntryLog, options: VerifyOptions = {}): Promise<Verification> {
  const walk = new Walk();
  const { position: end } = await log.head();
  while (walk.position < end) {
    const batch = await log.read({ after: walk.position, limit: BATCH_ENTRIES, bytes_max: BATCH_BYTES });
    if (batch.length === 0) break;
    const ids = await idPositions(log, batch);
    for (const stored of batch) {
      if (stored.position > end) break;
      const flaw = walk.step(stored) ?? idFlaw(stored, ids);
      if (flaw !== undefined) return { ok: false, ...walk.firstFlaw(flaw) };
    }
    options.onProgress?.(walk.position);
    // Other work on this thread goes on between batches.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return walk.result();
}

interface Flaw {
  readonly position: number;
  readonly reason: string;
}

class Walk {
  position = 0;
  #hash: Uint8Array = GENESIS_HASH;
  /** Positions without a body that no redaction has named yet. */
  readonly #bodiless = new Set<number>();
  #erased = 0;

  step(stored: StoredEntry): Flaw | undefined {
    const position = this.position + 1;
    if (stored.position !== position) return { position, reason: "the entry is missing" };
    const { kind, recorded_at, commitment } = stored;
    const expected = chainHash({ previous: this.#hash, position, kind, recorded_at, commitment });
    if (Buffer.compare(expected, stored.hash) !== 0) return { position, reason: "the entry does not fit the chain" };
    if (stored.body === undefined || stored.salt === undefined) {
      this.#bodiless.add(position);
      this.#erased += 1;
    } else if (Buffer.compare(commitmentOf(stored.salt, stored.body), commitment) !== 0) {
      return { position, reason: "the body is not the one that was recorded" };
    } else if (kind === "redaction") {
      for (const erased of redactedPositions(stored)) this.#bodiless.delete(erased);
    }
    this.position = position;
    this.#hash = stored.hash;
    return undefined;
  }

  /** A body missing without a redaction may lie before what was found. */
  firstFlaw(flaw: Flaw): Flaw {
    const [bodiless] = this.#bodiless;
    if (bodiless === undefined || bodiless > flaw.position) return flaw;
    return { position: bodiless, reason: "the body is missing, and no redaction names it" };
  }

  result(): Verification {
    const [bodiless] = this.#bodiless;
    if (bodiless !== undefined) {
      return { ok: false, position: bodiless, reason: "the body is missing, and no redaction names it" };
    }
    const hash = Buffer.from(this.#hash).toString("hex");
    return { ok: true, entries: this.position, erased: this.#erased, position: this.position, hash };
  }
}

function redactedPositions(stored: StoredEntry): readonly number[] {
  const { positions } = parseBody(stored.position, stored.body as Uint8Array);
  return Array.isArray(positions) ? positions.filter((position) => typeof position === "number") : [];
}

/** Where each entry's own id leads; a body that does not parse is told apart by its commitment, not here. */
async function idPositions(
  log: EntryLog,
  batch: readonly StoredEntry[],
): Promise<ReadonlyMap<number, number | undefined>> {
  const owners: number[] = [];
  const claims: string[] = [];
  for (const stored of batch) {
    const id = idOf(stored);
    if (id === undefined) continue;
    owners.push(stored.position);
    claims.push(idClaim(id));
  }
  const positions = await log.find(claims);
  return new Map(owners.map((owner, index) => [owner, positions[index]]));
}

function idOf(stored: StoredEntry): string | undefined {
  if (stored.body === undefined) return undefined;
  try {
    return parseBody(stored.position, stored.body).id as string;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function idFlaw(stored: StoredEntry, ids: ReadonlyMap<number, number | undefined>): Flaw | undefined {
  if (!ids.has(stored.position) || ids.get(stored.position) === stored.position) return undefined;
  return { position: stored.position, reason: "the entry's id does not lead to it any more" };
}
