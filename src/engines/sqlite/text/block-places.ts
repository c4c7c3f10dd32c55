// Which entries have text in which blocks of a segment: for each block, the first entry that has.
//
// A block is of entries that follow each other, so that this says it of all of them in four bytes for a block. What lies
// between without text, or is erased, is taken for an entry of the block too: it has no row, or nothing is found in it.

export class BlockPlaces {
  readonly #after: number;
  readonly #through: number;
  /** How far behind `after` the entry lies, doubled, and one more where its text began in the block before. */
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

  /** The blocks between which the texts of an entry lie; undefined before the first entry with text. */
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

  /** How many blocks begin with an entry before this position. */
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

/** The same as it is kept: an entry that begins in a block, or goes on in it. */
export function placeOf(entry: { readonly offset: number; readonly isContinued: boolean }): number {
  return entry.offset * 2 + (entry.isContinued ? 1 : 0);
}

/** The same for a segment that begins so many positions earlier. */
export function movedBy(firsts: Uint32Array, positions: number): Uint32Array {
  return firsts.map((first) => first + positions * 2);
}
