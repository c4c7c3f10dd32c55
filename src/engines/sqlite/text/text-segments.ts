// Segments of the text index: runs of entries in order of position, with their signatures in columns or in slices.
import type { Statements } from "../statements.js";
import { deleteColumns, writeColumns } from "./columns.js";
import { SLICES } from "./signature.js";
import { type Slices, sliceAt } from "./slices.js";

/** A slice is stored under segment × this + slice, so that a segment's slices lie together. */
const SLICE_KEYS = 16_384;
/** The tables of slices: those of one segment, and those of a bundle of them. */
export type SliceTable = "text_slices" | "text_bundle_slices";

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
  /** How many slices are written; until all are, the segment is loose: its signatures are kept in columns. */
  readonly sliced: number;
  /** The bundle that its slices are moved into, from this word on. */
  readonly bundle: number | null;
  readonly first_word: number;
  /** Raised when entries are erased from it, or others become a part of it; else its texts stay as they are. */
  readonly revision: number;
}

export interface SegmentTexts {
  readonly firsts: Uint32Array;
  readonly signatures: Int32Array;
}

export function isLoose({ sliced }: Segment): boolean {
  return sliced < SLICES;
}

export function hasLoose(sql: Statements): boolean {
  return sql.get("SELECT 1 FROM text_segments WHERE sliced < ? LIMIT 1", SLICES) !== undefined;
}

/** In order of position. */
export function listSegments(sql: Statements): readonly Segment[] {
  return sql.all<Segment>(
    `SELECT segment, after, through, min_ms, max_ms, blocks, sliced, bundle, first_word, revision
      FROM text_segments ORDER BY after`,
  );
}

/** A segment that keeps its signatures in columns. */
export function insertLoose(
  sql: Statements,
  segment: Pick<Segment, "after" | "through" | "min_ms" | "max_ms">,
  { firsts, signatures }: SegmentTexts,
): void {
  const number = insertSegment(sql, { ...segment, sliced: 0 }, firsts);
  writeColumns(sql, number, signatures);
}

/** A segment that is written in slices at once. */
export function insertSliced(
  sql: Statements,
  segment: Pick<Segment, "after" | "through" | "min_ms" | "max_ms">,
  firsts: Uint32Array,
  slices: Slices,
): void {
  const number = insertSegment(sql, { ...segment, sliced: SLICES }, firsts);
  writeSlices(sql, number, slices, { from: 0, to: SLICES });
  insertCounts(sql, number, slices.counts);
}

/** Answers with its number, which no other ever has. */
function insertSegment(
  sql: Statements,
  segment: Pick<Segment, "after" | "through" | "min_ms" | "max_ms" | "sliced">,
  firsts: Uint32Array,
): number {
  const { after, through, min_ms, max_ms, sliced } = segment;
  const inserted = sql.get<{ readonly segment: number }>(
    `INSERT INTO text_segments (after, through, min_ms, max_ms, blocks, sliced)
      VALUES (?, ?, ?, ?, ?, ?) RETURNING segment`,
    ...[after, through, min_ms, max_ms, firsts.length, sliced],
  );
  const number = (inserted as { readonly segment: number }).segment;
  sql.run("INSERT INTO text_places VALUES (?, ?)", number, toBlob(firsts));
  return number;
}

/**
 * Writes some slices of loose segments that are to be one, under the number of the first. With the last slice it takes the
 * place of all of them; until then they are what searches know.
 */
export function sliceFurther(
  sql: Statements,
  loose: readonly Segment[],
  sliced: { readonly firsts: Uint32Array; readonly slices: Slices; readonly to: number },
): void {
  const { segment, sliced: from } = loose[0] as Segment;
  const { firsts, slices, to } = sliced;
  writeSlices(sql, segment, slices, { from, to });
  sql.run("UPDATE text_segments SET sliced = ? WHERE segment = ?", to, segment);
  if (to < SLICES) return;
  for (const other of loose.slice(1)) deleteSegment(sql, other);
  deleteColumns(sql, segment);
  const { through, min_ms, max_ms } = spanOf(loose);
  sql.run(
    `UPDATE text_segments SET through = ?, min_ms = ?, max_ms = ?, blocks = ?, revision = revision + 1
      WHERE segment = ?`,
    ...[through, min_ms, max_ms, firsts.length, segment],
  );
  sql.run("UPDATE text_places SET firsts = ? WHERE segment = ?", toBlob(firsts), segment);
  insertCounts(sql, segment, slices.counts);
}

/** What one segment in the place of these stands for. */
export function spanOf(segments: readonly Segment[]): Pick<Segment, "after" | "through" | "min_ms" | "max_ms"> {
  const [first, last] = [segments[0] as Segment, segments.at(-1) as Segment];
  const min_ms = segments.reduce((least, segment) => Math.min(least, segment.min_ms), first.min_ms);
  const max_ms = segments.reduce((most, segment) => Math.max(most, segment.max_ms), first.max_ms);
  return { after: first.after, through: last.through, min_ms, max_ms };
}

function writeSlices(
  sql: Statements,
  segment: number,
  slices: Slices,
  range: { readonly from: number; readonly to: number },
): void {
  for (let slice = range.from; slice < range.to; slice += 1) {
    const bits = sliceAt(slices, slice);
    if (bits !== undefined) writeSlice(sql, "text_slices", sliceKey(segment, slice), bits);
  }
}

/** Tells searches what to ask for first. */
function insertCounts(sql: Statements, segment: number, counts: Uint16Array): void {
  sql.run("INSERT INTO text_counts VALUES (?, ?)", segment, new Uint8Array(counts.buffer));
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
  deleteSlices(sql, segment, { from: 0, to: SLICES });
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
export function readSlice(sql: Statements, table: SliceTable, key: number): Int32Array | undefined {
  const row = sql.get<{ readonly bits: Uint8Array }>(`SELECT bits FROM ${table} WHERE key = ?`, key);
  return row === undefined ? undefined : toWords(row.bits);
}

/** The slices of a segment from one to before another, by their number. */
export function readSlices(
  sql: Statements,
  segment: number,
  range: { readonly from: number; readonly to: number },
): ReadonlyMap<number, Int32Array> {
  const rows = sql.all<{ readonly key: number; readonly bits: Uint8Array }>(
    "SELECT key, bits FROM text_slices WHERE key >= ? AND key < ?",
    sliceKey(segment, range.from),
    sliceKey(segment, range.to),
  );
  return new Map(rows.map(({ key, bits }) => [key % SLICE_KEYS, toWords(bits)]));
}

export function writeSlice(sql: Statements, table: SliceTable, key: number, bits: Int32Array): void {
  sql.run(`INSERT OR REPLACE INTO ${table} VALUES (?, ?)`, key, toBlob(bits));
}

export function deleteSlices(
  sql: Statements,
  segment: number,
  range: { readonly from: number; readonly to: number },
): void {
  const keys = [sliceKey(segment, range.from), sliceKey(segment, range.to)];
  sql.run("DELETE FROM text_slices WHERE key >= ? AND key < ?", ...keys);
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
