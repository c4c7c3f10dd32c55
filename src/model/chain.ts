// The hash chain: which bytes are hashed, on every engine alike. docs/DATA_FORMAT.md has a worked example.
import { hash } from "node:crypto";

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

/** SHA-256 of the previous hash, then position, kind and recorded_at each ended by a line feed, then the commitment. */
export function chainHash(link: {
  readonly previous: Uint8Array;
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly commitment: Uint8Array;
}): Buffer {
  const { previous, commitment } = link;
  const middle = `${link.position}\n${link.kind}\n${link.recorded_at}\n`;
  const end = previous.byteLength + Buffer.byteLength(middle);
  const bytes = Buffer.allocUnsafe(end + commitment.byteLength);
  bytes.set(previous);
  bytes.write(middle, previous.byteLength, "utf8");
  bytes.set(commitment, end);
  return hash("sha256", bytes, "buffer");
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
