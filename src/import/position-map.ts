// Where entries of one log went in another: positions by positions, kept as runs, since most of them move together.
import { itemAt } from "../model/item-at.js";

interface Run {
  readonly from: number;
  readonly to: number;
  length: number;
}

export class PositionMap {
  readonly #runs: Run[] = [];

  /** Positions come in rising order, as an export has them; one that does not is passed over. */
  set(from: number, to: number): void {
    const last = this.#runs.at(-1);
    if (last !== undefined && from < last.from + last.length) return;
    if (last !== undefined && from === last.from + last.length && to === last.to + last.length) last.length += 1;
    else this.#runs.push({ from, to, length: 1 });
  }

  /** Where this position went. */
  at(from: number): number | undefined {
    const run = this.#runAtOrBelow(from);
    return run !== undefined && from < run.from + run.length ? run.to + from - run.from : undefined;
  }

  /** Where the greatest known position that is not above this one went. */
  atOrBelow(from: number): number | undefined {
    const run = this.#runAtOrBelow(from);
    return run === undefined ? undefined : run.to + Math.min(from - run.from, run.length - 1);
  }

  #runAtOrBelow(from: number): Run | undefined {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (itemAt(this.#runs, middle).from <= from) low = middle + 1;
      else high = middle;
    }
    return this.#runs[low - 1];
  }
}
