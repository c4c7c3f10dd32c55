// The text of a key: a name that it is found by, and a secret that nobody can guess. Only its hash is ever kept.
import { hash, timingSafeEqual } from "node:crypto";

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const SHAPE = /^hansard_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

export interface NewKey {
  readonly id: string;
  readonly key: string;
}

export function newKey(randomBytes: (count: number) => Uint8Array): NewKey {
  const id = Buffer.from(randomBytes(ID_BYTES)).toString("hex");
  return { id, key: `hansard_${id}_${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url")}` };
}

/** The id that a text claims to be the key of; undefined where it is no key at all. */
export function idOfKey(text: string): string | undefined {
  return SHAPE.exec(text)?.[1];
}

/** Without salt, because 256 random bits are in no list of guesses. */
export function hashOfKey(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}

/** Takes as long for a near miss as for a wild guess. */
export function isKeyOf(text: string, stored: Uint8Array): boolean {
  const given = hashOfKey(text);
  return given.byteLength === stored.byteLength && timingSafeEqual(given, stored);
}
