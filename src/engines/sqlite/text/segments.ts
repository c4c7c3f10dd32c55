// Segments of the text index, and how their signatures are stored: in columns (unmerged) or bit slices (merged).
import { itemAt } from "../../../model/item-at.js";
import type { Statements } from "../statements.js";
import { countBits, wordsFor } from "./blocks.js";
import { SIGNATURE_WORDS, SLICES } from "./signature.js";

/** A slice's key is segment × this + slice, so slices of a segment are adjacent. */
const SLICE_KEYS = 16_384;

/** A segment without its texts. */
export interface Segment {
  readonly segment: number;
  /** It covers positions after this one … */
  readonly after: number;
  /** … through this one. */
  readonly through: number;
  readonly min_ms: number;
  readonly max_ms: number;
  readonly blocks: number;
  /** 1 if its signatures are in bit slices, 0 if in columns. */
  readonly is_merged: 0 | 1;
  /** Raised when entries are erased from it; otherwise its texts never change. */
  readonly revision: number;
}

export interface SegmentTexts {
  readonly firsts: Uint32Array;
  readonly signatures: Int32Array;
}

export function isMerged({ is_merged }: Segment): boolean {
  return is_merged === 1;
}

export function hasUnmerged(sql: Statements): boolean {
  return sql.get("SELECT 1 FROM text_segments WHERE is_merged = 0 LIMIT 1") !== undefined;
}

/** In order of position. */
export function listSegments(sql: Statements): readonly Segment[] {
  return sql.all<Segment>(
    "SELECT segment, after, through, min_ms, max_ms, blocks, is_merged, revision FROM text_segments ORDER BY after",
  );
}

export function insertUnmerged(
  sql: Statements,
  segment: Pick<Segment, "after" | "through" | "min_ms" | "max_ms">,
  { firsts, signatures }: SegmentTexts,
): void {
  const number = insertSegment(sql, { ...segment, is_merged: 0 }, firsts);
  writeColumns(sql, number, signatures);
}

export function insertMerged(
  sql: Statements,
  segment: Pick<Segment, "after" | "through" | "min_ms" | "max_ms">,
  firsts: Uint32Array,
  slices: Slices,
): void {
  const number = insertSegment(sql, { ...segment, is_merged: 1 }, firsts);
  for (let slice = 0; slice < SLICES; slice += 1) {
    const bits = sliceAt(slices, slice);
    if (bits !== undefined) writeSlice(sql, sliceKey(number, slice), bits);
  }
  // Tells searches which slices to read first.
  sql.run("INSERT INTO text_counts VALUES (?, ?)", number, new Uint8Array(slices.counts.buffer));
}

/** Returns its number, which is never reused. */
function insertSegment(
  sql: Statements,
  segment: Pick<Segment, "after" | "through" | "min_ms" | "max_ms" | "is_merged">,
  firsts: Uint32Array,
): number {
  const { after, through, min_ms, max_ms, is_merged } = segment;
  const inserted = sql.get<{ readonly segment: number }>(
    `INSERT INTO text_segments (after, through, min_ms, max_ms, blocks, is_merged)
      VALUES (?, ?, ?, ?, ?, ?) RETURNING segment`,
    ...[after, through, min_ms, max_ms, firsts.length, is_merged],
  );
  const number = (inserted as { readonly segment: number }).segment;
  sql.run("INSERT INTO text_places VALUES (?, ?)", number, toBlob(firsts));
  return number;
}

/** The range of a segment that replaces these. */
export function spanOf(segments: readonly Segment[]): Pick<Segment, "after" | "through" | "min_ms" | "max_ms"> {
  const [first, last] = [itemAt(segments, 0), segments.at(-1) as Segment];
  const min_ms = segments.reduce((least, segment) => Math.min(least, segment.min_ms), first.min_ms);
  const max_ms = segments.reduce((most, segment) => Math.max(most, segment.max_ms), first.max_ms);
  return { after: first.after, through: last.through, min_ms, max_ms };
}

/** A segment, and how many of its blocks have each bit. */
export interface SliceCounts {
  readonly segment: number;
  readonly counts: Uint16Array;
}

/** Counts of the newest merged segment; they never change. */
export function newestCounts(sql: Statements, known: SliceCounts | undefined): SliceCounts | undefined {
  const newest = "SELECT max(segment) AS segment FROM text_counts";
  const { segment } = sql.get<{ segment: number | null }>(newest) as { readonly segment: number | null };
  if (segment === null || segment === known?.segment) return segment === null ? undefined : known;
  const query = "SELECT counts FROM text_counts WHERE segment = ?";
  const { counts } = sql.get<{ counts: Uint8Array }>(query, segment) as { readonly counts: Uint8Array };
  return { segment, counts: new Uint16Array(toBuffer(counts)) };
}

