// Loose segments are small, as they come: they are put together until they are worth slicing.
import { countBits } from "./block-bits.js";
import { movedBy } from "./block-places.js";
import { FULL, SIGNATURE_WORDS } from "./signature.js";
import type { Segment, SegmentTexts } from "./text-segments.js";

/** What is to be done about loose segments next: some that follow each other become one, which is loose or in slices. */
export interface LoosePlan {
  readonly act: "combine" | "slice";
  readonly segments: readonly Segment[];
}

/**
 * So many of a kind become one: fewer would have to be asked by each search, and each block would be written more often.
 */
const KIND_SEGMENTS = 16;
/** Kinds of loose segments by their blocks: those below the first number, and those from there to below the second. */
const KINDS_BELOW = [16, 256];

/**
 * Given in order of position, with nothing between them: loose segments are always the newest. As soon as the oldest of
 * them have so many blocks together they are worth slicing.
 */
export function planLoose(loose: readonly Segment[], blocksMax: number): LoosePlan | undefined {
  let blocks = 0;
  for (const [nth, segment] of loose.entries()) {
    blocks += segment.blocks;
    if (blocks >= fullFrom(blocksMax)) return { act: "slice", segments: loose.slice(0, nth + 1) };
  }
  return planKinds(loose);
}

/** The blocks from which on a segment is full: the last entry may bring some more, and a slice still fits its place. */
export function fullFrom(blocksMax: number): number {
  return blocksMax - (blocksMax >>> 7);
}

/** Only the newest, since what lies between two has to become one with them. */
function planKinds(loose: readonly Segment[]): LoosePlan | undefined {
  for (const [kind, below] of KINDS_BELOW.entries()) {
    const from = loose.findLastIndex(({ blocks }) => blocks >= below) + 1;
    const newest = loose.slice(from);
    const least = KINDS_BELOW[kind - 1] ?? 0;
    if (newest.filter(({ blocks }) => blocks >= least).length < KIND_SEGMENTS) continue;
    return { act: "combine", segments: newest };
  }
  return undefined;
}

/**
 * The texts of segments that follow each other as those of one. Blocks that together are no fuller than one may be become
 * one: what came entry by entry then takes no more room than what came at once.
 */
export function combineTexts(parts: readonly (SegmentTexts & { readonly after: number })[]): SegmentTexts {
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
