// Verify: walks the chain from the first entry and names the first position that is not as it was recorded.
import { parseBody } from "../model/body.js";
import { chainHash, commitmentOf, GENESIS_HASH, HASH_BYTES, SALT_BYTES } from "../model/chain.js";
import { completionClaim, idClaim } from "../model/claims.js";
import { Fault } from "../model/fault.js";
import { erasedBy } from "../model/redaction.js";
import type { EntryLog, StoredEntry } from "../ports/entry-log.js";

export type Verification =
  | {
      readonly ok: true;
      readonly entries: number;
      readonly erased: number;
      readonly position: number;
      readonly hash: string;
      /** Where a seal was given: what it says, and by which key. */
      readonly seal?: { readonly position: number; readonly sealed_at: string; readonly public_key: string };
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
    if (batch.length === 0) return { ok: false, ...walk.firstFlaw(missingAt(walk.position + 1)) };
    const leads = await claimPositions(log, batch);
    for (const stored of batch) {
      if (stored.position > end) break;
      const flaw = walk.step(stored) ?? claimFlaw(stored, leads);
      if (flaw !== undefined) return { ok: false, ...walk.firstFlaw(flaw) };
    }
    options.onProgress?.(walk.position);
    // Other work on this thread goes on between batches.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return walk.result();
}

function isCorruptEntry(error: unknown): boolean {
  return error instanceof Fault && error.code === "entry_corrupt";
}

function missingAt(position: number): Flaw {
  return { position, reason: "the entry is missing" };
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
    if (stored.position !== position) return missingAt(position);
    const { kind, recorded_at, commitment } = stored;
    if (commitment.byteLength !== HASH_BYTES) return { position, reason: "the commitment is not a hash" };
    const expected = chainHash({ previous: this.#hash, position, kind, recorded_at, commitment });
    if (Buffer.compare(expected, stored.hash) !== 0) return { position, reason: "the entry does not fit the chain" };
    if (stored.flaw !== undefined) return { position, reason: stored.flaw };
    if (stored.body === undefined || stored.salt === undefined) {
      this.#bodiless.add(position);
      this.#erased += 1;
    } else if (
      stored.salt.byteLength !== SALT_BYTES ||
      Buffer.compare(commitmentOf(stored.salt, stored.body), commitment) !== 0
    ) {
      return { position, reason: "the body is not the one that was recorded" };
    } else if (kind === "redaction") {
      for (const erased of erasedBy(stored)) this.#bodiless.delete(erased);
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

/** Where the claims that each entry must have taken lead to. */
async function claimPositions(
  log: EntryLog,
  batch: readonly StoredEntry[],
): Promise<ReadonlyMap<number, readonly (number | undefined)[]>> {
  const claimsByPosition = new Map(batch.map((stored) => [stored.position, claimsOf(stored)]));
  const positions = await log.find([...claimsByPosition.values()].flat());
  let used = 0;
  return new Map(
    [...claimsByPosition].map(([position, claims]) => {
      used += claims.length;
      return [position, positions.slice(used - claims.length, used)];
    }),
  );
}

/** A body that does not parse is told apart by its commitment, not here. */
function claimsOf(stored: StoredEntry): readonly string[] {
  if (stored.body === undefined) return [];
  try {
    const body = parseBody(stored.position, stored.body);
    const own = idClaim(body.id as string);
    return stored.kind === "response" ? [own, completionClaim(String(body.interaction_id))] : [own];
  } catch (error) {
    if (isCorruptEntry(error)) return [];
    throw error;
  }
}

function claimFlaw(stored: StoredEntry, leads: ReadonlyMap<number, readonly (number | undefined)[]>): Flaw | undefined {
  const { position } = stored;
  if ((leads.get(position) ?? []).every((lead) => lead === position)) return undefined;
  return { position, reason: "what the entry claimed does not lead to it any more" };
}
