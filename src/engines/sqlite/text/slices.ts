// Turns signatures, which lie block by block, into slices, which lie bit by bit: a search reads only a few of them.
import { countBits } from "./block-bits.js";
import { SIGNATURE_WORDS, SLICES } from "./signature.js";

/** For each bit of a signature a row of `words` 32-bit words, with one bit per block, and how many blocks have it. */
export interface Slices {
  readonly words: number;
  readonly rows: Int32Array;
  readonly counts: Uint16Array;
}

/** Counts are of two bytes. */
const COUNT_MAX = 65_535;

export function toSlices(signatures: Int32Array, blocks: number): Slices {
  const words = Math.ceil(blocks / 32);
  const rows = new Int32Array(SIGNATURE_WORDS * 32 * words);
  const square = new Int32Array(32);
  for (let column = 0; column < words; column += 1) {
    const height = Math.min(32, blocks - column * 32);
    if (height < 32) square.fill(0);
    for (let word = 0; word < SIGNATURE_WORDS; word += 1) {
      let any = 0;
      for (let n = 0, from = column * 32 * SIGNATURE_WORDS + word; n < height; n += 1, from += SIGNATURE_WORDS) {
        const value = signatures[from] as number;
        square[n] = value;
        any |= value;
      }
      if (any === 0) continue;
      transpose(square);
      for (let n = 0, to = word * 32 * words + column; n < 32; n += 1, to += words) rows[to] = square[n] as number;
      if (height < 32) square.fill(0);
    }
  }
  const counts = Uint16Array.from({ length: SLICES }, (_, slice) =>
    Math.min(countBits(rows.subarray(slice * words, (slice + 1) * words)), COUNT_MAX),
  );
  return { words, rows, counts };
}

/** The row of one bit, or undefined where no block has it. */
export function sliceAt(slices: Slices, slice: number): Int32Array | undefined {
  if (slices.counts[slice] === 0) return undefined;
  return slices.rows.subarray(slice * slices.words, (slice + 1) * slices.words);
}

/** Mirrors 32 × 32 bits at their diagonal, by swapping ever smaller squares off it. */
function transpose(square: Int32Array): void {
  let mask = 0x0000ffff;
  for (let size = 16; size > 0; size >>= 1) {
    // Two plain loops, since one that skips rows takes twice the time.
    for (let base = 0; base < 32; base += 2 * size) {
      for (let row = base; row < base + size; row += 1) {
        const upper = square[row] as number;
        const lower = square[row + size] as number;
        const swapped = ((upper >>> size) ^ lower) & mask;
        square[row + size] = lower ^ swapped;
        square[row] = upper ^ (swapped << size);
      }
    }
    mask ^= mask << (size >> 1);
  }
}
