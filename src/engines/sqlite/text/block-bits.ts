// Which blocks have something: one bit for each, in 32-bit words.
import { SIGNATURE_WORDS } from "./signature.js";

/** Words that hold a bit for each of so many blocks. */
export function wordsFor(blocks: number): number {
  return Math.ceil(blocks / 32);
}

/** The blocks whose signatures, which lie one after the other, have all of these bits; undefined where none has. */
export function blocksWithAll(signatures: Int32Array, slices: readonly number[]): Int32Array | undefined {
  const blocks = signatures.length / SIGNATURE_WORDS;
  const words = Int32Array.from(slices, (slice) => slice >>> 5);
  const masks = Int32Array.from(slices, (slice) => 1 << slice);
  const found = new Int32Array(wordsFor(blocks));
  let isAny = false;
  // A plain loop: with a closure for each block it takes four times as long.
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

/** Keeps the bits that both have, and answers with how many these are. */
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

/** Whether one of the blocks from `first` through `last` has its bit. */
export function hasAny(words: Int32Array, first: number, last: number): boolean {
  for (let block = first; block <= last; block += 1) {
    if ((((words[block >>> 5] as number) >>> block) & 1) !== 0) return true;
  }
  return false;
}

/** The blocks that have their bit, in order. */
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
