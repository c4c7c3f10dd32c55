// The hash chain: which bytes are hashed, on every engine alike. docs/FILE_FORMAT.md has a worked example.
import { hash } from "node:crypto";
import { claimsDigest } from "./claims.js";

export const SALT_BYTES = 16;
export const HASH_BYTES = 32;

/** What stands before the first entry. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(32);

/** SHA-256 of salt and body: it binds the body, and says nothing about it once salt and body are erased. */
export function commitmentOf(salt: Uint8Array, body: Uint8Array): Buffer {
  // Where they lie one after the other already, as capture leaves them, nothing has to be copied.
  const areNeighbours = salt.buffer === body.buffer && salt.byteOffset + salt.byteLength === body.byteOffset;
  const both = areNeighbours
    ? new Uint8Array(salt.buffer, salt.byteOffset, salt.byteLength + body.byteLength)
    : Buffer.concat([salt, body]);
  return hash("sha256", both, "buffer");
}

/** What the hash of an entry is made of, beside the hash before it. */
export interface Link {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  /** Undefined in entries of the first format, as is the digest of their claims: neither is covered by their hash. */
  readonly recorded_by?: string | undefined;
  readonly claims_digest?: Uint8Array | undefined;
  readonly commitment: Uint8Array;
}

/**
 * SHA-256 of the previous hash, then lines of text, then the digest of the claims and the commitment. The first line of the
 * second format is no number, so that no entry of one format has the bytes of one of the other.
 */
export function chainHash(link: Link & { readonly previous: Uint8Array }): Buffer {
  const { previous, commitment, recorded_by, claims_digest = NOTHING } = link;
  const place = `${link.position}\n${link.kind}\n${link.recorded_at}\n`;
  const lines = recorded_by === undefined ? place : `v2\n${place}${recorded_by}\n`;
  const end = previous.byteLength + Buffer.byteLength(lines);
  const bytes = Buffer.allocUnsafe(end + claims_digest.byteLength + commitment.byteLength);
  bytes.set(previous);
  bytes.write(lines, previous.byteLength, "utf8");
  bytes.set(claims_digest, end);
  bytes.set(commitment, end + claims_digest.byteLength);
  return hash("sha256", bytes, "buffer");
}

const NOTHING = new Uint8Array();

/** Whether an entry is of the first format, which the log takes only before any of the second. */
export function isOfFirstFormat(entry: Pick<Link, "recorded_by">): boolean {
  return entry.recorded_by === undefined;
}

/**
 * Whether entries follow each other from this place on, each with the hash that the one before it asks for and with the
 * claims that its hash covers, and none of the first format behind one of the second.
 */
export function isChained(
  start: { readonly position: number; readonly hash: Uint8Array },
  entries: readonly (Link & { readonly hash: Uint8Array; readonly claims: readonly string[] })[],
): boolean {
  let { position, hash: previous } = start;
  let isFirstFormat = true;
  for (const entry of entries) {
    position += 1;
    if (entry.position !== position || (isOfFirstFormat(entry) && !isFirstFormat)) return false;
    if (Buffer.compare(chainHash({ ...entry, previous }), entry.hash) !== 0) return false;
    if (!isCovered(entry)) return false;
    isFirstFormat = isOfFirstFormat(entry);
    previous = entry.hash;
  }
  return true;
}

function isCovered({ recorded_by, claims_digest, claims }: Link & { readonly claims: readonly string[] }): boolean {
  if (recorded_by === undefined || claims_digest === undefined) return recorded_by === claims_digest;
  return Buffer.compare(claimsDigest(claims), claims_digest) === 0;
}
