// Encodes a body, or a shared list, as literal bytes and references to parts. docs/FILE_FORMAT.md describes the format.
import { itemAt } from "../../model/item-at.js";

export interface PartRef {
  readonly form: "text" | "list";
  /** Offset among all bytes of parts that the store ever took. */
  readonly start: number;
  readonly bytes: number;
}

export type BodyPiece = Buffer | PartRef;

export interface EncodedBody {
  /** Number of lists that this one continues, directly or indirectly. */
  readonly depth: number;
  readonly pieces: readonly BodyPiece[];
}

/** The bytes are not in this format, or something they refer to is missing. */
export class PiecesError extends Error {}

const [LITERAL, REPEATED, TEXT, LIST] = [0, 1, 2, 3];
const TAGS = 4;

export class PieceWriter {
  #bytes = Buffer.allocUnsafe(256);
  #used = 0;
  /** End of the previous part: parts often follow each other. */
  #end = 0;
  readonly #literals = new Map<string, number>();
  #literal: Buffer[] = [];

  constructor(depth: number) {
    this.#number(depth);
  }

  add(piece: BodyPiece): void {
    if (Buffer.isBuffer(piece)) {
      this.#literal.push(piece);
      return;
    }
    this.#endLiteral();
    const { form, start, bytes } = piece;
    const step = start - this.#end;
    this.#number((step < 0 ? -2 * step - 1 : 2 * step) * TAGS + (form === "text" ? TEXT : LIST));
    this.#number(bytes);
    this.#end = start + bytes;
  }

  finish(): Buffer {
    this.#endLiteral();
    return this.#bytes.subarray(0, this.#used);
  }

  /** Adjacent literals are written as one; repeated ones are referenced by number. */
  #endLiteral(): void {
    if (this.#literal.length === 0) return;
    const bytes = this.#literal.length === 1 ? itemAt(this.#literal, 0) : Buffer.concat(this.#literal);
    this.#literal = [];
    const key = bytes.toString("latin1");
    const known = this.#literals.get(key);
    if (known !== undefined) {
      this.#number(known * TAGS + REPEATED);
      return;
    }
    this.#literals.set(key, this.#literals.size);
    this.#number(bytes.length * TAGS + LITERAL);
    this.#reserve(bytes.length);
    this.#used += bytes.copy(this.#bytes, this.#used);
  }

  #number(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.#used++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#used++] = rest;
  }

  #reserve(count: number): void {
    if (this.#used + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#used + count));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

export function readPieces(bytes: Buffer): EncodedBody {
  let at = 0;
  const number = (): number => {
    let [value, place] = [0, 1];
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined || place > Number.MAX_SAFE_INTEGER) throw new PiecesError("it ends within a number");
      value += (byte & 127) * place;
      place *= 128;
      if (byte < 128) return value;
    }
  };
  const depth = number();
  const pieces: BodyPiece[] = [];
  const literals: Buffer[] = [];
  let end = 0;
  while (at < bytes.length) {
    const value = number();
    const [tag, rest] = [value % TAGS, Math.floor(value / TAGS)];
    if (tag === LITERAL) {
      if (at + rest > bytes.length) throw new PiecesError("it ends within a text");
      const literal = bytes.subarray(at, at + rest);
      at += rest;
      literals.push(literal);
      pieces.push(literal);
    } else if (tag === REPEATED) {
      const literal = literals[rest];
      if (literal === undefined) throw new PiecesError("it repeats what was never there");
      pieces.push(literal);
    } else {
      const start = end + (rest % 2 === 1 ? -(rest + 1) / 2 : rest / 2);
      const count = number();
      if (start < 0) throw new PiecesError("it refers to what cannot be there");
      pieces.push({ form: tag === TEXT ? "text" : "list", start, bytes: count });
      end = start + count;
    }
  }
  return { depth, pieces };
}
