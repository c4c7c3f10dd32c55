// The hash chain: which bytes are hashed, on every engine alike. docs/DATA_FORMAT.md has a worked example.
import { hash } from "node:crypto";

export const SALT_BYTES = 16;
export const HASH_BYTES = 32;

/** What stands before the first entry. */
export const GENESIS_HASH: Uint8Array = new Uint8Array(32);

/** SHA-256 of salt and body: it binds the body, and says nothing about it once salt and body are erased. */
export function commitmentOf(salt: Uint8Array, body: Uint8Array): Buffer {
  return commitmentOfBoth(Buffer.concat([salt, body]));
}

/** The same for salt and body that lie one after the other already. */
export function commitmentOfBoth(saltAndBody: Uint8Array): Buffer {
  return hash("sha256", saltAndBody, "buffer");
}

/** SHA-256 of the previous hash, then position, kind and recorded_at each ended by a line feed, then the commitment. */
export function chainHash(link: {
  readonly previous: Uint8Array;
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly commitment: Uint8Array;
}): Buffer {
  const middle = Buffer.from(`${link.position}\n${link.kind}\n${link.recorded_at}\n`, "utf8");
  return hash("sha256", Buffer.concat([link.previous, middle, link.commitment]), "buffer");
}

/** Whether entries follow each other from this place on, each with the hash that the one before it asks for. */
export function isChained(
  start: { readonly position: number; readonly hash: Uint8Array },
  entries: readonly {
    readonly position: number;
    readonly kind: string;
    readonly recorded_at: string;
    readonly commitment: Uint8Array;
    readonly hash: Uint8Array;
  }[],
): boolean {
  let { position, hash: previous } = start;
  for (const entry of entries) {
    position += 1;
    if (entry.position !== position) return false;
    if (Buffer.compare(chainHash({ ...entry, previous }), entry.hash) !== 0) return false;
    previous = entry.hash;
  }
  return true;
}
