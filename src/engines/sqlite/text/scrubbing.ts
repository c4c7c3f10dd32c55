// Scrubbing: what becomes of blocks whose entries are erased. A tombstone beside them would leave their bits in the file, so
// these are overwritten at once, wherever they are.
import type { Statements } from "../statements.js";
import { wordsFor } from "./block-bits.js";
import { BlockPlaces } from "./block-places.js";
import { readSignatures, writeColumns } from "./columns.js";
import {
  deleteSegment,
  isMerged,
  listSegments,
  readPlaces,
  readSlice,
  type Segment,
  sliceKey,
  writeSlice,
} from "./segments.js";
import { SIGNATURE_WORDS, SLICES } from "./signature.js";

/**
 * Blocks that hold texts of erased entries, by their number. One that was theirs alone loses its bits. One that others
 * share gets all bits instead: nothing can be told from it, and a search looks at the others' texts themselves.
 */
export type ScrubbedBlocks = ReadonlyMap<number, { readonly isShared: boolean }>;

/** Erased are entries of the segment; which of the others are left is asked for between two positions. */
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

/** Called within the transaction that has taken their rows out. */
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
    // There is none where no block has the bit; one that gets all bits needs it.
    const bits = readSlice(sql, key) ?? new Int32Array(words);
    if (applyMasks(bits, masks)) writeSlice(sql, key, bits);
  }
}

/** The bits to be cleared and those to be set in each slice, by their word. */
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

/** False where nothing has changed. */
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
