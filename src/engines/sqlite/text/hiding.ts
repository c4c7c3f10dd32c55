// What becomes of blocks whose entries are erased: nothing can be told from them any more.
import type { BlockPlaces } from "./block-places.js";
import { SIGNATURE_WORDS } from "./signature.js";

/**
 * Blocks that hold texts of erased entries, by their number. One that was theirs alone loses its bits. One that others
 * share gets all bits instead, and a search looks at the others' texts themselves.
 */
export type HiddenBlocks = ReadonlyMap<number, { readonly isShared: boolean }>;

/** Erased are entries of the segment; whoever is left is asked for between two positions. */
export function blocksToHide(
  places: BlockPlaces,
  erased: readonly number[],
  isAnyLeft: (low: number, high: number) => boolean,
): HiddenBlocks {
  const hidden = new Map<number, { readonly isShared: boolean }>();
  for (const position of erased) {
    const [first, last] = places.blocksOf(position) ?? [0, -1];
    for (let block = first; block <= last; block += 1) {
      if (hidden.has(block)) continue;
      hidden.set(block, { isShared: isAnyLeft(places.low(block), places.high(block)) });
    }
  }
  return hidden;
}

export function hideInSignatures(signatures: Int32Array, hidden: HiddenBlocks): void {
  for (const [block, { isShared }] of hidden) {
    signatures.fill(isShared ? -1 : 0, block * SIGNATURE_WORDS, (block + 1) * SIGNATURE_WORDS);
  }
}

/** The same for slices, which lie the other way round: bits to be cleared in each, and bits to be set. */
export class SliceMasks {
  readonly #words: number;
  readonly #byWord = new Map<number, { cleared: number; set: number }>();

  constructor(words: number) {
    this.#words = words;
  }

  /** Blocks are counted from this word on, where several segments lie side by side. */
  add(hidden: HiddenBlocks, firstWord: number): void {
    for (const [block, { isShared }] of hidden) {
      const word = firstWord + (block >>> 5);
      const masks = this.#byWord.get(word) ?? { cleared: 0, set: 0 };
      if (isShared) masks.set |= 1 << block;
      else masks.cleared |= 1 << block;
      this.#byWord.set(word, masks);
    }
  }

  /** Changes a slice, which is made where there is none; false where it is as it is to be already. */
  applyTo(slice: Int32Array | undefined): Int32Array | false {
    const bits = slice ?? new Int32Array(this.#words);
    let isChanged = false;
    for (const [word, { cleared, set }] of this.#byWord) {
      const before = bits[word] as number;
      const after = (before & ~cleared) | set;
      bits[word] = after;
      if (after !== before) isChanged = true;
    }
    return isChanged ? bits : false;
  }
}
