// The hash chain: which bytes are hashed, on every engine, and the check of a log or an export entry by entry.
// docs/FILE_FORMAT.md has a worked example.
import { hash } from "node:crypto";
import { erasedBy, lastingKinds, parseBody } from "./body.js";
import { claimKey, claimsDigest, claimsOf, keysDigest } from "./claims.js";
import { corruptEntry, isCorruptEntry } from "./fault.js";
import { hexOf } from "./hex.js";

export const SALT_BYTES = 16;
export const HASH_BYTES = 32;

/** The hash before the first entry. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(32);

/** SHA-256 of salt and body: it commits to the body, and reveals nothing about it once salt and body are erased. */
export function commitmentOf(salt: Uint8Array, body: Uint8Array): Buffer {
  // Capture stores them next to each other in one buffer; then nothing is copied.
  const areNeighbours = salt.buffer === body.buffer && salt.byteOffset + salt.byteLength === body.byteOffset;
  const both = areNeighbours
    ? new Uint8Array(salt.buffer, salt.byteOffset, salt.byteLength + body.byteLength)
    : Buffer.concat([salt, body]);
  return hash("sha256", both, "buffer");
}

/** What an entry's hash covers, in addition to the hash before it. */
export interface Link {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  /** Undefined in entries of the first format, as is the digest of their claims: their hash covers neither. */
  readonly recorded_by?: string | undefined;
  readonly claims_digest?: Uint8Array | undefined;
  readonly commitment: Uint8Array;
}

/**
 * SHA-256 of the previous hash, then lines of text, then the digest of the claims and the commitment. The first line of
 * the second format is not a number, so entries of the two formats never have the same bytes.
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

/** Whether an entry is of the first format. The log accepts these only before the first entry of the second format. */
export function isOfFirstFormat(entry: Pick<Link, "recorded_by">): boolean {
  return entry.recorded_by === undefined;
}

/**
 * Whether entries continue the chain from here: positions without gaps, matching hashes, the claims that each hash
 * covers, and no entry of the first format after one of the second.
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

export interface Flaw {
  readonly position: number;
  readonly reason: string;
}

interface WalkedEntry extends Link {
  readonly hash: Uint8Array;
  readonly salt?: Uint8Array | undefined;
  readonly body?: Uint8Array | undefined;
  /** Why an existing body cannot be read. */
  readonly flaw?: string | undefined;
}

const LOST = "the body is missing, and no redaction names it";

export class ChainWalk {
  position = 0;
  hash: Uint8Array = GENESIS_HASH;
  erased = 0;
  /** For each position, the first redaction that names it and may erase it. */
  readonly redactions = new Map<number, number>();
  /** Positions that had a body when they were checked, and that a later redaction names. */
  readonly named = new Set<number>();
  /** Positions without a body that no redaction has named yet. */
  readonly #bodiless = new Set<number>();
  readonly #lasting = new Set<number>();
  #isFirstFormat = true;

  /** `keys` are the keys of the entry's claims, if known. */
  step(entry: WalkedEntry, keys?: readonly Uint8Array[]): Flaw | undefined {
    const position = this.position + 1;
    if (entry.position !== position) return missingAt(position);
    const reason = this.#linkFlaw(entry) ?? bodyFlaw(entry) ?? claimsFlaw(entry, keys);
    if (reason !== undefined) return { position, reason };
    if (lastingKinds.includes(entry.kind)) this.#lasting.add(position);
    if (entry.body === undefined) {
      this.#bodiless.add(position);
      this.erased += 1;
    } else if (entry.kind === "redaction") this.redact(entry);
    this.position = position;
    this.hash = entry.hash;
    this.#isFirstFormat = isOfFirstFormat(entry);
    return undefined;
  }

