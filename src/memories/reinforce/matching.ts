// Which memories a text repeats, asked of all of them at once: an index from stems to memories, so that ten thousand cost
// about as much as the words of the text.
import { comparable, SEPARATORS } from "../judge/comparable.js";
import { type Clause, clausesOf } from "../negation.js";
import { inEnglish, type Language } from "../text/languages.js";
import { type Sentence, sentencesOf } from "../text/sentences.js";
import { SEGMENTED_CHARS_MAX, type Stems } from "../text/stems.js";

/** A memory is matched within this many consecutive sentences: words scattered over a text mean something else. */
export const WINDOW_SENTENCES = 3;
/** A memory with fewer stems needs all of them in one sentence, which denies what it denies. */
const STEMS_OF_SHORT_MAX = 3;

/** What lies behind this of one text is not looked at: the output of a tool can be long, and repeats nothing there. */
export const TEXT_CHARS_MAX = 1_000_000;

/** Words whose numbers are kept; then they are worked out anew. */
const WORDS_KEPT_MAX = 100_000;

/** How many distinct stems of a memory a match needs. */
export function stemsNeeded(stems: number): number {
  if (stems <= STEMS_OF_SHORT_MAX) return stems;
  return stems > 15 ? Math.max(12, Math.ceil(stems * 0.35)) : Math.max(4, Math.ceil(stems * 0.7));
}

interface IndexedMemory {
  readonly id: string;
  readonly content: string;
}

interface Row {
  readonly id: string;
  /** The numbers of its stems. */
  readonly numbers: readonly number[];
  readonly comparable: string;
  readonly isDenied: boolean;
}

/** A sentence with the numbers of its stems, as far as a memory has them. */
interface NumberedSentence extends Sentence {
  readonly numbers: readonly number[];
}

