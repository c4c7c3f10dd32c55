// Puts bodies together again from parts that an engine has loaded.
import { type PartRef, type Piece, PiecesFlaw, readPieces } from "./pieces.js";

/** No body is longer, and none is put together that claims to be. */
const JOINED_BYTES_MAX = 64 * 1024 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);
const TOO_LONG = "it refers to more than a body can hold";
export const MISSING = "a part of its body is missing";

/** Bytes among which a part lies, and where it begins in them. */
export interface Loaded {
  readonly bytes: Buffer;
  readonly from: number;
}

/** Both throw a `PiecesFlaw` where a part is not there. */
export interface PartSource {
  bytesOf(list: PartRef): Buffer;
  /** Where each of these texts lies, by its start. */
  load(texts: readonly PartRef[]): ReadonlyMap<number, Loaded>;
}

/** The body that was taken apart, behind what it is to follow; throws a `PiecesFlaw` where something of it is lost. */
export function joinParts(source: PartSource, taken: Buffer, before = NOTHING): Buffer {
  return joinPieces(source, expand(source, taken), before);
}

/** The bytes of pieces without lists. */
export function joinPieces(source: PartSource, pieces: readonly Piece[], before = NOTHING): Buffer {
  let length = before.length;
  for (const piece of pieces) length += sizeOf(piece);
  if (length > JOINED_BYTES_MAX) throw new PiecesFlaw(TOO_LONG);
  const texts = source.load(pieces.filter((piece): piece is PartRef => !Buffer.isBuffer(piece)));
  const joined = Buffer.allocUnsafe(length);
  let at = before.copy(joined);
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) at += piece.copy(joined, at);
    else {
      const { bytes, from } = texts.get(piece.start) as Loaded;
      at += bytes.copy(joined, at, from, from + piece.bytes);
    }
  }
  if (at !== length) throw new PiecesFlaw(MISSING);
  return joined;
}

/** All pieces with lists replaced by what they consist of: no list is left among them. */
export function expand(source: Pick<PartSource, "bytesOf">, taken: Buffer): readonly Piece[] {
  const expanded: Piece[] = [];
  let length = 0;
  const add = (piece: Piece): void => {
    // What was written into the store by somebody else must not fill the memory, were it with nothing.
    length += 1 + sizeOf(piece);
    if (length > JOINED_BYTES_MAX) throw new PiecesFlaw(TOO_LONG);
    expanded.push(piece);
  };
  for (const piece of readPieces(taken).pieces) {
    if (Buffer.isBuffer(piece) || piece.form === "text") add(piece);
    else for (const one of listPieces(source, piece)) add(one);
  }
  return expanded;
}

/** A list begins with at most one other, which was stored before it: there is no circle and no way to branch. */
export function listPieces(source: Pick<PartSource, "bytesOf">, last: PartRef): readonly Piece[] {
  const stretches: (readonly Piece[])[] = [];
  for (let list: PartRef | undefined = last; list !== undefined; ) {
    const { before, own } = listParts(source.bytesOf(list));
    const limit = list.start;
    if (own.some((piece) => !Buffer.isBuffer(piece) && piece.form === "list") || (before?.start ?? -1) >= limit) {
      throw new PiecesFlaw("a list in it does not follow another");
    }
    stretches.push(own);
    list = before;
  }
  return stretches.toReversed().flat();
}

/** The list that this one begins with, and its own pieces. */
export function listParts(bytes: Buffer): { readonly before: PartRef | undefined; readonly own: readonly Piece[] } {
  const { pieces } = readPieces(bytes);
  const [first] = pieces;
  const isLed = first !== undefined && !Buffer.isBuffer(first) && first.form === "list";
  return isLed ? { before: first, own: pieces.slice(1) } : { before: undefined, own: pieces };
}

function sizeOf(piece: Piece): number {
  return Buffer.isBuffer(piece) ? piece.length : piece.bytes;
}
