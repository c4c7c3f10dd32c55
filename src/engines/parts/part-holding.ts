// Which parts a body holds, and whether a part is filed under what it is: read from the bodies and the lists themselves, since
// nothing beside them could be trusted to say it.
import { itemEnds } from "./body-cuts.js";
import type { PartDigests } from "./part-digests.js";
import { joinPieces, listParts, type PartSource } from "./part-joining.js";
import { type PartRef, PiecesFlaw, readPieces } from "./pieces.js";

export type HeldParts = Map<number, PartRef>;

/**
 * Notes what a body holds, directly and through its lists, but for what lists hold that are known. What cannot be read holds nothing:
 * it is damaged, and told elsewhere.
 */
export function holdParts(
  source: Pick<PartSource, "bytesOf">,
  taken: Buffer,
  held: HeldParts,
  known = new Set<number>(),
): void {
  const waiting = [taken];
  for (let bytes = waiting.pop(); bytes !== undefined; bytes = waiting.pop()) {
    try {
      for (const piece of readPieces(bytes).pieces) {
        if (Buffer.isBuffer(piece)) continue;
        held.set(piece.start, piece);
        if (piece.form === "text" || known.has(piece.start)) continue;
        known.add(piece.start);
        waiting.push(source.bytesOf(piece));
      }
    } catch (error) {
      if (!(error instanceof PiecesFlaw)) throw error;
    }
  }
}

/** Whether the digest is that of the part. */
export function isFiled(
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
    if (error instanceof PiecesFlaw) return false;
    throw error;
  }
}
