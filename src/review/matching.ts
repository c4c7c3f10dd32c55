// Which memories a text repeats, asked of all of them at once: an index from stems to memories, so that ten thousand cost
// about as much as the words of the text.
import { comparable } from "./comparable.js";
import { inEnglish, type Language } from "./languages.js";
import { sentencesOf } from "./sentences.js";
import { SEGMENTED_CHARS_MAX, type Stems } from "./stems.js";

/** A memory is matched within so many consecutive sentences: words that lie scattered over a text mean something else. */
const WINDOW_SENTENCES = 3;

/** What lies behind this of one text is not looked at: the output of a tool can be long, and repeats nothing there. */
const TEXT_CHARS_MAX = 1_000_000;

/** How many distinct stems of a memory a match needs. */
function stemsNeeded(stems: number): number {
  return stems > 15 ? Math.max(12, Math.ceil(stems * 0.35)) : Math.max(4, Math.ceil(stems * 0.7));
}

interface IndexedMemory {
  readonly id: string;
  readonly content: string;
}

interface Row {
  readonly id: string;
  /** Numbers of its stems. */
  readonly stems: ReadonlySet<number>;
  readonly needed: number;
  readonly comparable: string;
}

/** An id among words: a plain word is no citation, even if somebody gave it to a memory as its id. */
const CITATION = /[A-Za-z0-9][A-Za-z0-9._:-]{2,127}/g;
const PLAIN_WORD = /^[A-Za-z]+$/;

export class MemoryIndex {
  readonly #stems: Stems;
  readonly #rows: readonly Row[];
  readonly #numbers = new Map<string, number>();
  /** By number of a stem: the rows that have it. */
  readonly #postings: number[][] = [];
  readonly #ids: ReadonlySet<string>;
  /** How often each row was hit by the text that is being looked at; zero in between. */
  readonly #hits: Uint16Array;

  constructor(memories: readonly IndexedMemory[], stems: Stems) {
    this.#stems = stems;
    this.#rows = memories.map(({ id, content }, row) => {
      const numbers = new Set([...stems.of(content)].map((stem) => this.#numberOf(stem)));
      for (const number of numbers) (this.#postings[number] as number[]).push(row);
      return { id, stems: numbers, needed: stemsNeeded(numbers.size), comparable: comparable(content) };
    });
    this.#ids = new Set(memories.map(({ id }) => id));
    this.#hits = new Uint16Array(memories.length);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** The ids of the memories that a text repeats in other words, or cites. */
  matchedIn(text: string): ReadonlySet<string> {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const matched = new Set(this.#citedIn(read));
    const sentences = this.#numbersBySentence(read);
    // Few texts have enough of any memory at all, and only they are looked at sentence by sentence.
    const rows = this.#hitBy(sentences, ({ needed }) => needed);
    for (const row of matchedWithin(sentences, rows)) matched.add(row.id);
    return matched;
  }

  /** The ids of the memories that stand in a text as they are, case, white space and punctuation aside, or by their id. */
  containedIn(text: string): ReadonlySet<string> {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const contained = new Set(this.#citedIn(read));
    const rows = this.#hitBy(this.#numbersBySentence(read), ({ stems }) => stems.size);
    const whole = rows.length === 0 ? "" : comparable(read);
    for (const row of rows) if (row.comparable !== "" && whole.includes(row.comparable)) contained.add(row.id);
    return contained;
  }

  *#citedIn(text: string): Generator<string> {
    if (this.#ids.size === 0) return;
    for (const [token] of text.matchAll(CITATION)) {
      if (PLAIN_WORD.test(token)) continue;
      for (const id of [token, token.replace(/[._:-]+$/, "")]) if (this.#ids.has(id)) yield id;
    }
  }

  /** Rows of which at least so many stems are in some of the sentences. */
  #hitBy(sentences: readonly (readonly number[])[], needed: (row: Row) => number): readonly Row[] {
    const touched: number[] = [];
    for (const number of new Set(sentences.flat())) {
      for (const row of this.#postings[number] as number[]) {
        const hits = (this.#hits[row] as number) + 1;
        this.#hits[row] = hits;
        if (hits === 1) touched.push(row);
      }
    }
    const found = touched.filter((row) => (this.#hits[row] as number) >= needed(this.#rows[row] as Row));
    for (const row of touched) this.#hits[row] = 0;
    return found.sort((a, b) => a - b).map((row) => this.#rows[row] as Row);
  }

  /**
   * The numbers of the stems of each sentence, as far as a memory has them. A text in another language is also read as
   * English, in which most names and many statements are.
   */
  #numbersBySentence(text: string): readonly (readonly number[])[] {
    const own = this.#stems.language(text);
    const readAs: readonly Language[] = own === inEnglish ? [own] : [own, inEnglish];
    const sentences: (readonly number[])[] = [];
    const budget = { chars: SEGMENTED_CHARS_MAX };
    for (const sentence of sentencesOf(text)) {
      const numbers = new Set<number>();
      for (const word of this.#stems.words(sentence.text, budget)) {
        for (const language of readAs) {
          const number = this.#numbers.get(this.#stems.stem(word, language));
          if (number !== undefined) numbers.add(number);
        }
      }
      sentences.push([...numbers]);
    }
    return sentences;
  }

  #numberOf(stem: string): number {
    const known = this.#numbers.get(stem);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(stem, number);
    this.#postings.push([]);
    return number;
  }
}

/** The rows that have enough of their stems in three consecutive sentences: a window slides over them, and counts. */
function matchedWithin(sentences: readonly (readonly number[])[], rows: readonly Row[]): ReadonlySet<Row> {
  const matched = new Set<Row>();
  if (rows.length === 0) return matched;
  const rowsByStem = new Map<number, number[]>();
  for (const [at, { stems }] of rows.entries()) {
    for (const stem of stems) {
      const known = rowsByStem.get(stem);
      if (known === undefined) rowsByStem.set(stem, [at]);
      else known.push(at);
    }
  }
  const hits = new Uint16Array(rows.length);
  const inWindow = new Map<number, number>();
  for (const [at, entering] of sentences.entries()) {
    for (const stem of sentences[at - WINDOW_SENTENCES] ?? []) {
      const left = (inWindow.get(stem) as number) - 1;
      inWindow.set(stem, left);
      if (left === 0) for (const row of rowsByStem.get(stem) ?? []) hits[row] = (hits[row] as number) - 1;
    }
    for (const stem of entering) {
      const before = inWindow.get(stem) ?? 0;
      inWindow.set(stem, before + 1);
      if (before > 0) continue;
      for (const row of rowsByStem.get(stem) ?? []) {
        hits[row] = (hits[row] as number) + 1;
        const { needed } = rows[row] as Row;
        if ((hits[row] as number) >= needed) matched.add(rows[row] as Row);
      }
    }
  }
  return matched;
}
