// Pieces: a body, or a list that bodies share, as bytes of its own and references to parts. docs/FILE_FORMAT.md has the bytes.
import { itemAt } from "../../model/item-at.js";

export interface PartRef {
  readonly form: "text" | "list";
  /** Where the part begins among all bytes of parts that the store ever took. */
  readonly start: number;
  readonly bytes: number;
}

export type Piece = Buffer | PartRef;

export interface Pieces {
  /** How many lists stand before this one, each beginning with the one before it. */
  readonly depth: number;
  readonly pieces: readonly Piece[];
}

/** What was read is not what this writes. */
export class PiecesFlaw extends Error {}

const [LITERAL, REPEATED, TEXT, LIST] = [0, 1, 2, 3];
const TAGS = 4;

export class PieceWriter {
  #bytes = Buffer.allocUnsafe(256);
  #used = 0;
  /** Where the part before ends: many follow each other. */
  #end = 0;
  readonly #literals = new Map<string, number>();
  #literal: Buffer[] = [];

  constructor(depth: number) {
    this.#number(depth);
  }

  add(piece: Piece): void {
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

  /** Neighbours are written as one; one that was there before is named by its number. */
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

export function readPieces(bytes: Buffer): Pieces {
  let at = 0;
  const number = (): number => {
    let [value, place] = [0, 1];
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined || place > Number.MAX_SAFE_INTEGER) throw new PiecesFlaw("it ends within a number");
      value += (byte & 127) * place;
      place *= 128;
      if (byte < 128) return value;
    }
  };
  const depth = number();
  const pieces: Piece[] = [];
  const literals: Buffer[] = [];
  let end = 0;
  while (at < bytes.length) {
    const value = number();
    const [tag, rest] = [value % TAGS, Math.floor(value / TAGS)];
    if (tag === LITERAL) {
      if (at + rest > bytes.length) throw new PiecesFlaw("it ends within a text");
      const literal = bytes.subarray(at, at + rest);
      at += rest;
      literals.push(literal);
      pieces.push(literal);
    } else if (tag === REPEATED) {
      const literal = literals[rest];
      if (literal === undefined) throw new PiecesFlaw("it repeats what was never there");
      pieces.push(literal);
    } else {
      const start = end + (rest % 2 === 1 ? -(rest + 1) / 2 : rest / 2);
      const count = number();
      if (start < 0) throw new PiecesFlaw("it refers to what cannot be there");
      pieces.push({ form: tag === TEXT ? "text" : "list", start, bytes: count });
      end = start + count;
    }
  }
  return { depth, pieces };
}
