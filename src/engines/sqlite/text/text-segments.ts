// Segments of the text index: the slices of a run of entries, written whole, and what of them a search reads.

import type { Statements } from "../statements.js";
import { type SignatureWriter, SLICES } from "./signature.js";
import { sliceAt, toSlices } from "./slices.js";

/** A slice is stored under segment × this + slice, so that a segment's slices lie together. */
const SLICE_KEYS = 16_384;

/** What a search needs to know of a segment to pass it over. */
export interface Segment {
  readonly segment: number;
  /** It stands for the positions after this one … */
  readonly after: number;
  /** … through this one. */
  readonly through: number;
  readonly min_ms: number;
  readonly max_ms: number;
}

/** The entries of a segment in order of position, and between which blocks the texts of each lie. */
export interface SegmentEntries {
  readonly positions: Float64Array;
  readonly times_ms: Float64Array;
  readonly first_blocks: Uint32Array;
  readonly last_blocks: Uint32Array;
}

export function insertSegment(
  sql: Statements,
  segment: Segment,
  entries: SegmentEntries,
  signatures: SignatureWriter,
): void {
  const { segment: number, after, through, min_ms, max_ms } = segment;
  sql.run("INSERT INTO text_segments VALUES (?, ?, ?, ?, ?)", number, after, through, min_ms, max_ms);
  sql.run(
    "INSERT INTO text_entries VALUES (?, ?, ?, ?, ?)",
    number,
    toBlob(entries.positions),
    toBlob(entries.times_ms),
    toBlob(entries.first_blocks),
    toBlob(entries.last_blocks),
  );
  const slices = toSlices(signatures.bits, signatures.blocks);
  for (let slice = 0; slice < SLICES; slice += 1) {
    const row = sliceAt(slices, slice);
    if (row === undefined) continue;
    sql.run("INSERT INTO text_slices VALUES (?, ?)", number * SLICE_KEYS + slice, toBlob(row));
  }
}

/**
 * Takes entries out of a segment. A block that was theirs alone loses its bits. One that they share with others gets all
 * bits instead: nothing can be told from it any more, and a search looks at the others' texts themselves.
 */
export function eraseFromSegment(sql: Statements, { segment }: Segment, erased: ReadonlySet<number>): void {
  const entries = readEntries(sql, segment);
  const isErased = (index: number): boolean => erased.has(entries.positions[index] as number);
  const kept = [...entries.positions.keys()].filter((index) => !isErased(index));
  if (kept.length === entries.positions.length) return;
  if (kept.length === 0) {
    deleteSegment(sql, segment);
    return;
  }
  sql.run(
    "UPDATE text_entries SET positions = ?, times_ms = ?, first_blocks = ?, last_blocks = ? WHERE segment = ?",
    toBlob(Float64Array.from(kept, (index) => entries.positions[index] as number)),
    toBlob(Float64Array.from(kept, (index) => entries.times_ms[index] as number)),
    toBlob(Uint32Array.from(kept, (index) => entries.first_blocks[index] as number)),
    toBlob(Uint32Array.from(kept, (index) => entries.last_blocks[index] as number)),
    segment,
  );
  hideBlocks(sql, segment, blocksToHide(entries, isErased));
}

/** Blocks that hold texts of hidden entries, and whether they hold those of others too. */
export function blocksToHide(
  entries: Pick<SegmentEntries, "first_blocks" | "last_blocks">,
  isHidden: (index: number) => boolean,
): ReadonlyMap<number, { readonly isShared: boolean }> {
  const blocksOf = (wanted: boolean): ReadonlySet<number> => {
    const blocks = new Set<number>();
    for (const [index, first] of entries.first_blocks.entries()) {
      if (isHidden(index) !== wanted) continue;
      for (let block = first; block <= (entries.last_blocks[index] as number); block += 1) blocks.add(block);
    }
    return blocks;
  };
  const others = blocksOf(false);
  return new Map([...blocksOf(true)].map((block) => [block, { isShared: others.has(block) }]));
}

function hideBlocks(
  sql: Statements,
  segment: number,
  hidden: ReadonlyMap<number, { readonly isShared: boolean }>,
): void {
  const firstKey = segment * SLICE_KEYS;
  const widest = "SELECT max(length(bits)) / 4 AS words FROM text_slices WHERE key >= ? AND key < ?";
  const { words } = sql.get<{ readonly words: number }>(widest, firstKey, firstKey + SLICE_KEYS) as { words: number };
  const [cleared, full] = [new Int32Array(words), new Int32Array(words)];
  for (const [block, { isShared }] of hidden) {
    const mask = isShared ? full : cleared;
    mask[block >>> 5] = (mask[block >>> 5] as number) | (1 << block);
  }
  for (let slice = 0; slice < SLICES; slice += 1) {
    const bits = new Int32Array(words);
    bits.set(readSlice(sql, segment, slice) ?? []);
    for (const word of bits.keys()) {
      bits[word] = ((bits[word] as number) & ~(cleared[word] as number)) | (full[word] as number);
    }
    const isEmpty = bits.every((word) => word === 0);
    if (isEmpty) sql.run("DELETE FROM text_slices WHERE key = ?", firstKey + slice);
    else sql.run("INSERT OR REPLACE INTO text_slices VALUES (?, ?)", firstKey + slice, toBlob(bits));
  }
}

/** Takes a segment out, so that it can be made anew in its place. */
function deleteSegment(sql: Statements, segment: number): void {
  const firstKey = segment * SLICE_KEYS;
  sql.run("DELETE FROM text_slices WHERE key >= ? AND key < ?", firstKey, firstKey + SLICE_KEYS);
  sql.run("DELETE FROM text_entries WHERE segment = ?", segment);
  sql.run("DELETE FROM text_segments WHERE segment = ?", segment);
}

export function listSegments(sql: Statements): readonly Segment[] {
  return sql.all<Segment>("SELECT segment, after, through, min_ms, max_ms FROM text_segments ORDER BY segment");
}

export function readEntries(sql: Statements, segment: number): SegmentEntries {
  const query = "SELECT positions, times_ms, first_blocks, last_blocks FROM text_entries WHERE segment = ?";
  type Blobs = { readonly [K in keyof SegmentEntries]: Uint8Array };
  const blobs = sql.get<Blobs>(query, segment) as Blobs;
  return {
    positions: new Float64Array(toBuffer(blobs.positions)),
    times_ms: new Float64Array(toBuffer(blobs.times_ms)),
    first_blocks: new Uint32Array(toBuffer(blobs.first_blocks)),
    last_blocks: new Uint32Array(toBuffer(blobs.last_blocks)),
  };
}

/** One bit per block; undefined where no block of the segment has the bit of this slice. */
export function readSlice(sql: Statements, segment: number, slice: number): Int32Array | undefined {
  const query = "SELECT bits FROM text_slices WHERE key = ?";
  const row = sql.get<{ readonly bits: Uint8Array }>(query, segment * SLICE_KEYS + slice);
  if (row === undefined) return undefined;
  const { buffer, byteOffset, byteLength } = row.bits;
  const isAligned = byteOffset % Int32Array.BYTES_PER_ELEMENT === 0;
  return isAligned ? new Int32Array(buffer, byteOffset, byteLength / 4) : new Int32Array(toBuffer(row.bits));
}

function toBlob(numbers: Float64Array | Int32Array | Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** A copy that begins where numbers may begin. */
function toBuffer(blob: Uint8Array): ArrayBuffer {
  return new Uint8Array(blob).buffer;
}