  /** Notes what a redaction erases. */
  redact(redaction: WalkedEntry): void {
    const { position, kind, body } = redaction;
    if (body === undefined) return;
    for (const erased of erasedBy({ position, kind, body })) {
      if (this.#lasting.has(erased) || this.redactions.has(erased)) continue;
      this.redactions.set(erased, position);
      if (!this.#bodiless.delete(erased)) this.named.add(erased);
    }
  }

  /** The first body before this position that is missing without a redaction. */
  lostBefore(end: number): Flaw | undefined {
    const [position] = this.#bodiless;
    return position === undefined || position >= end ? undefined : { position, reason: LOST };
  }

  #linkFlaw(entry: WalkedEntry): string | undefined {
    const { commitment, claims_digest = commitment } = entry;
    if (commitment.byteLength !== HASH_BYTES) return "the commitment is not a hash";
    if (claims_digest.byteLength !== HASH_BYTES) return "the digest of the claims is not a hash";
    if (Buffer.compare(chainHash({ ...entry, previous: this.hash }), entry.hash) !== 0) {
      return "the entry does not fit the chain";
    }
    // What the first format does not cover cannot be checked; it must still look right.
    const isOlder = isOfFirstFormat(entry) && !this.#isFirstFormat;
    return isOlder ? "the entry is of an older format than the one before it" : undefined;
  }
}

export function missingAt(position: number): Flaw {
  return { position, reason: "the entry is missing" };
}

/** Whether an entry is whole and follows the one with this hash, at any position. */
export function isWhole(entry: WalkedEntry, previous: Uint8Array): boolean {
  if (entry.body === undefined || bodyFlaw(entry) !== undefined) return false;
  return Buffer.compare(chainHash({ ...entry, previous }), entry.hash) === 0;
}

/** Why a body is not the one that was recorded; undefined also if there is none, because it may be erased. */
export function bodyFlaw(
  entry: Pick<WalkedEntry, "kind" | "salt" | "body" | "commitment" | "flaw">,
): string | undefined {
  const { salt, body, commitment } = entry;
  const flaw = readFlaw(entry);
  if (flaw !== undefined || salt === undefined || body === undefined) return flaw;
  const isRecorded = salt.byteLength === SALT_BYTES && Buffer.compare(commitmentOf(salt, body), commitment) === 0;
  return isRecorded ? undefined : NOT_RECORDED;
}

/** What is wrong with an entry that a log returned. The log has already compared the body with its commitment. */
function readFlaw({
  kind,
  salt,
  body,
  flaw,
}: Pick<WalkedEntry, "kind" | "salt" | "body" | "flaw">): string | undefined {
  if (flaw !== undefined || (salt !== undefined && body !== undefined)) return flaw;
  if ((salt ?? body) !== undefined) return LOST;
  return lastingKinds.includes(kind) ? "the body is missing, and no redaction may erase it" : undefined;
}

export const NOT_RECORDED = "the body is not the one that was recorded";

/** The entry itself if its body is as recorded or erased; throws a fault if it was altered. */
export function asRecorded<E extends Pick<WalkedEntry, "position" | "kind" | "salt" | "body" | "flaw">>(stored: E): E {
  const flaw = readFlaw(stored);
  if (flaw !== undefined) throw corruptEntry(stored.position, flaw);
  return stored;
}

/** How an engine returns an entry: without salt and body, and with the reason, if they do not match the commitment. */
export function withoutAltered<E extends Pick<WalkedEntry, "kind" | "salt" | "body" | "commitment" | "flaw">>(
  stored: E,
): E {
  if (stored.salt === undefined || stored.body === undefined) return stored;
  const flaw = bodyFlaw(stored);
  if (flaw === undefined) return stored;
  const { salt: _, body: __, ...left } = stored;
  return { ...left, flaw } as E;
}

interface BodyText extends Pick<Link, "position" | "kind" | "recorded_at" | "recorded_by"> {
  readonly hash: string;
  readonly body?: string;
  readonly flaw?: string;
}

/** The body of an entry from a log, as text. */
export function toBodyText(stored: WalkedEntry): BodyText {
  const { position, kind, recorded_at, recorded_by, body, flaw } = stored;
  const placed = { position, kind, recorded_at, recorded_by, hash: hexOf(stored.hash) };
  if (flaw !== undefined) return { ...placed, flaw };
  return body === undefined ? placed : { ...placed, body: Buffer.from(body).toString("utf8") };
}

function claimsFlaw(entry: WalkedEntry, keys: readonly Uint8Array[] | undefined): string | undefined {
  const { claims_digest } = entry;
  const own = ownKeys(entry);
  const covered = own ?? keys;
  if (claims_digest !== undefined && covered !== undefined) {
    if (Buffer.compare(keysDigest(covered), claims_digest) !== 0) return "its claims differ from the recorded ones";
  }
  if (keys === undefined) return undefined;
  if (own !== undefined) return isSame(own, keys) ? undefined : "the claims that lead to the entry are not its own";
  // For an erased entry of the first format, only the number of its claims is known; a copy made from an export of that
  // time has none of them.
  const count = claimsOf(entry.kind, {}).length;
  const isPlausible = claims_digest !== undefined || keys.length === 0 || keys.length === count;
  return isPlausible ? undefined : "the number of claims that lead to the erased entry is wrong";
}

/** Undefined if the body is gone or does not say. */
function ownKeys({ position, kind, body }: WalkedEntry): readonly Uint8Array[] | undefined {
  if (body === undefined) return undefined;
  try {
    return claimsOf(kind, parseBody(position, body)).map(claimKey);
  } catch (error) {
    if (isCorruptEntry(error)) return undefined;
    throw error;
  }
}

function isSame(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return left.length === right.length && Buffer.compare(keysDigest(left), keysDigest(right)) === 0;
}
