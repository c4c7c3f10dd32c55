// Keeps the segments of the text index few: small ones that follow each other are merged into one.
//
// An unmerged segment keeps its signatures in columns. Sixteen of about the same size become a larger unmerged one, and as
// soon as the oldest have enough blocks together they become a merged segment, which keeps bit slices and is never merged
// again. Each merge is one transaction, after which every search finds all there is: it does not matter which process does
// the next one, or when.
import type { Statements } from "../statements.js";
import { readSignatures } from "./columns.js";
import { type MergePlan, mergeTexts, planMerge } from "./merge-plan.js";
import type { SegmentCache } from "./segment-cache.js";
import {
  deleteSegment,
  insertMerged,
  insertUnmerged,
  isMerged,
  readPlaces,
  type Segment,
  type SegmentTexts,
  spanOf,
} from "./segments.js";
import { toSlices } from "./slices.js";

export class Merging {
  readonly #sql: Statements;
  readonly #cache: SegmentCache;
  readonly #blocksMax: number;

  constructor(parts: { readonly sql: Statements; readonly cache: SegmentCache; readonly blocks_max: number }) {
    this.#sql = parts.sql;
    this.#cache = parts.cache;
    this.#blocksMax = parts.blocks_max;
  }

  /** Does one merge; false where there is none to do. */
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
