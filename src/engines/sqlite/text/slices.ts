// Turns signatures, which lie block by block, into slices, which lie bit by bit: a search reads only a few of them.
import { SIGNATURE_WORDS, SLICES } from "./signature.js";

/** For each bit of a signature a row of `words` 32-bit words, with one bit per block. */
export interface Slices {
  readonly words: number;
  readonly rows: Int32Array;
}

export function toSlices(signatures: Int32Array, blocks: number): Slices {
  const words = Math.ceil(blocks / 32);
  const rows = new Int32Array(SIGNATURE_WORDS * 32 * words);
  const square = new Int32Array(32);
  for (let column = 0; column < words; column += 1) {
    const height = Math.min(32, blocks - column * 32);
    for (let word = 0; word < SIGNATURE_WORDS; word += 1) {
      square.fill(0);
      let any = 0;
      for (let n = 0; n < height; n += 1) {
        const value = signatures[(column * 32 + n) * SIGNATURE_WORDS + word] as number;
        square[n] = value;
        any |= value;
      }
      if (any === 0) continue;
      transpose(square);
      for (let n = 0; n < 32; n += 1) rows[(word * 32 + n) * words + column] = square[n] as number;
    }
  }
  return { words, rows };
}

/** The row of one bit, or undefined where no block has it. */
export function sliceAt(slices: Slices, slice: number): Int32Array | undefined {
  if (slice >= SLICES) return undefined;
  const row = slices.rows.subarray(slice * slices.words, (slice + 1) * slices.words);
  return row.some((word) => word !== 0) ? row : undefined;
}

/** Mirrors 32 × 32 bits at their diagonal, by swapping ever smaller squares off it. */
function transpose(square: Int32Array): void {
  let mask = 0x0000ffff;
  for (let size = 16; size > 0; size >>= 1) {
    for (let row = 0; row < 32; row = (row + size + 1) & ~size) {
      const upper = square[row] as number;
      const lower = square[row + size] as number;
      const swapped = ((upper >>> size) ^ lower) & mask;
      square[row + size] = lower ^ swapped;
      square[row] = upper ^ (swapped << size);
    }
    mask ^= mask << (size >> 1);
  }
}
