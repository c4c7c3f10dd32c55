// Verify: walks the chain from the first entry and names the first position that is not as it was recorded.
import { parseBody } from "../model/body.js";
import { chainHash, commitmentOf, GENESIS_HASH, HASH_BYTES, SALT_BYTES } from "../model/chain.js";
import { claimsOf } from "../model/claims.js";
import { Fault } from "../model/fault.js";
import { erasedBy } from "../model/redaction.js";
import type { Verification } from "../model/verification.js";
import type { EntryLog, StoredEntry } from "../ports/entry-log.js";
import { walkLog } from "../ports/walk-log.js";

export interface VerifyOptions {
  readonly onProgress?: (through: number) => void;
}

const BATCH_BYTES = 8 * 1024 * 1024;

export async function verify(log: EntryLog, options: VerifyOptions = {}): Promise<Verification> {
  const walk = new Walk();
  for (let end = (await log.head()).position; walk.position < end; ) {
    const flaw = await walkTo(end, { log, walk, ...options });
    if (flaw !== undefined) return { ok: false, ...(await firstFlaw(log, walk, flaw)) };
    // What was erased during the walk is named by a redaction behind the end that there was at its beginning.
    if (walk.lostBefore(end + 1) !== undefined) end = (await log.head()).position;
  }
  const result = walk.result();
  const stray = result.ok ? await log.stray() : undefined;
  return stray === undefined ? result : { ok: false, ...stray };
}

async function walkTo(
  end: number,
  { log, walk, onProgress }: VerifyOptions & { readonly log: EntryLog; readonly walk: Walk },
): Promise<Flaw | undefined> {
  for await (const batch of walkLog(log, { after: walk.position, through: end, bytes_max: BATCH_BYTES })) {
    const leads = await claimPositions(log, batch);
    for (const stored of batch) {
      const flaw = walk.step(stored) ?? claimFlaw(stored, leads);
      if (flaw !== undefined) return flaw;
    }
    onProgress?.(walk.position);
  }
  return walk.position < end ? missingAt(walk.position + 1) : undefined;
}

/**
 * A body missing without a redaction may lie before what was found. The redaction that names it may lie behind, where the
 * chain no longer holds; one that is whole and fits its neighbour still tells erased from lost.
 */
async function firstFlaw(log: EntryLog, walk: Walk, flaw: Flaw): Promise<Flaw> {
  if (walk.lostBefore(flaw.position) === undefined) return flaw;
  let previous: Uint8Array | undefined;
  for await (const batch of walkLog(log, { after: flaw.position - 1, bytes_max: BATCH_BYTES })) {
    for (const stored of batch) {
      if (previous !== undefined && stored.kind === "redaction" && isWhole(stored, previous)) walk.redact(stored);
      previous = stored.hash;
    }
    if (walk.lostBefore(flaw.position) === undefined) break;
  }
  return walk.lostBefore(flaw.position) ?? flaw;
}

function isWhole(stored: StoredEntry, previous: Uint8Array): boolean {
  return Buffer.compare(chainHash({ ...stored, previous }), stored.hash) === 0 && bodyFlaw(stored) === undefined;
}

function bodyFlaw({ salt, body, commitment }: StoredEntry): string | undefined {
  if (salt === undefined || body === undefined) return "the body is missing, and no redaction names it";
  const isRecorded = salt.byteLength === SALT_BYTES && Buffer.compare(commitmentOf(salt, body), commitment) === 0;
  return isRecorded ? undefined : "the body is not the one that was recorded";
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
    const reason = bodyFlaw(stored);
    if (stored.body === undefined || stored.salt === undefined) {
      this.#bodiless.add(position);
      this.#erased += 1;
    } else if (reason !== undefined) {
      return { position, reason };
    } else if (kind === "redaction") {
      this.redact(stored);
    }
    this.position = position;
    this.#hash = stored.hash;
    return undefined;
  }

  /** Takes a redaction's word that bodies are missing with reason. */
  redact(redaction: StoredEntry): void {
    for (const erased of erasedBy(redaction)) this.#bodiless.delete(erased);
  }

  /** The first body before this position that is missing without a redaction. */
  lostBefore(end: number): Flaw | undefined {
    const [position] = this.#bodiless;
    if (position === undefined || position >= end) return undefined;
    return { position, reason: "the body is missing, and no redaction names it" };
  }

  result(): Verification {
    const lost = this.lostBefore(Number.POSITIVE_INFINITY);
    if (lost !== undefined) return { ok: false, ...lost };
    const hash = Buffer.from(this.#hash).toString("hex");
    return { ok: true, entries: this.position, erased: this.#erased, position: this.position, hash };
  }
}

/** Where the claims that each entry must have taken lead to. */
async function claimPositions(
  log: EntryLog,
  batch: readonly StoredEntry[],
): Promise<ReadonlyMap<number, readonly (number | undefined)[]>> {
  const claimsByPosition = new Map(batch.map((stored) => [stored.position, ownClaims(stored)]));
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
function ownClaims(stored: StoredEntry): readonly string[] {
  if (stored.body === undefined) return [];
  try {
    return claimsOf(stored.kind, parseBody(stored.position, stored.body));
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
