// Keeps the segments of the text index few: loose ones are put together and sliced, and slices are moved into bundles.
//
// Each step is one transaction of some milliseconds, after which every search finds all there is, so that it does not
// matter who takes the next one, or whether it is ever taken.
import type { Statements } from "../statements.js";
import { beginBundle, moveSlices, planBundle } from "./bundles.js";
import { readSignatures } from "./columns.js";
import type { KnownSegments } from "./known-segments.js";
import { combineTexts, planLoose } from "./loose-segments.js";
import { SLICES } from "./signature.js";
import { type Slices, toSlices } from "./slices.js";
import {
  deleteSegment,
  insertLoose,
  isLoose,
  readPlaces,
  type Segment,
  type SegmentTexts,
  sliceFurther,
  spanOf,
} from "./text-segments.js";

/** What takes some milliseconds: slices that are written as they were made, and slices that are moved. */
const SLICED_PER_STEP = 1_024;
const MOVED_PER_STEP = 96;

export class Tidying {
  readonly #sql: Statements;
  readonly #known: KnownSegments;
  readonly #blocksMax: number;
  readonly #bundleWords: number;
  /** The slices that are being written: making them takes longer than writing some. */
  #made: { readonly name: string; readonly firsts: Uint32Array; readonly slices: Slices } | undefined;

  constructor(parts: {
    readonly sql: Statements;
    readonly known: KnownSegments;
    readonly blocks_max: number;
    readonly bundle_words: number;
  }) {
    this.#sql = parts.sql;
    this.#known = parts.known;
    this.#blocksMax = parts.blocks_max;
    this.#bundleWords = parts.bundle_words;
  }

  /** False where there is nothing to do. */
  step(): boolean {
    return this.#looseStep() || this.#bundleStep();
  }

  #looseStep(): boolean {
    const planned = this.#sql.transactions.read(() => this.#planLoose());
    if (planned === undefined) return false;
    const { segments, tables_version } = planned;
    // What takes long is done before others are kept from writing; what these have changed meanwhile is left alone.
    const act = planned.act === "combine" ? this.#combining(planned) : this.#slicing(planned);
    this.#sql.transactions.write(() => {
      this.#known.look();
      if (this.#known.tables_version === tables_version && segments.every((segment) => this.#known.has(segment))) act();
      this.#known.changed();
    });
    return true;
  }

  /** Goes on with the bundle that is being filled, or begins one. */
  #bundleStep(): boolean {
    if (!this.#sql.transactions.read(() => this.#planBundle() !== undefined)) return false;
    this.#sql.transactions.write(() => {
      this.#planBundle()?.();
      this.#known.changed();
    });
    return true;
  }

  #planLoose(): PlannedLoose | undefined {
    this.#known.look();
    const plan = planLoose(this.#known.segments.filter(isLoose), this.#blocksMax);
    if (plan === undefined) return undefined;
    const { act, segments } = plan;
    const { tables_version } = this.#known;
    const isMade = act === "slice" && this.#made?.name === nameOf(segments, tables_version);
    const texts = isMade ? [] : segments.map((segment) => this.#readTexts(segment));
    return { act, segments, texts, tables_version };
  }

  #combining({ segments, texts }: PlannedLoose): () => void {
    const combined = combineTexts(texts);
    return () => {
      for (const segment of segments) deleteSegment(this.#sql, segment);
      insertLoose(this.#sql, spanOf(segments), combined);
    };
  }

  #slicing({ segments, texts, tables_version }: PlannedLoose): () => void {
    if (texts.length > 0) {
      const { firsts, signatures } = combineTexts(texts);
      this.#made = { name: nameOf(segments, tables_version), firsts, slices: toSlices(signatures, firsts.length) };
    }
    const { firsts, slices } = this.#made as { readonly firsts: Uint32Array; readonly slices: Slices };
    const to = Math.min((segments[0] as Segment).sliced + SLICED_PER_STEP, SLICES);
    if (to === SLICES) this.#made = undefined;
    return () => sliceFurther(this.#sql, segments, { firsts, slices, to });
  }

  #planBundle(): (() => void) | undefined {
    this.#known.look();
    const { bundles, segments } = this.#known;
    const begun = bundles.find(({ moved }) => moved < SLICES);
    if (begun !== undefined) {
      const members = segments.filter(({ bundle }) => bundle === begun.bundle);
      return () => moveSlices(this.#sql, begun, members, MOVED_PER_STEP);
    }
    const members = planBundle(segments, this.#bundleWords);
    return members === undefined ? undefined : () => beginBundle(this.#sql, members);
  }

  #readTexts(segment: Segment): SegmentTexts & { readonly after: number } {
    const { segment: number, after, blocks } = segment;
    return { after, firsts: readPlaces(this.#sql, segment), signatures: readSignatures(this.#sql, number, blocks) };
  }
}

interface PlannedLoose {
  readonly act: "combine" | "slice";
  readonly segments: readonly Segment[];
  /** Of each segment; none where its slices are made already. */
  readonly texts: readonly (SegmentTexts & { readonly after: number })[];
  readonly tables_version: number;
}

/** Texts that have this name are always the same. */
function nameOf(segments: readonly Segment[], tablesVersion: number): string {
  return JSON.stringify([tablesVersion, ...segments.map(({ segment, revision }) => [segment, revision])]);
}
