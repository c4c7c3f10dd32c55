// Segments of the text index: runs of entries in order of position, with their signatures in columns or in slices.
import { itemAt } from "../../../model/item-at.js";
import type { Statements } from "../statements.js";
import { deleteColumns, writeColumns } from "./columns.js";
import { SLICES } from "./signature.js";
import { type Slices, sliceAt } from "./slices.js";

/** A slice is stored under segment × this + slice, so that a segment's slices lie together. */
const SLICE_KEYS = 16_384;

/** What is known of a segment without reading its texts. */
export interface Segment {
  readonly segment: number;
  /** It stands for the positions after this one … */
  readonly after: number;
  /** … through this one. */
  readonly through: number;
  readonly min_ms: number;
  readonly max_ms: number;
  readonly blocks: number;
  /** Whether its signatures are in bit slices; those of an unmerged segment are in columns. */
  readonly is_merged: 0 | 1;
  /** Raised when entries are erased from it; else its texts stay as they are. */
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
  // Tells searches which slices to ask for first.
  sql.run("INSERT INTO text_counts VALUES (?, ?)", number, new Uint8Array(slices.counts.buffer));
}

/** Answers with its number, which no other ever has. */
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

/** What one segment in the place of these stands for. */
export function spanOf(segments: readonly Segment[]): Pick<Segment, "after" | "through" | "min_ms" | "max_ms"> {
  const [first, last] = [itemAt(segments, 0), segments.at(-1) as Segment];
  const min_ms = segments.reduce((least, segment) => Math.min(least, segment.min_ms), first.min_ms);
  const max_ms = segments.reduce((most, segment) => Math.max(most, segment.max_ms), first.max_ms);
  return { after: first.after, through: last.through, min_ms, max_ms };
}

/** Of which segment, and how many blocks of it have each bit. */
export interface SliceCounts {
  readonly segment: number;
  readonly counts: Uint16Array;
}

/** Those of the newest segment that has them; they never change, so that known ones are as good. */
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

/** One bit per block; undefined where no block has the bit of this slice. */
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

/** A copy that begins where numbers may begin. */
function toBuffer(blob: Uint8Array): ArrayBuffer {
  return new Uint8Array(blob).buffer;
}
