// Texts that are not written yet: signatures in memory, lost with the process.
import type { EntryTexts } from "../../../index/port.js";
import { BlockPlaces, placeOf } from "./blocks.js";
import { blocksToScrub, scrubSignatures } from "./scrubbing.js";
import type { SegmentTexts } from "./segments.js";
import { SIGNATURE_WORDS, SignatureWriter } from "./signature.js";

/** A segment is written when it reaches either. */
export interface SegmentSize {
  readonly blocks: number;
  readonly entries: number;
}

export class TextBuffer {
  /** The texts follow the entries through this position … */
  readonly after: number;
  /** … in tables of this version, which a reset changes. */
  readonly tables_version: number;
  readonly #writer = new SignatureWriter();
  readonly #positions: number[] = [];
  readonly #firsts: number[] = [];
  #through: number;
  #entries = 0;

  constructor(from: { readonly after: number; readonly tables_version: number }) {
    this.after = from.after;
    this.tables_version = from.tables_version;
    this.#through = from.after;
  }

  get through(): number {
    return this.#through;
  }

  get blocks(): number {
    return this.#firsts.length;
  }

  /** All signatures, block by block. */
  get signatures(): Int32Array {
    return this.#writer.bits.subarray(0, this.blocks * SIGNATURE_WORDS);
  }

  /** The first entry of each block, in stored form. */
  get firsts(): Uint32Array {
    return Uint32Array.from(this.#firsts);
  }

  isFull(size: SegmentSize): boolean {
    return this.blocks >= size.blocks || this.#entries >= size.entries;
  }

  add({ position, texts }: EntryTexts): void {
    this.#entries += 1;
    this.#through = position;
    // Entries without text are never found.
    if (texts.every((text) => text === "")) return;
    this.#positions.push(position);
    const first = this.#writer.startText();
    for (const text of texts) this.#writer.add(text);
    for (let block = this.blocks; block < this.#writer.blocks; block += 1) {
      this.#firsts.push(placeOf({ offset: position - this.after, isContinued: block > first }));
    }
  }

  /** No further texts come until after this position. */
  reach(through: number): void {
    this.#through = Math.max(this.#through, through);
  }

  /** The texts to write, scrubbed of entries that were erased since (those without a row). */
  toTexts(rows: ReadonlySet<number>): SegmentTexts {
    const { firsts, signatures } = this;
    const erased = this.#positions.filter((position) => !rows.has(position));
    if (erased.length === 0) return { firsts, signatures };
    const isAnyLeft = (low: number, high: number): boolean => {
      for (let position = low; position <= high; position += 1) if (rows.has(position)) return true;
      return false;
    };
    scrubSignatures(signatures, blocksToScrub(new BlockPlaces(this, firsts), erased, isAnyLeft));
    return { firsts, signatures };
  }
}
