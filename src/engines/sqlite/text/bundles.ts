// Bundles: the slices of several segments side by side, so that a search reads one where it would read many.
//
// Slices are moved into a bundle some at a time. Those below `moved` are in the bundle, and the others still lie with
// their segments: whatever stops the moving, a search finds each slice in one place, and any process can go on with it.
import type { Statements } from "../statements.js";
import { wordsFor } from "./block-bits.js";
import { SLICES } from "./signature.js";
import { deleteSlices, isLoose, readSlice, readSlices, type Segment, sliceKey, writeSlice } from "./text-segments.js";

export interface Bundle {
  readonly bundle: number;
  readonly words: number;
  readonly moved: number;
}

export function listBundles(sql: Statements): readonly Bundle[] {
  return sql.all<Bundle>("SELECT bundle, words, moved FROM text_bundles ORDER BY bundle");
}

/** The oldest segments in slices of their own that fill a bundle, given in order of position; undefined before they do. */
export function planBundle(segments: readonly Segment[], wordsMax: number): readonly Segment[] | undefined {
  let members: Segment[] = [];
  let words = 0;
  for (const segment of segments) {
    if (isLoose(segment) || segment.bundle !== null) continue;
    const more = wordsFor(segment.blocks);
    if (words + more > wordsMax) {
      if (members.length > 1) return members;
      [members, words] = [[], 0];
    }
    members.push(segment);
    words += more;
    if (words === wordsMax && members.length > 1) return members;
  }
  return undefined;
}

/** Called within a transaction; no slice is moved yet. */
export function beginBundle(sql: Statements, members: readonly Segment[]): void {
  const words = members.reduce((sum, { blocks }) => sum + wordsFor(blocks), 0);
  const begun = "INSERT INTO text_bundles (words, moved) VALUES (?, 0) RETURNING bundle";
  const { bundle } = sql.get<{ readonly bundle: number }>(begun, words) as { readonly bundle: number };
  let firstWord = 0;
  for (const { segment, blocks } of members) {
    const put = "UPDATE text_segments SET bundle = ?, first_word = ? WHERE segment = ?";
    sql.run(put, bundle, firstWord, segment);
    firstWord += wordsFor(blocks);
  }
}

/** Moves some slices of the segments that belong to a bundle. Called within a transaction. */
export function moveSlices(sql: Statements, bundle: Bundle, members: readonly Segment[], count: number): void {
  const range = { from: bundle.moved, to: Math.min(bundle.moved + count, SLICES) };
  const slicesOf = members.map((member) => readSlices(sql, member.segment, range));
  for (let slice = range.from; slice < range.to; slice += 1) {
    const bits = sideBySide(bundle, members, (nth) => slicesOf[nth]?.get(slice));
    if (bits !== undefined) writeSlice(sql, "text_bundle_slices", sliceKey(bundle.bundle, slice), bits);
  }
  for (const { segment } of members) deleteSlices(sql, segment, range);
  sql.run("UPDATE text_bundles SET moved = ? WHERE bundle = ?", range.to, bundle.bundle);
}

/** One whose segments are all gone. */
export function deleteBundle(sql: Statements, bundle: number): void {
  const keys = [sliceKey(bundle, 0), sliceKey(bundle, SLICES)];
  sql.run("DELETE FROM text_bundle_slices WHERE key >= ? AND key < ?", ...keys);
  sql.run("DELETE FROM text_bundles WHERE bundle = ?", bundle);
}

/** Wherever it lies; undefined where no block of the bundle has the bit. */
export function readBundleSlice(
  sql: Statements,
  bundle: Bundle,
  members: readonly Segment[],
  slice: number,
): Int32Array | undefined {
  if (slice < bundle.moved) return readSlice(sql, "text_bundle_slices", sliceKey(bundle.bundle, slice));
  const read = (nth: number): Int32Array | undefined =>
    readSlice(sql, "text_slices", sliceKey((members[nth] as Segment).segment, slice));
  return sideBySide(bundle, members, read);
}

function sideBySide(
  bundle: Bundle,
  members: readonly Segment[],
  read: (nth: number) => Int32Array | undefined,
): Int32Array | undefined {
  let bits: Int32Array | undefined;
  for (const [nth, { first_word }] of members.entries()) {
    const part = read(nth);
    if (part === undefined) continue;
    bits ??= new Int32Array(bundle.words);
    bits.set(part, first_word);
  }
  return bits;
}
