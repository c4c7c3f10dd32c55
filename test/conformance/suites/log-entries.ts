// Entries for the suite of the log: made from a label, so a check can tell what it finds.

import { randomBytes } from "node:crypto";
import type { AppendOutcome, EntryLog, LogEntry, Placement, StoredEntry, TakenClaim } from "../../../src/log/port.js";
import { chainHash, commitmentOf, GENESIS_HASH, SALT_BYTES } from "../../../src/model/chain.js";
import { claimsDigest } from "../../../src/model/claims.js";
import { hexOf } from "../../../src/model/hex.js";
import { itemAt } from "../../../src/model/item-at.js";

export interface EntryParts {
  readonly kind?: string;
  readonly recorded_at?: string;
  readonly recorded_by?: string;
  readonly body?: Uint8Array;
  /** Claims in addition to that of the id. */
  readonly claims?: readonly string[];
}

export function newEntry(id: string, parts: EntryParts = {}): LogEntry {
  const salt = randomBytes(SALT_BYTES);
  const body = parts.body ?? Buffer.from(JSON.stringify({ id, error: `what went wrong in ${id}` }));
  return {
    kind: parts.kind ?? "error",
    recorded_at: parts.recorded_at ?? "2026-11-15T06:39:37.123Z",
    recorded_by: parts.recorded_by ?? "",
    salt,
    body,
    claims: [`id:${id}`, ...(parts.claims ?? [])],
  };
}

export function newEntries(prefix: string, count: number): readonly LogEntry[] {
  return Array.from({ length: count }, (_, index) => newEntry(`${prefix}-${index}`));
}

/** What the log must give back for entries appended in this order to an empty log. */
export function chained(entries: readonly LogEntry[]): readonly StoredEntry[] {
  let previous: Uint8Array = GENESIS_HASH;
  return entries.map(({ claims, ...kept }, index) => {
    const position = index + 1;
    const commitment = commitmentOf(kept.salt, kept.body);
    const claims_digest = claimsDigest(claims);
    const hash = chainHash({ ...kept, claims_digest, commitment, previous, position });
    previous = hash;
    return { ...kept, claims_digest, commitment, position, hash };
  });
}

/** Bytes as hexadecimal text: engines may hand out any kind of byte array, and a failure stays readable. */
export function legible(stored: StoredEntry | undefined): object | undefined {
  if (stored === undefined) return undefined;
  const { position, kind, recorded_at, recorded_by, claims_digest, commitment, hash, salt, body } = stored;
  return {
    position,
    kind,
    recorded_at,
    commitment: hexOf(commitment),
    hash: hexOf(hash),
    ...(recorded_by === undefined ? {} : { recorded_by }),
    ...(claims_digest === undefined ? {} : { claims_digest: hexOf(claims_digest) }),
    ...(salt === undefined ? {} : { salt: hexOf(salt) }),
    ...(body === undefined ? {} : { body: hexOf(body) }),
  };
}

export async function readAll(log: EntryLog): Promise<readonly StoredEntry[]> {
  const { position: end } = await log.head();
  const found: StoredEntry[] = [];
  for (;;) {
    const batch = await log.read({ after: found.length, limit: 1_000 });
    if (batch.length === 0) return found;
    found.push(...batch);
    // A log that gives an entry again would otherwise be read for ever.
    if (found.length > end) throw new Error(`the head is ${end}, but there are more entries to read`);
  }
}

export async function appendOne(log: EntryLog, entry: LogEntry): Promise<Placement> {
  const [outcome] = await log.append([[entry]]);
  return itemAt(placedBy(outcome), 0);
}

export function placedBy(outcome: AppendOutcome | undefined): readonly Placement[] {
  if (outcome === undefined || "taken" in outcome) throw new Error("the unit was not appended");
  return outcome.placed;
}

export function takenBy(outcome: AppendOutcome | undefined): readonly TakenClaim[] {
  if (outcome === undefined || "placed" in outcome) throw new Error("the unit was appended");
  return outcome.taken;
}

export function positionsOf(outcomes: readonly AppendOutcome[]): readonly number[] {
  return outcomes.flatMap((outcome) => placedBy(outcome).map(({ position }) => position));
}
