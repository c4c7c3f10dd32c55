// The blocks of a text index with their bits, wherever in the tables these lie.

import type { Statements } from "../../src/engines/sqlite/statements.js";
import { BlockPlaces, wordsFor } from "../../src/engines/sqlite/text/blocks.js";
import {
  isMerged,
  listSegments,
  readPlaces,
  readSignatures,
  readSlice,
  type Segment,
  sliceKey,
} from "../../src/engines/sqlite/text/segments.js";
import { SIGNATURE_WORDS, SignatureWriter, SLICES } from "../../src/engines/sqlite/text/signature.js";

export interface TextBlock {
  /** Between which positions its entries lie. */
  readonly low: number;
  readonly high: number;
  /** Which slices it has a bit in. */
  readonly bits: ReadonlySet<number>;
}

export function textBlocks(sql: Statements): readonly TextBlock[] {
  return listSegments(sql).flatMap((segment) => {
    const places = new BlockPlaces(segment, readPlaces(sql, segment));
    const bits = isMerged(segment) ? bitsInSlices(sql, segment) : bitsInColumns(sql, segment);
    return bits.map((one, block) => ({ low: places.low(block), high: places.high(block), bits: one }));
  });
}

/** All slices in which texts have a bit. */
export function slicesOfTexts(texts: readonly string[]): ReadonlySet<number> {
  const writer = new SignatureWriter();
  for (const text of texts) writer.add(text);
  return new Set(bitsOf(writer.bits).flatMap((bits) => [...bits]));
}

function bitsInColumns(sql: Statements, { segment, blocks }: Segment): readonly ReadonlySet<number>[] {
  return bitsOf(readSignatures(sql, segment, blocks));
}

function bitsInSlices(sql: Statements, segment: Segment): readonly ReadonlySet<number>[] {
  const bits = Array.from({ length: segment.blocks }, () => new Set<number>());
  for (let slice = 0; slice < SLICES; slice += 1) {
    const words = readSlice(sql, sliceKey(segment.segment, slice));
    for (const [block, own] of bits.entries()) {
      if (words !== undefined && (((words[block >>> 5] as number) >>> block) & 1) === 1) own.add(slice);
    }
    const width = wordsFor(segment.blocks);
    if (words !== undefined && words.length !== width) throw new Error(`slice ${slice} has ${words.length} words`);
  }
  return bits;
}

function bitsOf(signatures: Int32Array): readonly ReadonlySet<number>[] {
  return Array.from({ length: signatures.length / SIGNATURE_WORDS }, (_, block) => {
    const bits = new Set<number>();
    for (let slice = 0; slice < SLICES; slice += 1) {
      const word = signatures[block * SIGNATURE_WORDS + (slice >>> 5)] as number;
      if (((word >>> slice) & 1) === 1) bits.add(slice);
    }
    return bits;
  });
}
