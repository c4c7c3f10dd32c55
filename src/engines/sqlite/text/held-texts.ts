// Texts that were given to the index and do not fill a segment yet: kept as signatures, and lost with this process.
import type { EntryTexts } from "../../../ports/entry-index.js";
import { SignatureWriter } from "./signature.js";
import { blocksToHide, type SegmentEntries } from "./text-segments.js";

/** What of either a segment has when it is full. */
export interface SegmentSize {
  readonly blocks: number;
  readonly entries: number;
}

export class HeldTexts {
  /** The texts follow the entries through this position … */
  readonly after: number;
  /** … in the tables as they were at this version of them, which a reset changes. */
  readonly tables_version: number;
  readonly signatures = new SignatureWriter();
  readonly #size: SegmentSize;
  #through: number;
  #entries = 0;
  readonly #positions: number[] = [];
  readonly #firstBlocks: number[] = [];
  readonly #lastBlocks: number[] = [];

  constructor(from: { readonly after: number; readonly tables_version: number }, size: SegmentSize) {
    this.#size = size;
    this.after = from.after;
    this.tables_version = from.tables_version;
    this.#through = from.after;
  }

  get through(): number {
    return this.#through;
  }

  get isFull(): boolean {
    return this.signatures.blocks >= this.#size.blocks || this.#entries >= this.#size.entries;
  }

  add({ position, texts }: EntryTexts): void {
    this.#entries += 1;
    this.#through = position;
    // Nothing is ever found in an entry without text.
    if (texts.every((text) => text === "")) return;
    this.#positions.push(position);
    this.#firstBlocks.push(this.signatures.startText());
    for (const text of texts) this.signatures.add(text);
    this.#lastBlocks.push(this.signatures.blocks - 1);
  }

  /** Says that no further texts come until after this position. */
  reach(through: number): void {
    this.#through = Math.max(this.#through, through);
  }

  /** Whether the entry may hold the needles, given as the slices of each of their windows. */
  mayHold(position: number, windows: readonly (readonly number[])[]): boolean {
    // Of what was not given yet, any entry may.
    if (position > this.#through) return true;
    const index = indexOf(this.#positions, position);
    return index !== undefined && this.#mayHoldAt(index, windows);
  }

  /** All that may hold them, of what was given. */
  positionsThatMayHold(windows: readonly (readonly number[])[]): readonly number[] {
    return this.#positions.filter((_, index) => this.#mayHoldAt(index, windows));
  }

  /** The entries that have a row, which says when they were created; others are in no list and found by no search. */
  entries(rows: ReadonlyMap<number, number>): SegmentEntries {
    this.#hideOthers(rows);
    const kept = this.#positions.flatMap((position, index) => (rows.has(position) ? [index] : []));
    const positions = kept.map((index) => this.#positions[index] as number);
    return {
      positions: Float64Array.from(positions),
      times_ms: Float64Array.from(positions, (position) => rows.get(position) as number),
      first_blocks: Uint32Array.from(kept, (index) => this.#firstBlocks[index] as number),
      last_blocks: Uint32Array.from(kept, (index) => this.#lastBlocks[index] as number),
    };
  }

  #mayHoldAt(index: number, windows: readonly (readonly number[])[]): boolean {
    const [first, last] = [this.#firstBlocks[index] as number, this.#lastBlocks[index] as number];
    return windows.every((slices) => this.signatures.hasAll(slices, first, last));
  }

  /** What was erased since it was given leaves no trace in the signatures. */
  #hideOthers(rows: ReadonlyMap<number, number>): void {
    if (this.#positions.every((position) => rows.has(position))) return;
    const blocks = {
      first_blocks: Uint32Array.from(this.#firstBlocks),
      last_blocks: Uint32Array.from(this.#lastBlocks),
    };
    const hidden = blocksToHide(blocks, (index) => !rows.has(this.#positions[index] as number));
    for (const [block, { isShared }] of hidden) this.signatures.hide(block, isShared);
  }
}

function indexOf(positions: readonly number[], position: number): number | undefined {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] as number) < position) low = middle + 1;
    else high = middle;
  }
  return positions[low] === position ? low : undefined;
}
