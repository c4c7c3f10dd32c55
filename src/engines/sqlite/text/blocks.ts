// Blocks of a segment: bit sets over them (one bit per block, in 32-bit words), and which entries have text in which
// block.
import { SIGNATURE_WORDS } from "./signature.js";

/** Number of words for one bit per block. */
export function wordsFor(blocks: number): number {
  return Math.ceil(blocks / 32);
}

/** The blocks whose signatures have all of these bits; undefined if none has. */
export function blocksWithAll(signatures: Int32Array, slices: readonly number[]): Int32Array | undefined {
  const blocks = signatures.length / SIGNATURE_WORDS;
  const words = Int32Array.from(slices, (slice) => slice >>> 5);
  const masks = Int32Array.from(slices, (slice) => 1 << slice);
  const found = new Int32Array(wordsFor(blocks));
  let isAny = false;
  // A plain loop: a closure per block takes four times as long.
  for (let block = 0, base = 0; block < blocks; block += 1, base += SIGNATURE_WORDS) {
    let nth = 0;
    while (
      nth < words.length &&
      ((signatures[base + (words[nth] as number)] as number) & (masks[nth] as number)) !== 0
    ) {
      nth += 1;
    }
    if (nth < words.length) continue;
    found[block >>> 5] = (found[block >>> 5] as number) | (1 << block);
    isAny = true;
  }
  return isAny ? found : undefined;
}

/** Keeps the common bits, and returns their number. */
export function keepCommon(kept: Int32Array, other: Int32Array): number {
  let count = 0;
  for (let word = 0; word < kept.length; word += 1) {
    const common = (kept[word] as number) & (other[word] as number);
    kept[word] = common;
    if (common !== 0) count += bitsIn(common);
  }
  return count;
}

export function countBits(words: Int32Array): number {
  let count = 0;
  for (let at = 0; at < words.length; at += 1) count += bitsIn(words[at] as number);
  return count;
}

/** Whether any block from `first` through `last` has its bit. */
export function hasAny(words: Int32Array, first: number, last: number): boolean {
  for (let block = first; block <= last; block += 1) {
    if ((((words[block >>> 5] as number) >>> block) & 1) !== 0) return true;
  }
  return false;
}

/** The blocks whose bit is set, in order. */
export function* blocksIn(words: Int32Array): Generator<number, void, undefined> {
  for (let word = 0; word < words.length; word += 1) {
    for (let rest = words[word] as number; rest !== 0; rest &= rest - 1)
      yield word * 32 + 31 - Math.clz32(rest & -rest);
  }
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

// For each block, the first entry with text in it: four bytes per block. Entries in between without text, or erased,
// count as part of the block: they have no row, or nothing is found in them.

export class BlockPlaces {
  readonly #after: number;
  readonly #through: number;
  /** The entry's offset from `after`, doubled, plus one if its text began in the previous block. */
  readonly #firsts: Uint32Array;

  constructor(range: { readonly after: number; readonly through: number }, firsts: Uint32Array) {
    this.#after = range.after;
    this.#through = range.through;
    this.#firsts = firsts;
  }

  /** The first position with text in the block. */
  low(block: number): number {
    return this.#after + ((this.#firsts[block] as number) >>> 1);
  }

  /** The last position with text in the block. */
  high(block: number): number {
    const next = block + 1;
    if (next >= this.#firsts.length) return this.#through;
    return this.#isContinued(next) ? this.low(next) : this.low(next) - 1;
  }

  /** First and last block of an entry's texts; undefined before the first entry with text. */
  blocksOf(position: number): readonly [first: number, last: number] | undefined {
    const last = this.#blocksBefore(position + 1) - 1;
    if (last < 0) return undefined;
    if (this.low(last) < position) return [last, last];
    const first = this.#blocksBefore(position);
    return [this.#isContinued(first) ? first - 1 : first, last];
  }

  #isContinued(block: number): boolean {
    return ((this.#firsts[block] as number) & 1) === 1;
  }

  /** Number of blocks that begin before this position. */
  #blocksBefore(position: number): number {
    let [low, high] = [0, this.#firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.low(middle) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The stored form: an entry that begins in a block, or continues in it. */
export function placeOf(entry: { readonly offset: number; readonly isContinued: boolean }): number {
  return entry.offset * 2 + (entry.isContinued ? 1 : 0);
}

/** The same, for a segment that begins this many positions earlier. */
export function movedBy(firsts: Uint32Array, positions: number): Uint32Array {
  return firsts.map((first) => first + positions * 2);
}
