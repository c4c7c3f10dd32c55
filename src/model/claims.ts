// Claims: the unique keys of everything that may happen only once, and the bytes they are stored as.
import { hash } from "node:crypto";
import { hexOf } from "./hex.js";
import { isUuidV7 } from "./ids.js";
import { isJsonObject, type JsonObject } from "./json.js";

export function idClaim(id: string): string {
  return `id:${id}`;
}

/** An interaction is completed once. */
export function completionClaim(interactionId: string): string {
  return `completes:${interactionId}`;
}

/** A candidate gets one verdict. */
function verdictClaim(memoryId: string): string {
  return `verdict:${memoryId}`;
}

/** A memory is superseded once. */
function supersededClaim(memoryId: string): string {
  return `superseded:${memoryId}`;
}

/** A turn's effect on a memory counts once. */
export function reinforcedClaim(memoryId: string, turnId: string): string {
  return `reinforced:${memoryId}:${turnId}`;
}

/** The text of an entry is evidence for a memory once. */
function evidenceClaim(memoryId: string, entryId: string): string {
  return `evidence:${memoryId}:${entryId}`;
}

/**
 * The same statement is proposed once from the same entries, whatever became of it. The wording is not normalised: a
 * newer version of Unicode would yield another claim, and the hash covers claims.
 */
function proposedClaim(content: string, cites: string): string {
  return `proposed:${cites}:${content}`;
}

/** All claims of an entry, by its kind and body. Anything that takes further claims must be named here too. */
export function claimsOf(kind: string, body: JsonObject, id = String(body.id)): string[] {
  const more = Object.hasOwn(claimsByKind, kind) ? claimsByKind[kind]?.(body) : undefined;
  return more === undefined ? [idClaim(id)] : [idClaim(id), ...more];
}

const claimsByKind: { readonly [kind: string]: (body: JsonObject) => readonly string[] } = {
  response: ({ interaction_id }) => [completionClaim(String(interaction_id))],
  memory_proposed: ({ content, cites = "" }) => (cites === "" ? [] : [proposedClaim(String(content), String(cites))]),
  memory_edited: ({ memory_id, evidence }) => {
    const named = isObjects(evidence) ? evidence[0]?.entry_id : undefined;
    return named === undefined ? [] : [evidenceClaim(String(memory_id), String(named))];
  },
  memory_promoted: ({ memory_id }) => [verdictClaim(String(memory_id))],
  memory_rejected: ({ memory_id }) => [verdictClaim(String(memory_id))],
  memory_superseded: ({ memory_id, status_before }) => [
    ...(status_before === "candidate" ? [verdictClaim(String(memory_id))] : []),
    supersededClaim(String(memory_id)),
  ],
  memory_reinforced: ({ turn_id, memories }) =>
    (isObjects(memories) ? memories : []).map(({ memory_id }) => reinforcedClaim(String(memory_id), String(turn_id))),
};

function isObjects(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.every(isJsonObject);
}

const KEPT = "key:";

/** The key of a claim whose entry was erased. */
export function claimFromKey(key: Uint8Array): string {
  return `${KEPT}${hexOf(key)}`;
}

/**
 * The key a claim is stored under. Keys are hashed, so forgetting an entry leaves nothing readable behind. Only a
 * UUIDv7 id is stored as its own 16 bytes: it reveals only a time, and new keys are then adjacent, while each hash
 * would touch another page.
 */
export function claimKey(claim: string): Buffer {
  if (claim.startsWith(KEPT)) return Buffer.from(claim.slice(KEPT.length), "hex");
  if (claim.length === 39 && claim.startsWith("id:") && isUuidV7(claim.slice(3))) {
    return Buffer.from(claim.slice(3).replaceAll("-", ""), "hex");
  }
  return hash("sha256", claim, "buffer");
}

/**
 * What an entry's hash covers of its claims: SHA-256 of their keys in ascending order, each preceded by one byte with
 * its length. The order is fixed because only the keys of an erased entry's claims are known.
 */
export function claimsDigest(claims: readonly string[]): Buffer {
  return keysDigest(claims.map(claimKey));
}

export function keysDigest(keys: readonly Uint8Array[]): Buffer {
  const ordered = keys.length < 2 ? keys : keys.toSorted(Buffer.compare);
  let size = 0;
  for (const key of ordered) size += 1 + key.byteLength;
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const key of ordered) {
    bytes[at] = key.byteLength;
    bytes.set(key, at + 1);
    at += 1 + key.byteLength;
  }
  return hash("sha256", bytes, "buffer");
}

/** A claim as it is stored. */
export interface ClaimRow {
  readonly claim: Uint8Array;
  readonly position: number;
}

export function claimsByPosition(rows: readonly ClaimRow[]): ReadonlyMap<number, readonly string[]> {
  const claims = new Map<number, string[]>();
  for (const { claim, position } of rows) claims.set(position, [...(claims.get(position) ?? []), claimFromKey(claim)]);
  return claims;
}