export function deleteSegment(sql: Statements, { segment }: Segment): void {
  deleteColumns(sql, segment);
  sql.run("DELETE FROM text_slices WHERE key >= ? AND key < ?", sliceKey(segment, 0), sliceKey(segment, SLICES));
  for (const table of ["text_places", "text_counts", "text_segments"]) {
    sql.run(`DELETE FROM ${table} WHERE segment = ?`, segment);
  }
}

export function readPlaces(sql: Statements, segment: Segment): Uint32Array {
  const query = "SELECT firsts FROM text_places WHERE segment = ?";
  const { firsts } = sql.get<{ readonly firsts: Uint8Array }>(query, segment.segment) as { firsts: Uint8Array };
  return new Uint32Array(toBuffer(firsts));
}

export function sliceKey(segment: number, slice: number): number {
  return segment * SLICE_KEYS + slice;
}

/** One bit per block; undefined if no block has it. */
export function readSlice(sql: Statements, key: number): Int32Array | undefined {
  const row = sql.get<{ readonly bits: Uint8Array }>("SELECT bits FROM text_slices WHERE key = ?", key);
  return row === undefined ? undefined : toWords(row.bits);
}

export function writeSlice(sql: Statements, key: number, bits: Int32Array): void {
  sql.run("INSERT OR REPLACE INTO text_slices VALUES (?, ?)", key, toBlob(bits));
}

