// Takes erased entries out of the segments of the text index, wherever their signatures lie.
import type { Statements } from "../statements.js";
import { wordsFor } from "./block-bits.js";
import { BlockPlaces } from "./block-places.js";
import { type Bundle, deleteBundle, listBundles } from "./bundles.js";
import { readSignatures, writeColumns } from "./columns.js";
import { blocksToHide, type HiddenBlocks, hideInSignatures, SliceMasks } from "./hiding.js";
import { SLICES } from "./signature.js";
import {
  deleteSegment,
  deleteSlices,
  isLoose,
  listSegments,
  readPlaces,
  readSlice,
  type Segment,
  type SliceTable,
  sliceKey,
  writeSlice,
} from "./text-segments.js";

interface Touched {
  readonly segment: Segment;
  readonly hidden: HiddenBlocks;
}

/** Called within the transaction that has taken their rows out. */
export function eraseFromSegments(sql: Statements, positions: ReadonlySet<number>): void {
  const sorted = [...positions].sort((left, right) => left - right);
  const touched = listSegments(sql).flatMap((segment) => touchedIn(sql, segment, sorted));
  for (const one of touched) {
    sql.run("UPDATE text_segments SET revision = revision + 1 WHERE segment = ?", one.segment.segment);
    sql.run("DELETE FROM text_counts WHERE segment = ?", one.segment.segment);
    if (isLoose(one.segment)) hideInLoose(sql, one);
    else if (one.segment.bundle === null) hideInSlices(sql, one, 0);
  }
  if (touched.some(({ segment }) => isLoose(segment))) dropSlicesOfLoose(sql);
  for (const bundle of listBundles(sql)) {
    const members = touched.filter(({ segment }) => segment.bundle === bundle.bundle);
    if (members.length > 0) hideInBundle(sql, bundle, members);
  }
  for (const { segment } of touched) if (!hasRows(sql, segment.after + 1, segment.through)) deleteSegment(sql, segment);
  const left = new Set(listSegments(sql).map(({ bundle }) => bundle));
  for (const { bundle } of listBundles(sql)) if (!left.has(bundle)) deleteBundle(sql, bundle);
}

function touchedIn(sql: Statements, segment: Segment, sorted: readonly number[]): readonly Touched[] {
  const erased = sorted.filter((position) => position > segment.after && position <= segment.through);
  if (erased.length === 0) return [];
  const places = new BlockPlaces(segment, readPlaces(sql, segment));
  const hidden = blocksToHide(places, erased, (low, high) => hasRows(sql, low, high));
  return hidden.size === 0 ? [] : [{ segment, hidden }];
}

function hasRows(sql: Statements, low: number, high: number): boolean {
  return sql.get("SELECT 1 FROM rows WHERE position BETWEEN ? AND ? LIMIT 1", low, high) !== undefined;
}

function hideInLoose(sql: Statements, { segment, hidden }: Touched): void {
  const signatures = readSignatures(sql, segment.segment, segment.blocks);
  hideInSignatures(signatures, hidden);
  writeColumns(sql, segment.segment, signatures);
}

/** Slices that are being made of loose segments, this one perhaps among them, are made again. */
function dropSlicesOfLoose(sql: Statements): void {
  for (const segment of listSegments(sql).filter(isLoose)) {
    if (segment.sliced === 0) continue;
    deleteSlices(sql, segment.segment, { from: 0, to: SLICES });
    sql.run("UPDATE text_segments SET sliced = 0 WHERE segment = ?", segment.segment);
  }
}

function hideInSlices(sql: Statements, { segment, hidden }: Touched, from: number): void {
  const masks = new SliceMasks(wordsFor(segment.blocks));
  masks.add(hidden, 0);
  rewrite(sql, { table: "text_slices", owner: segment.segment, from, to: SLICES }, masks);
}

/** What was not moved yet still lies with the segments. */
function hideInBundle(sql: Statements, bundle: Bundle, members: readonly Touched[]): void {
  const masks = new SliceMasks(bundle.words);
  for (const { segment, hidden } of members) masks.add(hidden, segment.first_word);
  rewrite(sql, { table: "text_bundle_slices", owner: bundle.bundle, from: 0, to: bundle.moved }, masks);
  if (bundle.moved < SLICES) for (const member of members) hideInSlices(sql, member, bundle.moved);
}

function rewrite(
  sql: Statements,
  slices: { readonly table: SliceTable; readonly owner: number; readonly from: number; readonly to: number },
  masks: SliceMasks,
): void {
  for (let slice = slices.from; slice < slices.to; slice += 1) {
    const key = sliceKey(slices.owner, slice);
    const bits = masks.applyTo(readSlice(sql, slices.table, key));
    if (bits !== false) writeSlice(sql, slices.table, key, bits);
  }
}
