// By what parts of bodies are found again.
import { hash } from "node:crypto";

export const DIGEST_BYTES = 16;

const [TEXT, LIST] = [0, 1];
const NOTHING: Buffer = Buffer.alloc(0);
const BEFORE_FIRST: Buffer = Buffer.alloc(DIGEST_BYTES);

/**
 * SHA-256 of a secret of the store and their bytes, cut to 16 bytes. Nobody without the secret can
 * make two of one digest, or tell from one that was left somewhere what it stood for.
 */
export class PartDigests {
  #bytes: Buffer;
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
    this.#bytes = Buffer.concat([this.#secret, Buffer.alloc(64 * 1024)]);
  }

  ofText(bytes: Buffer): Buffer {
    return this.#of(TEXT, NOTHING, bytes);
  }

  /** One for each item, of it and all before it. */
  ofItems(bytes: Buffer, from: number, ends: readonly number[], before = BEFORE_FIRST): readonly Buffer[] {
    let digest = before;
    let start = from;
    return ends.map((end) => {
      digest = this.#of(LIST, digest, bytes.subarray(start, end));
      start = end;
      return digest;
    });
  }

  #of(form: number, before: Buffer, bytes: Buffer): Buffer {
    const start = this.#secret.length + 1 + before.length;
    if (this.#bytes.length < start + bytes.length) {
      this.#bytes = Buffer.concat([this.#secret, Buffer.alloc(2 * (start + bytes.length))]);
    }
    this.#bytes[this.#secret.length] = form;
    before.copy(this.#bytes, this.#secret.length + 1);
    bytes.copy(this.#bytes, start);
    return hash("sha256", this.#bytes.subarray(0, start + bytes.length), "buffer").subarray(0, DIGEST_BYTES);
  }
}