function toBlob(numbers: Int32Array | Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

function toWords(blob: Uint8Array): Int32Array {
  const { buffer, byteOffset, byteLength } = blob;
  const isAligned = byteOffset % Int32Array.BYTES_PER_ELEMENT === 0;
  return isAligned ? new Int32Array(buffer, byteOffset, byteLength / 4) : new Int32Array(toBuffer(blob));
}

/** An aligned copy. */
function toBuffer(blob: Uint8Array): ArrayBuffer {
  return new Uint8Array(blob).buffer;
}

// Unmerged segments store signatures by word: the same word of all blocks together, so a search reads only the words
// that contain its bits.
/** A row's key is segment × this + row, so rows of a segment are adjacent. */
const ROW_KEYS = 512;
/** With few blocks, several words share a row: reading a row costs about as much as reading four pages of it. */
const ROW_WORDS = 4_096;

export function writeColumns(sql: Statements, segment: number, signatures: Int32Array): void {
  const blocks = signatures.length / SIGNATURE_WORDS;
  const perRow = columnsPerRow(blocks);
  for (let first = 0; first < SIGNATURE_WORDS; first += perRow) {
    const columns = Math.min(perRow, SIGNATURE_WORDS - first);
    const row = new Int32Array(columns * blocks);
    for (let column = 0; column < columns; column += 1) {
      for (let block = 0; block < blocks; block += 1) {
        row[column * blocks + block] = signatures[block * SIGNATURE_WORDS + first + column] as number;
      }
    }
    const insert = "INSERT OR REPLACE INTO text_columns VALUES (?, ?)";
    sql.run(insert, segment * ROW_KEYS + first / perRow, new Uint8Array(row.buffer));
  }
}

/** All signatures, block by block. */
export function readSignatures(sql: Statements, segment: number, blocks: number): Int32Array {
  const signatures = new Int32Array(blocks * SIGNATURE_WORDS);
  const perRow = columnsPerRow(blocks);
  for (let first = 0; first < SIGNATURE_WORDS; first += perRow) {
    const row = readRow(sql, segment, first / perRow);
    for (let at = 0, column = first; at < row.length; at += blocks, column += 1) {
      for (let block = 0; block < blocks; block += 1) {
        signatures[block * SIGNATURE_WORDS + column] = row[at + block] as number;
      }
    }
  }
  return signatures;
}

function deleteColumns(sql: Statements, segment: number): void {
  sql.run("DELETE FROM text_columns WHERE key >= ? AND key < ?", segment * ROW_KEYS, (segment + 1) * ROW_KEYS);
}

/** The columns of one segment, cached as searches read them. */
export class Columns {
  readonly #sql: Statements;
  readonly #segment: number;
  readonly #blocks: number;
  readonly #rows = new Map<number, Int32Array>();

  constructor(sql: Statements, segment: { readonly segment: number; readonly blocks: number }) {
    this.#sql = sql;
    this.#segment = segment.segment;
    this.#blocks = segment.blocks;
  }

  /** The blocks that have the bit of this slice. */
  blocksWith(slice: number): Int32Array {
    const bits = new Int32Array(wordsFor(this.#blocks)).fill(-1);
    // No bits past the last block.
    if (this.#blocks % 32 !== 0) bits[bits.length - 1] = (1 << this.#blocks) - 1;
    this.keepWith(bits, slice);
    return bits;
  }

  /** Keeps the blocks that have it, and returns their number; only blocks still set are checked. */
  keepWith(kept: Int32Array, slice: number): number {
    const perRow = columnsPerRow(this.#blocks);
    const column = slice >>> 5;
    const row = this.#row(Math.floor(column / perRow));
    const start = (column % perRow) * this.#blocks;
    const mask = 1 << slice;
    let count = 0;
    for (let word = 0; word < kept.length; word += 1) {
      let left = kept[word] as number;
      for (let rest = left; rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest;
        if (((row[start + word * 32 + 31 - Math.clz32(bit)] as number) & mask) === 0) left ^= bit;
        else count += 1;
      }
      kept[word] = left;
    }
    return count;
  }

  #row(row: number): Int32Array {
    const known = this.#rows.get(row) ?? readRow(this.#sql, this.#segment, row);
    this.#rows.set(row, known);
    return known;
  }
}

function columnsPerRow(blocks: number): number {
  return Math.min(SIGNATURE_WORDS, Math.max(1, Math.floor(ROW_WORDS / blocks)));
}

function readRow(sql: Statements, segment: number, row: number): Int32Array {
  const query = "SELECT words FROM text_columns WHERE key = ?";
  const { words } = sql.get<{ readonly words: Uint8Array }>(query, segment * ROW_KEYS + row) as { words: Uint8Array };
  return new Int32Array(new Uint8Array(words).buffer);
}

/** For each bit of a signature, a row of `words` 32-bit words with one bit per block, and how many blocks have it. */
export interface Slices {
  readonly words: number;
  readonly rows: Int32Array;
  readonly counts: Uint16Array;
}

/** Counts have two bytes. */
const COUNT_MAX = 65_535;

export function toSlices(signatures: Int32Array, blocks: number): Slices {
  const words = Math.ceil(blocks / 32);
  const rows = new Int32Array(SIGNATURE_WORDS * 32 * words);
  const square = new Int32Array(32);
  for (let column = 0; column < words; column += 1) {
    const height = Math.min(32, blocks - column * 32);
    if (height < 32) square.fill(0);
    for (let word = 0; word < SIGNATURE_WORDS; word += 1) {
      let any = 0;
      for (let n = 0, from = column * 32 * SIGNATURE_WORDS + word; n < height; n += 1, from += SIGNATURE_WORDS) {
        const value = signatures[from] as number;
        square[n] = value;
        any |= value;
      }
      if (any === 0) continue;
      transpose(square);
      for (let n = 0, to = word * 32 * words + column; n < 32; n += 1, to += words) rows[to] = square[n] as number;
      if (height < 32) square.fill(0);
    }
  }
  const counts = Uint16Array.from({ length: SLICES }, (_, slice) =>
    Math.min(countBits(rows.subarray(slice * words, (slice + 1) * words)), COUNT_MAX),
  );
  return { words, rows, counts };
}

/**
 * The row of one bit; undefined if no block has it.
 *
 * @internal Exported for tests.
 */
export function sliceAt(slices: Slices, slice: number): Int32Array | undefined {
  if (slices.counts[slice] === 0) return undefined;
  return slices.rows.subarray(slice * slices.words, (slice + 1) * slices.words);
}

/** Transposes 32 × 32 bits by swapping ever smaller squares. */
function transpose(square: Int32Array): void {
  let mask = 0x0000ffff;
  for (let size = 16; size > 0; size >>= 1) {
    // Two nested loops; a single loop that skips rows takes twice the time.
    for (let base = 0; base < 32; base += 2 * size) {
      for (let row = base; row < base + size; row += 1) {
        const upper = square[row] as number;
        const lower = square[row + size] as number;
        const swapped = ((upper >>> size) ^ lower) & mask;
        square[row + size] = lower ^ swapped;
        square[row] = upper ^ (swapped << size);
      }
    }
    mask ^= mask << (size >> 1);
  }
}