/** How far around a repeated memory its sentence is looked for. */
const AROUND_CHARS = 400;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

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
  /** Memories of stop words alone: they can only be repeated word for word. */
  readonly #stemless: readonly Row[];
  /** The languages of the memories, and English. */
  readonly #languages = new Set<Language>([inEnglish]);
  /** The number of a word's stem, or -1 where no memory has it. */
  readonly #numbersByWord = new Map<Language, Map<string, number>>();

  constructor(memories: readonly IndexedMemory[], stems: Stems) {
    this.#stems = stems;
    this.#rows = memories.map(({ id, content }, row) => {
      this.#languages.add(stems.language(content));
      const numbers = [...new Set([...stems.of(content)].map((stem) => this.#numberOf(stem)))];
      for (const number of numbers) (this.#postings[number] as number[]).push(row);
      const isDenied = this.#clausesOf(content).some((clause) => clause.isDenied);
      return { id, numbers, comparable: comparable(content), isDenied };
    });
    this.#ids = new Set(memories.map(({ id }) => id));
    this.#hits = new Uint16Array(memories.length);
    this.#sizes = Uint16Array.from(this.#rows, ({ numbers }) => numbers.length);
    this.#needed = this.#sizes.map(stemsNeeded);
    this.#stemless = this.#rows.filter(({ numbers }) => numbers.length === 0);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** The ids of the memories that a text repeats, word for word or in other words, or cites. */
  matchedIn(text: string): ReadonlySet<string> {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const matched = new Set(this.#citedIn(read));
    const sentences = this.#numberedSentences(read);
    const unmatched: Row[] = [...this.#stemless];
    // Few texts have enough of any memory at all, and only they are looked at sentence by sentence.
    if (this.#hitBy(sentences, this.#needed).length > 0) {
      const near = this.#nearIn(sentences);
      for (const row of near) if (!isShort(row)) matched.add(row.id);
      for (const row of this.#shortIn(sentences, [...near].filter(isShort))) matched.add(row.id);
      const repeatable = this.#hitBy(sentences, this.#sizes).filter((row) => near.has(row) || !isShort(row));
      unmatched.push(...repeatable.filter(({ id }) => !matched.has(id)));
    }
    for (const row of repeatedIn(read, unmatched)) if (this.#isSaid(row, read)) matched.add(row.id);
    return matched;
  }

  /** The ids of the memories that stand in a text as they are, case, white space and punctuation aside, or by their id. */
  containedIn(text: string): ReadonlySet<string> {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const contained = new Set(this.#citedIn(read));
    const rows = [...this.#hitBy(this.#numberedSentences(read), this.#sizes), ...this.#stemless];
    for (const row of repeatedIn(read, rows)) contained.add(row.id);
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
  #hitBy(sentences: readonly NumberedSentence[], needed: Uint16Array): readonly Row[] {
    const found: number[] = [];
    const hits = this.#hits;
    for (const number of new Set(sentences.flatMap(({ numbers }) => numbers))) {
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
   * The sentences of a text with the numbers of their stems. A text is read in its own language, in English, in which most
   * names and many statements are, and in those of the memories, which may stand in it as they are.
   */
  #numberedSentences(text: string): readonly NumberedSentence[] {
    const readAs = new Set([this.#stems.language(text), ...this.#languages]);
    const budget = { chars: SEGMENTED_CHARS_MAX };
    const sentences: NumberedSentence[] = [];
    for (const sentence of sentencesOf(text)) {
      const words = this.#stems.words(sentence.text, budget);
      sentences.push({ ...sentence, numbers: [...this.#numbersIn(words, readAs)] });
    }
    return sentences;
  }

  #numbersIn(words: readonly string[], readAs: Iterable<Language>): ReadonlySet<number> {
    const numbers = new Set<number>();
    for (const word of words) {
      for (const language of readAs) {
        const number = this.#numberOfWord(word, language);
        if (number !== -1) numbers.add(number);
      }
    }
    return numbers;
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
  #nearIn(sentences: readonly NumberedSentence[]): ReadonlySet<Row> {
    const matched = new Set<Row>();
    const hits = this.#hits;
    const inWindow = new Map<number, number>();
    for (let at = 0; at < sentences.length + WINDOW_SENTENCES; at += 1) {
      for (const stem of sentences[at - WINDOW_SENTENCES]?.numbers ?? []) {
        const left = (inWindow.get(stem) as number) - 1;
        inWindow.set(stem, left);
        if (left === 0) for (const row of this.#postings[stem] as number[]) hits[row] = (hits[row] as number) - 1;
      }
      for (const stem of sentences[at]?.numbers ?? []) {
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

  /** Of the short ones among these rows, those that have all their stems in one sentence that denies what they deny. */
  *#shortIn(sentences: readonly NumberedSentence[], rows: readonly Row[]): Generator<Row> {
    if (rows.length === 0) return;
    const deniedBySentence = new Map<NumberedSentence, ReadonlySet<number>>();
    const sentencesByNumber = new Map<number, NumberedSentence[]>();
    for (const sentence of sentences) {
      for (const number of sentence.numbers) {
        const found = sentencesByNumber.get(number);
        if (found === undefined) sentencesByNumber.set(number, [sentence]);
        else found.push(sentence);
      }
    }
    for (const row of rows) {
      const isSaidIn = (sentence: NumberedSentence): boolean => {
        if (!row.numbers.every((number) => sentence.numbers.includes(number))) return false;
        const denied = deniedBySentence.get(sentence) ?? this.#deniedIn(sentence.text);
        deniedBySentence.set(sentence, denied);
        return row.isDenied === row.numbers.some((number) => denied.has(number));
      };
      const having = row.numbers.map((number) => sentencesByNumber.get(number) ?? []);
      const fewest = having.toSorted((one, other) => one.length - other.length)[0];
      if (fewest?.some(isSaidIn) === true) yield row;
    }
  }

  /** The numbers of the stems in the clauses of a sentence that are denied. */
  #deniedIn(sentence: string): ReadonlySet<number> {
    const words = this.#clausesOf(sentence).flatMap((clause) => (clause.isDenied ? clause.words : []));
    return this.#numbersIn(words, [this.#stems.language(sentence), ...this.#languages]);
  }

  /** Whether a text has the memory word for word in a place where nothing around it denies it. */
  #isSaid({ comparable: words }: Row, text: string): boolean {
    const read = text.normalize("NFKC");
    for (const { index, 0: found } of read.matchAll(patternOf(words))) {
      const from = Math.max(0, index - AROUND_CHARS);
      const end = index + found.length;
      const around = read.slice(from, end + AROUND_CHARS);
      const touched = [...sentencesOf(around)].filter((one) => from + one.end > index && from + one.start < end);
      const before = around.slice(touched[0]?.start ?? 0, index - from);
      const after = around.slice(end - from, touched.at(-1)?.end);
      const isDenied = this.#clausesOf(before).at(-1)?.isDenied || this.#clausesOf(after)[0]?.isDenied;
      if (!isDenied) return true;
    }
    return false;
  }

  #clausesOf(text: string): readonly Clause[] {
    return clausesOf(text, (part) => this.#stems.words(part));
  }
}

function isShort({ numbers }: Row): boolean {
  return numbers.length <= STEMS_OF_SHORT_MAX;
}

/** Those of these rows whose text stands in another one, case, white space and punctuation aside. */
function repeatedIn(text: string, rows: readonly Row[]): readonly Row[] {
  if (rows.length === 0) return [];
  const whole = comparable(text);
  const places = placesByWord(whole);
  return rows.filter((row) => {
    if (row.comparable === "") return false;
    if (UNSPACED.test(row.comparable)) return whole.includes(row.comparable);
    // From where its rarest word stands: to search a long text for each of thousands of memories takes seconds.
    let fewest: { readonly at: number; readonly places: readonly number[] } | undefined;
    for (const [word, [at = 0]] of placesByWord(row.comparable)) {
      const found = places.get(word) ?? [];
      if (fewest === undefined || found.length < fewest.places.length) fewest = { at, places: found };
    }
    const isAt = (place: number): boolean => {
      const end = place + row.comparable.length;
      const isWhole = (place === 0 || whole[place - 1] === " ") && (end === whole.length || whole[end] === " ");
      return isWhole && whole.startsWith(row.comparable, place);
    };
    return fewest?.places.some((place) => place >= fewest.at && isAt(place - fewest.at)) === true;
  });
}

/** Where each word of a comparable text begins. */
function placesByWord(whole: string): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  let at = 0;
  for (const word of whole.split(" ")) {
    const known = places.get(word);
    if (known === undefined) places.set(word, [at]);
    else known.push(at);
    at += word.length + 1;
  }
  return places;
}

/** Where words in their comparable form stand in a text, as whole words where its script has spaces. */
function patternOf(words: string): RegExp {
  const [first = "", last = ""] = [words.at(0), words.at(-1)];
  const escaped = words.split(" ").map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const opens = UNSPACED.test(first) ? "" : "(?<![\\p{L}\\p{N}])";
  const closes = UNSPACED.test(last) ? "" : "(?![\\p{L}\\p{N}])";
  return new RegExp(`${opens}${escaped.join(SEPARATORS.source)}${closes}`, "giu");
}
