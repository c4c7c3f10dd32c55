// How unmerged segments keep their signatures: not block by block but word by word, the same word of all blocks together, so
// that a search reads only the words in which its bits lie.
import type { Statements } from "../statements.js";
import { wordsFor } from "./block-bits.js";
import { SIGNATURE_WORDS } from "./signature.js";

/** A row is stored under segment × this + row, so that a segment's rows lie together. */
const ROW_KEYS = 512;
/** Of few blocks several words lie in one row: reading a row costs about as much as reading four pages of it. */
const ROW_WORDS = 4_096;

export function writeColumns(sql: Statements, segment: number, signatures: Int32Array): void {
  const blocks = signatures.length / SIGNATURE_WORDS;
  const perRow = columnsPerRow(blocks);
  for (let first = 0; first < SIGNATURE_WORDS; first += perRow) {
    const columns = Math.min(perRow, SIGNATURE_WORDS - first);
    const row = new Int32Array(columns * blocks);
    for (let column = 0; column < columns; column += 1) {
      for (let block = 0; block < blocks; block += 1) {
        row[column * blocks + block] = signatures[block * SIGNATURE_WORDS + first + column] as number;
      }
    }
    const insert = "INSERT OR REPLACE INTO text_columns VALUES (?, ?)";
    sql.run(insert, segment * ROW_KEYS + first / perRow, new Uint8Array(row.buffer));
  }
}

/** All of them, block by block. */
export function readSignatures(sql: Statements, segment: number, blocks: number): Int32Array {
  const signatures = new Int32Array(blocks * SIGNATURE_WORDS);
  const perRow = columnsPerRow(blocks);
  for (let first = 0; first < SIGNATURE_WORDS; first += perRow) {
    const row = readRow(sql, segment, first / perRow);
    for (let at = 0, column = first; at < row.length; at += blocks, column += 1) {
      for (let block = 0; block < blocks; block += 1) {
        signatures[block * SIGNATURE_WORDS + column] = row[at + block] as number;
      }
    }
  }
  return signatures;
}

export function deleteColumns(sql: Statements, segment: number): void {
  sql.run("DELETE FROM text_columns WHERE key >= ? AND key < ?", segment * ROW_KEYS, (segment + 1) * ROW_KEYS);
}

/** The columns of one segment as far as searches have asked for them. */
export class Columns {
  readonly #sql: Statements;
  readonly #segment: number;
  readonly #blocks: number;
  readonly #rows = new Map<number, Int32Array>();

  constructor(sql: Statements, segment: { readonly segment: number; readonly blocks: number }) {
    this.#sql = sql;
    this.#segment = segment.segment;
    this.#blocks = segment.blocks;
  }

  /** The blocks that have the bit of this slice. */
  blocksWith(slice: number): Int32Array {
    const bits = new Int32Array(wordsFor(this.#blocks)).fill(-1);
    // Behind the last block there is none.
    if (this.#blocks % 32 !== 0) bits[bits.length - 1] = (1 << this.#blocks) - 1;
    this.keepWith(bits, slice);
    return bits;
  }

  /** Keeps those that have it, and answers with how many these are: only what is left is looked at. */
  keepWith(kept: Int32Array, slice: number): number {
    const perRow = columnsPerRow(this.#blocks);
    const column = slice >>> 5;
    const row = this.#row(Math.floor(column / perRow));
    const start = (column % perRow) * this.#blocks;
    const mask = 1 << slice;
    let count = 0;
    for (let word = 0; word < kept.length; word += 1) {
      let left = kept[word] as number;
      for (let rest = left; rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest;
        if (((row[start + word * 32 + 31 - Math.clz32(bit)] as number) & mask) === 0) left ^= bit;
        else count += 1;
      }
      kept[word] = left;
    }
    return count;
  }

  #row(row: number): Int32Array {
    const known = this.#rows.get(row) ?? readRow(this.#sql, this.#segment, row);
    this.#rows.set(row, known);
    return known;
  }
}

function columnsPerRow(blocks: number): number {
  return Math.min(SIGNATURE_WORDS, Math.max(1, Math.floor(ROW_WORDS / blocks)));
}

function readRow(sql: Statements, segment: number, row: number): Int32Array {
  const query = "SELECT words FROM text_columns WHERE key = ?";
  const { words } = sql.get<{ readonly words: Uint8Array }>(query, segment * ROW_KEYS + row) as { words: Uint8Array };
  return new Int32Array(new Uint8Array(words).buffer);
}
