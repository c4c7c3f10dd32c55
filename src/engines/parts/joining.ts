// Joins bodies from parts that an engine has loaded, and tells which parts a body uses.

import { itemEnds, type PartDigests } from "./cutting.js";
import { type BodyPiece, type PartRef, PiecesError, readPieces } from "./pieces.js";

/** No body is longer; none that claims to be is joined. */
const JOINED_BYTES_MAX = 64 * 1024 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);
const TOO_LONG = "it refers to more than a body can hold";
export const MISSING = "a part of its body is missing";

/** A buffer that contains a part, and its offset. */
export interface Loaded {
  readonly bytes: Buffer;
  readonly from: number;
}

/** Both throw a `PiecesError` if a part is missing. */
export interface PartSource {
  bytesOf(list: PartRef): Buffer;
  /** Locates these texts, by start. */
  load(texts: readonly PartRef[]): ReadonlyMap<number, Loaded>;
}

/** Joins a body, behind the given bytes; throws a `PiecesError` if something is missing. */
export function joinParts(source: PartSource, taken: Buffer, before = NOTHING): Buffer {
  return joinPieces(source, expand(source, taken), before);
}

/** The bytes of pieces without lists. */
export function joinPieces(source: PartSource, pieces: readonly BodyPiece[], before = NOTHING): Buffer {
  let length = before.length;
  for (const piece of pieces) length += sizeOf(piece);
  if (length > JOINED_BYTES_MAX) throw new PiecesError(TOO_LONG);
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
  if (at !== length) throw new PiecesError(MISSING);
  return joined;
}

/** Replaces lists by their contents. */
export function expand(source: Pick<PartSource, "bytesOf">, taken: Buffer): readonly BodyPiece[] {
  const expanded: BodyPiece[] = [];
  let length = 0;
  const add = (piece: BodyPiece): void => {
    // Forged references must not exhaust memory, even empty ones.
    length += 1 + sizeOf(piece);
    if (length > JOINED_BYTES_MAX) throw new PiecesError(TOO_LONG);
    expanded.push(piece);
  };
  for (const piece of readPieces(taken).pieces) {
    if (Buffer.isBuffer(piece) || piece.form === "text") add(piece);
    else for (const one of listPieces(source, piece)) add(one);
  }
  return expanded;
}

/** A list starts with at most one other, which was stored earlier: there are no cycles and no branches. */
export function listPieces(source: Pick<PartSource, "bytesOf">, last: PartRef): readonly BodyPiece[] {
  const ranges: (readonly BodyPiece[])[] = [];
  for (let list: PartRef | undefined = last; list !== undefined; ) {
    const { before, own } = listParts(source.bytesOf(list));
    const limit = list.start;
    if (own.some((piece) => !Buffer.isBuffer(piece) && piece.form === "list") || (before?.start ?? -1) >= limit) {
      throw new PiecesError("a list in it does not follow another");
    }
    ranges.push(own);
    list = before;
  }
  return ranges.toReversed().flat();
}

/** The list that this one continues, and its own pieces. */
function listParts(bytes: Buffer): { readonly before: PartRef | undefined; readonly own: readonly BodyPiece[] } {
  const { pieces } = readPieces(bytes);
  const [first] = pieces;
  const isLed = first !== undefined && !Buffer.isBuffer(first) && first.form === "list";
  return isLed ? { before: first, own: pieces.slice(1) } : { before: undefined, own: pieces };
}

function sizeOf(piece: BodyPiece): number {
  return Buffer.isBuffer(piece) ? piece.length : piece.bytes;
}

export type UsedParts = Map<number, PartRef>;

/**
 * Collects the parts a body uses, directly and through its lists, except for lists in `known`. Reads the bodies
 * themselves, since no separate list could be trusted. Unreadable ones use nothing: that damage is reported elsewhere.
 */
export function collectUsedParts(
  source: Pick<PartSource, "bytesOf">,
  taken: Buffer,
  used: UsedParts,
  known = new Set<number>(),
): void {
  const waiting = [taken];
  for (let bytes = waiting.pop(); bytes !== undefined; bytes = waiting.pop()) {
    try {
      for (const piece of readPieces(bytes).pieces) {
        if (Buffer.isBuffer(piece)) continue;
        used.set(piece.start, piece);
        if (piece.form === "text" || known.has(piece.start)) continue;
        known.add(piece.start);
        waiting.push(source.bytesOf(piece));
      }
    } catch (error) {
      if (!(error instanceof PiecesError)) throw error;
    }
  }
}

/** Whether the digest is that of the part. */
export function hasMatchingDigest(
  { source, digests }: { readonly source: PartSource; readonly digests: PartDigests },
  { part, digest }: { readonly part: PartRef; readonly digest: Buffer },
  digestAt: (start: number) => Buffer | undefined,
): boolean {
  try {
    const bytes = source.bytesOf(part);
    if (part.form === "text") return digests.ofText(bytes).equals(digest);
    const { before, own } = listParts(bytes);
    const joined = joinPieces(source, own);
    const first = before === undefined ? undefined : digestAt(before.start);
    return digests.ofItems(joined, 0, itemEnds(joined), first).at(-1)?.equals(digest) ?? false;
  } catch (error) {
    if (error instanceof PiecesError) return false;
    throw error;
  }
}
