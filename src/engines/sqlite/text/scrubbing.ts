// Scrubbing: overwrites blocks with text of erased entries. A tombstone would leave their bits in the file.
import type { Statements } from "../statements.js";
import { BlockPlaces, wordsFor } from "./blocks.js";
import {
  deleteSegment,
  isMerged,
  listSegments,
  readPlaces,
  readSignatures,
  readSlice,
  type Segment,
  sliceKey,
  writeColumns,
  writeSlice,
} from "./segments.js";
import { SIGNATURE_WORDS, SLICES } from "./signature.js";

/**
 * Blocks with text of erased entries, by number. A block of theirs alone is cleared. A block that others share gets all
 * bits set: it tells nothing, and searches check the others' texts.
 */
export type ScrubbedBlocks = ReadonlyMap<number, { readonly isShared: boolean }>;

/** Takes erased entries of the segment, and a test for remaining entries between two positions. */
export function blocksToScrub(
  places: BlockPlaces,
  erased: readonly number[],
  isAnyLeft: (low: number, high: number) => boolean,
): ScrubbedBlocks {
  const scrubbed = new Map<number, { readonly isShared: boolean }>();
  for (const position of erased) {
    const [first, last] = places.blocksOf(position) ?? [0, -1];
    for (let block = first; block <= last; block += 1) {
      if (scrubbed.has(block)) continue;
      scrubbed.set(block, { isShared: isAnyLeft(places.low(block), places.high(block)) });
    }
  }
  return scrubbed;
}

export function scrubSignatures(signatures: Int32Array, scrubbed: ScrubbedBlocks): void {
  for (const [block, { isShared }] of scrubbed) {
    signatures.fill(isShared ? -1 : 0, block * SIGNATURE_WORDS, (block + 1) * SIGNATURE_WORDS);
  }
}

/** Call it within the transaction that has deleted their rows. */
export function scrubSegments(sql: Statements, positions: ReadonlySet<number>): void {
  const sorted = [...positions].sort((left, right) => left - right);
  for (const segment of listSegments(sql)) {
    const scrubbed = scrubbedIn(sql, segment, sorted);
    if (scrubbed.size === 0) continue;
    sql.run("UPDATE text_segments SET revision = revision + 1 WHERE segment = ?", segment.segment);
    sql.run("DELETE FROM text_counts WHERE segment = ?", segment.segment);
    if (isMerged(segment)) scrubSlices(sql, segment, scrubbed);
    else scrubColumns(sql, segment, scrubbed);
    if (!hasRows(sql, segment.after + 1, segment.through)) deleteSegment(sql, segment);
  }
}

function scrubbedIn(sql: Statements, segment: Segment, sorted: readonly number[]): ScrubbedBlocks {
  const erased = sorted.filter((position) => position > segment.after && position <= segment.through);
  if (erased.length === 0) return new Map();
  const places = new BlockPlaces(segment, readPlaces(sql, segment));
  return blocksToScrub(places, erased, (low, high) => hasRows(sql, low, high));
}

function hasRows(sql: Statements, low: number, high: number): boolean {
  return sql.get("SELECT 1 FROM rows WHERE position BETWEEN ? AND ? LIMIT 1", low, high) !== undefined;
}

function scrubColumns(sql: Statements, { segment, blocks }: Segment, scrubbed: ScrubbedBlocks): void {
  const signatures = readSignatures(sql, segment, blocks);
  scrubSignatures(signatures, scrubbed);
  writeColumns(sql, segment, signatures);
}

function scrubSlices(sql: Statements, { segment, blocks }: Segment, scrubbed: ScrubbedBlocks): void {
  const words = wordsFor(blocks);
  const masks = masksOf(scrubbed);
  for (let slice = 0; slice < SLICES; slice += 1) {
    const key = sliceKey(segment, slice);
    // No slice is stored if no block has the bit, but setting bits needs one.
    const bits = readSlice(sql, key) ?? new Int32Array(words);
    if (applyMasks(bits, masks)) writeSlice(sql, key, bits);
  }
}

/** Bits to clear and to set in each slice, by word. */
type SliceMasks = ReadonlyMap<number, { readonly cleared: number; readonly set: number }>;

function masksOf(scrubbed: ScrubbedBlocks): SliceMasks {
  const masks = new Map<number, { cleared: number; set: number }>();
  for (const [block, { isShared }] of scrubbed) {
    const word = block >>> 5;
    const mask = masks.get(word) ?? { cleared: 0, set: 0 };
    if (isShared) mask.set |= 1 << block;
    else mask.cleared |= 1 << block;
    masks.set(word, mask);
  }
  return masks;
}

/** Returns false if nothing changed. */
function applyMasks(bits: Int32Array, masks: SliceMasks): boolean {
  let isChanged = false;
  for (const [word, { cleared, set }] of masks) {
    const before = bits[word] as number;
    const after = (before & ~cleared) | set;
    bits[word] = after;
    if (after !== before) isChanged = true;
  }
  return isChanged;
}
