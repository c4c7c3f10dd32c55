// Slices: the same bits as the signatures, transposed.
import { expect, test } from "vitest";
import { sliceAt, toSlices } from "./segments.js";
import { SIGNATURE_WORDS, SLICES } from "./signature.js";

test.each([1, 31, 32, 33, 100])("each bit of %s signatures is found in its slice", (blocks) => {
  const signatures = new Int32Array(blocks * SIGNATURE_WORDS);
  const set = new Set<string>();
  for (let n = 0; n < blocks * 50; n += 1) {
    const [block, slice] = [(n * 7_919) % blocks, (n * 104_729) % SLICES];
    const word = block * SIGNATURE_WORDS + (slice >>> 5);
    signatures[word] = (signatures[word] as number) | (1 << slice);
    set.add(`${block} ${slice}`);
  }
  const slices = toSlices(signatures, blocks);
  const found = new Set<string>();
  for (let slice = 0; slice < SLICES; slice += 1) {
    const row = sliceAt(slices, slice);
    if (row === undefined) continue;
    expect(row.length).toBe(Math.ceil(blocks / 32));
    for (let block = 0; block < row.length * 32; block += 1) {
      if ((((row[block >>> 5] as number) >>> block) & 1) === 1) found.add(`${block} ${slice}`);
    }
  }
  expect(found).toEqual(set);
});
