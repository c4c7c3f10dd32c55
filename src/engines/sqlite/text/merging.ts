// Merges segments of the text index. An unmerged segment stores its signatures in columns. Sixteen of about the same
// size become a larger unmerged one; once the oldest have enough blocks together, they become a merged segment with bit
// slices, which is never merged again. Each merge is one transaction, so it does not matter which process does the next
// one, or when.
import type { Statements } from "../statements.js";
import { countBits, movedBy } from "./blocks.js";
import type { SegmentCache } from "./segment-cache.js";
import {
  deleteSegment,
  insertMerged,
  insertUnmerged,
  isMerged,
  readPlaces,
  readSignatures,
  type Segment,
  type SegmentTexts,
  spanOf,
  toSlices,
} from "./segments.js";
import { FULL, SIGNATURE_WORDS } from "./signature.js";

export class Merging {
  readonly #sql: Statements;
  readonly #cache: SegmentCache;
  readonly #blocksMax: number;

  constructor(parts: { readonly sql: Statements; readonly cache: SegmentCache; readonly blocks_max: number }) {
    this.#sql = parts.sql;
    this.#cache = parts.cache;
    this.#blocksMax = parts.blocks_max;
  }

  /** Does one merge; false if there is none to do. */
  step(): boolean {
    if (!this.#sql.transactions.read(() => this.#plan() !== undefined)) return false;
    this.#sql.transactions.write(() => {
      const plan = this.#plan();
      if (plan !== undefined) this.#merge(plan);
      this.#cache.changed();
    });
    return true;
  }

  #plan(): MergePlan | undefined {
    this.#cache.look();
    const unmerged = this.#cache.segments.filter((segment) => !isMerged(segment));
    return planMerge(unmerged, this.#blocksMax);
  }

  #merge({ into, segments }: MergePlan): void {
    const texts = mergeTexts(segments.map((segment) => this.#readTexts(segment)));
    for (const segment of segments) deleteSegment(this.#sql, segment);
    if (into === "unmerged") insertUnmerged(this.#sql, spanOf(segments), texts);
    else insertMerged(this.#sql, spanOf(segments), texts.firsts, toSlices(texts.signatures, texts.firsts.length));
  }

  #readTexts(segment: Segment): SegmentTexts & { readonly after: number } {
    const { segment: number, after, blocks } = segment;
    return { after, firsts: readPlaces(this.#sql, segment), signatures: readSignatures(this.#sql, number, blocks) };
  }
}

/**
 * Number of unmerged segments of a size that become one: fewer means rewriting more often, more means searching more
 * segments.
 */
const MERGED_AT_ONCE = 16;
/** Size classes of unmerged segments, by number of blocks. */
const SIZES_BELOW = [16, 256];

/** Adjacent segments, and what they become. */
interface MergePlan {
  readonly into: "unmerged" | "merged";
  readonly segments: readonly Segment[];
}

/**
 * Takes adjacent segments in order of position; unmerged ones are always the newest. They are sliced as soon as the
 * oldest have enough blocks.
 *
 * @internal Exported for tests.
 */
export function planMerge(unmerged: readonly Segment[], blocksMax: number): MergePlan | undefined {
  let blocks = 0;
  for (const [nth, segment] of unmerged.entries()) {
    blocks += segment.blocks;
    if (blocks >= fullFrom(blocksMax)) return { into: "merged", segments: unmerged.slice(0, nth + 1) };
  }
  return planBySize(unmerged);
}

/** Number of blocks at which a segment is full: the last entry may add some more, and a slice must still fit. */
export function fullFrom(blocksMax: number): number {
  return blocksMax - (blocksMax >>> 7);
}

/** Only the newest ones, since a merge must be contiguous. */
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
 * The texts of adjacent segments as those of one. Adjacent blocks that fit into one are combined, so entries written
 * one at a time take no more space than a batch.
 *
 * @internal Exported for tests.
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
