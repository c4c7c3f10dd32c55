// Which memories a text repeats, asked of all of them at once: an index from stems to memories, so that ten thousand cost
// about as much as the words of the text.
import { comparable } from "./comparable.js";
import { inEnglish, type Language } from "./languages.js";
import { sentencesOf } from "./sentences.js";
import { SEGMENTED_CHARS_MAX, type Stems } from "./stems.js";

/** A memory is matched within so many consecutive sentences: words that lie scattered over a text mean something else. */
export const WINDOW_SENTENCES = 3;

/** What lies behind this of one text is not looked at: the output of a tool can be long, and repeats nothing there. */
export const TEXT_CHARS_MAX = 1_000_000;

/** Words whose numbers are kept; then they are worked out anew. */
const WORDS_KEPT_MAX = 100_000;

/** How many distinct stems of a memory a match needs. */
export function stemsNeeded(stems: number): number {
  return stems > 15 ? Math.max(12, Math.ceil(stems * 0.35)) : Math.max(4, Math.ceil(stems * 0.7));
}

interface IndexedMemory {
  readonly id: string;
  readonly content: string;
}

interface Row {
  readonly id: string;
  /** How many stems it has. */
  readonly size: number;
  readonly comparable: string;
}

/** What may be an id among words. */
const TOKEN = /[A-Za-z0-9][A-Za-z0-9._:-]{2,127}/g;
/** As ids are made here: nobody writes one by chance. */
const MADE_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** An id that somebody chose may be a word, a number or the name of a file: it is cited where it is called a memory, or calls itself one. */
const CALLED_MEMORY = /\bmemory[\s"'`([#]{1,4}$/i;
const CALLS_ITSELF_MEMORY = /^m(?:em(?:ory)?)?[-_:.]/i;
const CALLED_CHARS = 12;

export class MemoryIndex {
  readonly #stems: Stems;
  readonly #rows: readonly Row[];
  readonly #numbers = new Map<string, number>();
  /** By number of a stem: the rows that have it. */
  readonly #postings: number[][] = [];
  readonly #ids: ReadonlySet<string>;
  /** How often each row was hit by the text that is being looked at; zero in between. */
  readonly #hits: Uint16Array;
  /** By row: how many stems it has, and how many of them a match needs. */
  readonly #sizes: Uint16Array;
  readonly #needed: Uint16Array;
  /** The number of a word's stem, or -1 where no memory has it. */
  readonly #numbersByWord = new Map<Language, Map<string, number>>();

  constructor(memories: readonly IndexedMemory[], stems: Stems) {
    this.#stems = stems;
    this.#rows = memories.map(({ id, content }, row) => {
      const numbers = new Set([...stems.of(content)].map((stem) => this.#numberOf(stem)));
      for (const number of numbers) (this.#postings[number] as number[]).push(row);
      return { id, size: numbers.size, comparable: comparable(content) };
    });
    this.#ids = new Set(memories.map(({ id }) => id));
    this.#hits = new Uint16Array(memories.length);
    this.#sizes = Uint16Array.from(this.#rows, ({ size }) => size);
    this.#needed = this.#sizes.map(stemsNeeded);
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
    if (this.#hitBy(sentences, this.#needed).length === 0) return matched;
    for (const row of this.#matchedWithin(sentences)) matched.add(row.id);
    return matched;
  }

  /** The ids of the memories that stand in a text as they are, case, white space and punctuation aside, or by their id. */
  containedIn(text: string): ReadonlySet<string> {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const contained = new Set(this.#citedIn(read));
    const rows = this.#hitBy(this.#numbersBySentence(read), this.#sizes);
    const whole = rows.length === 0 ? "" : comparable(read);
    for (const row of rows) if (row.comparable !== "" && whole.includes(row.comparable)) contained.add(row.id);
    return contained;
  }

  *#citedIn(text: string): Generator<string> {
    if (this.#ids.size === 0) return;
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      for (const id of [token, token.replace(/[._:-]+$/, "")]) {
        if (!this.#ids.has(id)) continue;
        const before = text.slice(Math.max(0, index - CALLED_CHARS), index);
        if (MADE_ID.test(id) || CALLS_ITSELF_MEMORY.test(id) || CALLED_MEMORY.test(before)) yield id;
      }
    }
  }

  /** Rows of which the sentences have as many stems, taken together, as they need. */
  #hitBy(sentences: readonly (readonly number[])[], needed: Uint16Array): readonly Row[] {
    const found: number[] = [];
    const hits = this.#hits;
    for (const number of new Set(sentences.flat())) {
      for (const row of this.#postings[number] as number[]) {
        const count = (hits[row] as number) + 1;
        hits[row] = count;
        if (count === needed[row]) found.push(row);
      }
    }
    hits.fill(0);
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
          const number = this.#numberOfWord(word, language);
          if (number !== -1) numbers.add(number);
        }
      }
      sentences.push([...numbers]);
    }
    return sentences;
  }

  #numberOfWord(word: string, language: Language): number {
    let byWord = this.#numbersByWord.get(language);
    if (byWord === undefined) {
      byWord = new Map();
      this.#numbersByWord.set(language, byWord);
    }
    const known = byWord.get(word);
    if (known !== undefined) return known;
    if (byWord.size >= WORDS_KEPT_MAX) byWord.clear();
    const number = this.#numbers.get(this.#stems.stem(word, language)) ?? -1;
    byWord.set(word, number);
    return number;
  }

  #numberOf(stem: string): number {
    const known = this.#numbers.get(stem);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(stem, number);
    this.#postings.push([]);
    return number;
  }

  /** The rows that have enough of their stems in three consecutive sentences: a window slides over them, and counts. */
  #matchedWithin(sentences: readonly (readonly number[])[]): ReadonlySet<Row> {
    const matched = new Set<Row>();
    const hits = this.#hits;
    const inWindow = new Map<number, number>();
    for (let at = 0; at < sentences.length + WINDOW_SENTENCES; at += 1) {
      for (const stem of sentences[at - WINDOW_SENTENCES] ?? []) {
        const left = (inWindow.get(stem) as number) - 1;
        inWindow.set(stem, left);
        if (left === 0) for (const row of this.#postings[stem] as number[]) hits[row] = (hits[row] as number) - 1;
      }
      for (const stem of sentences[at] ?? []) {
        const before = inWindow.get(stem) ?? 0;
        inWindow.set(stem, before + 1);
        if (before > 0) continue;
        for (const row of this.#postings[stem] as number[]) {
          const count = (hits[row] as number) + 1;
          hits[row] = count;
          if (count >= (this.#needed[row] as number)) matched.add(this.#rows[row] as Row);
        }
      }
    }
    return matched;
  }
}
