// Which segments are merged next, and what their texts are together. It reads and writes nothing.
import { countBits } from "./block-bits.js";
import { movedBy } from "./block-places.js";
import type { Segment, SegmentTexts } from "./segments.js";
import { FULL, SIGNATURE_WORDS } from "./signature.js";

/** So many unmerged segments of a size become one: fewer would be written more often, more would each be searched. */
const MERGED_AT_ONCE = 16;
/** The sizes of unmerged segments by their blocks: below the first number, and from there to below the second. */
const SIZES_BELOW = [16, 256];

/** Segments that follow each other, and what they become. */
export interface MergePlan {
  readonly into: "unmerged" | "merged";
  readonly segments: readonly Segment[];
}

/**
 * Given in order of position, with nothing between them: unmerged segments are always the newest. As soon as the oldest of
 * them have enough blocks together they are worth slicing.
 */
export function planMerge(unmerged: readonly Segment[], blocksMax: number): MergePlan | undefined {
  let blocks = 0;
  for (const [nth, segment] of unmerged.entries()) {
    blocks += segment.blocks;
    if (blocks >= fullFrom(blocksMax)) return { into: "merged", segments: unmerged.slice(0, nth + 1) };
  }
  return planBySize(unmerged);
}

/** The blocks from which on a segment is full: the last entry may bring some more, and a slice still fits its place. */
export function fullFrom(blocksMax: number): number {
  return blocksMax - (blocksMax >>> 7);
}

/** Only the newest, since what is between two has to become one with them. */
function planBySize(unmerged: readonly Segment[]): MergePlan | undefined {
  for (const [size, below] of SIZES_BELOW.entries()) {
    const from = unmerged.findLastIndex(({ blocks }) => blocks >= below) + 1;
    const newest = unmerged.slice(from);
    const least = SIZES_BELOW[size - 1] ?? 0;
    if (newest.filter(({ blocks }) => blocks >= least).length < MERGED_AT_ONCE) continue;
    return { into: "unmerged", segments: newest };
  }
  return undefined;
}

/**
 * The texts of segments that follow each other as those of one. Blocks that together are no fuller than one may be become
 * one: what came entry by entry then takes no more room than what came at once.
 */
export function mergeTexts(parts: readonly (SegmentTexts & { readonly after: number })[]): SegmentTexts {
  const after = parts[0]?.after ?? 0;
  const signatures = new Int32Array(parts.reduce((sum, part) => sum + part.signatures.length, 0));
  const firsts: number[] = [];
  let [end, set] = [0, FULL];
  for (const part of parts) {
    const moved = movedBy(part.firsts, part.after - after);
    for (const [block, first] of moved.entries()) {
      const signature = part.signatures.subarray(block * SIGNATURE_WORDS, (block + 1) * SIGNATURE_WORDS);
      const last = signatures.subarray(end - SIGNATURE_WORDS, end);
      const together = set < FULL ? countUnion(last, signature) : FULL + 1;
      if (together <= FULL) {
        for (let word = 0; word < SIGNATURE_WORDS; word += 1) {
          last[word] = (last[word] as number) | (signature[word] as number);
        }
        set = together;
        continue;
      }
      signatures.set(signature, end);
      firsts.push(first);
      end += SIGNATURE_WORDS;
      set = countBits(signature);
    }
  }
  return { firsts: Uint32Array.from(firsts), signatures: signatures.slice(0, end) };
}

function countUnion(left: Int32Array, right: Int32Array): number {
  const union = new Int32Array(SIGNATURE_WORDS);
  for (let word = 0; word < SIGNATURE_WORDS; word += 1) union[word] = (left[word] as number) | (right[word] as number);
  return countBits(union);
}
