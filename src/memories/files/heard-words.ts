// The words of entries at hand, so that which of them hold a word, or one that begins so, is looked up and not searched for.
import { itemAt } from "../../model/item-at.js";

/** As a word of an index has to look; others, and those of scripts without spaces, are searched for in the texts. */
const WORD = /[\p{L}\p{N}_]+/gu;
const IS_WORD = /^[\p{L}\p{N}_]+$/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

export class HeardWords {
  readonly #texts: readonly string[];
  readonly #rowsByWord = new Map<string, number[]>();
  readonly #words: readonly string[];
  readonly #rowsByNeedle = new Map<string, ReadonlySet<number>>();

  /** @param texts In the form that searches compare. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
    for (const [row, text] of texts.entries()) this.#add(row, text);
    this.#words = [...this.#rowsByWord.keys()].sort();
  }

  /** The rows of the texts with a word that begins with each of these. */
  rowsWith(needles: readonly string[]): readonly number[] {
    const [first, ...others] = needles
      .map((needle) => this.#rowsOf(needle))
      .sort((left, right) => left.size - right.size);
    return first === undefined ? [] : [...first].filter((row) => others.every((rows) => rows.has(row)));
  }

  #add(row: number, text: string): void {
    for (const [word] of text.matchAll(WORD)) {
      const rows = this.#rowsByWord.get(word);
      if (rows === undefined) this.#rowsByWord.set(word, [row]);
      else if (rows.at(-1) !== row) rows.push(row);
    }
  }

  #rowsOf(needle: string): ReadonlySet<number> {
    const known = this.#rowsByNeedle.get(needle);
    if (known !== undefined) return known;
    const rows = new Set(
      IS_WORD.test(needle) && !UNSPACED.test(needle) ? this.#beginning(needle) : this.#holding(needle),
    );
    this.#rowsByNeedle.set(needle, rows);
    return rows;
  }

  *#beginning(needle: string): Generator<number> {
    let [low, high] = [0, this.#words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (itemAt(this.#words, middle) < needle) low = middle + 1;
      else high = middle;
    }
    for (let at = low; this.#words[at]?.startsWith(needle) === true; at += 1) {
      yield* this.#rowsByWord.get(itemAt(this.#words, at)) ?? [];
    }
  }

  *#holding(needle: string): Generator<number> {
    for (const [row, text] of this.#texts.entries()) if (text.includes(needle)) yield row;
  }
}
