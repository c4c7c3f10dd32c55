// The distinct texts that a session's interactions were given by themselves, each with those that were given it.
import { itemAt } from "../model/item-at.js";
import { normalise } from "../model/normalise.js";
import { indexOfText } from "../search/matching.js";

/** A text in the form that searches compare, and the runs of packs that hold it: from one to another, both included. */
interface KnownText {
  readonly normal: string;
  readonly runs: { readonly from: number; through: number }[];
}

export class PackTable {
  readonly #positions: number[] = [];
  readonly #texts = new Map<string, KnownText>();
  readonly #recorded = new Set<number>();
  #bytes = 0;
  #chars = 0;

  /** How many packs it was made from. */
  get packs(): number {
    return this.#positions.length;
  }

  /** How much these held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Positions of those whose whole context was recorded. */
  get recorded(): ReadonlySet<number> {
    return this.#recorded;
  }

  /** How much is kept of it. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether these are the packs that it was made from, and perhaps more. */
  isMadeFrom(positions: readonly number[]): boolean {
    return this.#positions.every((position, nth) => positions[nth] === position);
  }

  add(
    position: number,
    given: { readonly texts: readonly string[]; readonly bytes: number; readonly isRecorded: boolean },
  ): void {
    const nth = this.#positions.length;
    this.#positions.push(position);
    if (given.isRecorded) this.#recorded.add(position);
    this.#bytes += given.bytes;
    for (const text of given.texts) {
      const known = this.#texts.get(text);
      const last = known?.runs.at(-1);
      if (last !== undefined && last.through >= nth - 1) last.through = nth;
      else if (known !== undefined) known.runs.push({ from: nth, through: nth });
      else {
        this.#texts.set(text, { normal: normalise(text), runs: [{ from: nth, through: nth }] });
        this.#chars += 2 * text.length;
      }
    }
  }

  /** Positions of the first and the last pack before a position that hold the phrase. */
  uses({ phrase, before }: { readonly phrase: string; readonly before: number }) {
    const end = this.#countBefore(before);
    let [first, last] = [Number.POSITIVE_INFINITY, -1];
    for (const { normal, runs } of this.#texts.values()) {
      // Most texts cannot change the answer, and are not looked through.
      const earliest = runs[0]?.from ?? end;
      const run = runs.findLast(({ from }) => from < end);
      if (run === undefined || (earliest >= first && Math.min(run.through, end - 1) <= last)) continue;
      if (indexOfText(normal, phrase) === -1) continue;
      first = Math.min(first, earliest);
      last = Math.max(last, Math.min(run.through, end - 1));
    }
    return last === -1 ? undefined : { first: itemAt(this.#positions, first), last: itemAt(this.#positions, last) };
  }

  #countBefore(position: number): number {
    let [low, high] = [0, this.#positions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (itemAt(this.#positions, middle) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
