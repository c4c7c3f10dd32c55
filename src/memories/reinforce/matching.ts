// Which memories a text repeats. An inverted index from stems to memories makes the time depend on the words of the text, not on the
// number of memories.
import { comparable } from "../judge/statement.js";
import { answersNo, type Clause, clauseAround, clauseBeginning, clausesOf, deniesUnspaced } from "../text/negation.js";
import { type Sentence, sentencesOf } from "../text/sentences.js";
import { inEnglish, type Language, SEGMENTED_CHARS_MAX, type Stems } from "../text/stems.js";

/** A memory matches within this many consecutive sentences; scattered words do not count. */
export const WINDOW_SENTENCES = 3;
/** A memory with no more stems needs all of them in one sentence, with the same negation. */
const STEMS_OF_SHORT_MAX = 3;

/** Only the beginning of a longer text is read. */
export const TEXT_CHARS_MAX = 1_000_000;

/** Size of the cache of words. */
const WORDS_CACHED_MAX = 100_000;

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
  /** The numbers in it, each whole: 4747.5 is not 4747. */
  readonly figures: readonly string[];
}

/** A sentence with the numbers of its stems that occur in memories. */
interface NumberedSentence extends Sentence {
  readonly numbers: readonly number[];
  /** Whether it is a question that is answered with no, or an item of a list below "Don't:". */
  readonly isTurnedDown: boolean;
}

/** How far around a repeated memory a negation is searched for in its sentence. */
const AROUND_CHARS = 400;
const FIGURES = /\p{Nd}+(?:[.,]\p{Nd}+)*/gu;
const IS_QUESTION = /[?？]["'”’»)\]*_`」』）]*$/u;
const OPENS_LIST = /[:：]["'*_`]*$/u;
const IS_LIST_ITEM = /^(?:[-*+•]|\d{1,3}[.)])\s/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** What may be an id among words. */
const TOKEN = /[A-Za-z0-9][A-Za-z0-9._:-]{2,127}/g;
/** A UUID, which is never written by chance. */
const MADE_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** Any other id may be a word, a number or a file name: it counts as cited where it is called a memory, or begins like one. */
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
  /** Hits per row for the text being read; zero in between. */
  readonly #hits: Uint16Array;
  /** By row: how many stems it has, and how many of them a match needs. */
  readonly #sizes: Uint16Array;
  readonly #needed: Uint16Array;
  /** Memories of stop words alone, which can only match word for word. */
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
      return { id, numbers, comparable: comparable(content), isDenied, figures: figuresIn(content) };
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
    const read = text.slice(0, TEXT_CHARS_MAX).normalize("NFKC");
    const cited = new Set(this.#citedIn(read));
    const matched = new Set(cited);
    const sentences = this.#numberedSentences(read);
    const repeatable = new Set(this.#stemless);
    // Most texts have too few stems of any memory and need no closer look.
    if (this.#hitBy(sentences, this.#needed).length > 0) {
      const near = this.#nearIn(sentences);
      const isLong = (row: Row): boolean => !isShort(row);
      for (const row of near) if (isLong(row)) matched.add(row.id);
      for (const row of this.#shortIn(sentences, [...near].filter(isShort))) matched.add(row.id);
      for (const row of this.#hitBy(sentences, this.#sizes)) {
        if (isLong(row) || (near.has(row) && !matched.has(row.id))) repeatable.add(row);
      }
    }
    if (repeatable.size === 0) return matched;
    const repeated = new RepeatedText(read);
    for (const row of repeatable) {
      const isSaid = this.#isSaid(row, repeated, sentences);
      if (isSaid === true) matched.add(row.id);
      // A memory that is denied word for word is not repeated.
      else if (isSaid === false && !cited.has(row.id)) matched.delete(row.id);
    }
    return matched;
  }

  /** The ids of the memories that a text has word for word, ignoring case, white space and punctuation, or cites by id. */
  containedIn(text: string): ReadonlySet<string> {
    const read = text.slice(0, TEXT_CHARS_MAX);
    const contained = new Set(this.#citedIn(read));
    const rows = [...this.#hitBy(this.#numberedSentences(read), this.#sizes), ...this.#stemless];
    const repeated = rows.length === 0 ? undefined : new RepeatedText(read);
    for (const row of rows) if (repeated?.has(row.comparable)) contained.add(row.id);
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

  /** Rows whose sentences together have enough stems. */
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
   * The sentences of a text with the numbers of their stems: in its own language, in English, and in those of the memories.
   */
  #numberedSentences(text: string): readonly NumberedSentence[] {
    const readAs = new Set([this.#stems.language(text), ...this.#languages]);
    const budget = { chars: SEGMENTED_CHARS_MAX };
    const sentences = [...sentencesOf(text)];
    let isListDenied = false;
    return sentences.map((sentence, at) => {
      const words = this.#stems.words(sentence.text, budget);
      const next = sentences[at + 1]?.text ?? "";
      const isRefused = IS_QUESTION.test(sentence.text) && answersNo(next, (part) => this.#stems.words(part));
      const isItem = IS_LIST_ITEM.test(sentence.text);
      const isTurnedDown = isRefused || (isItem && isListDenied);
      if (OPENS_LIST.test(sentence.text) && IS_LIST_ITEM.test(next)) {
        isListDenied = this.#clausesOf(sentence.text).some((clause) => clause.isDenied);
      } else if (!isItem) isListDenied = false;
      return { ...sentence, numbers: [...this.#numbersIn(words, readAs)], isTurnedDown };
    });
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
    if (byWord.size >= WORDS_CACHED_MAX) byWord.clear();
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

  /** The rows that have enough stems in three consecutive sentences, counted with a sliding window. */
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

  /** Of these short rows, those with all their stems in one sentence with the same negation. */
  *#shortIn(sentences: readonly NumberedSentence[], rows: readonly Row[]): Generator<Row> {
    if (rows.length === 0) return;
    const deniedBySentence = new Map<NumberedSentence, ReadonlySet<number>>();
    const figuresBySentence = new Map<NumberedSentence, ReadonlySet<string>>();
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
        const figures = figuresBySentence.get(sentence) ?? new Set(figuresIn(sentence.text));
        figuresBySentence.set(sentence, figures);
        if (!row.figures.every((figure) => figures.has(figure))) return false;
        const denied = deniedBySentence.get(sentence) ?? this.#deniedIn(sentence.text);
        deniedBySentence.set(sentence, denied);
        const isDenied = sentence.isTurnedDown || row.numbers.some((number) => denied.has(number));
        return row.isDenied === isDenied;
      };
      const having = row.numbers.map((number) => sentencesByNumber.get(number) ?? []);
      const fewest = having.toSorted((one, other) => one.length - other.length)[0];
      if (fewest?.some(isSaidIn) === true) yield row;
    }
  }

  /** The numbers of the stems in denied clauses of a sentence. */
  #deniedIn(sentence: string): ReadonlySet<number> {
    const words = this.#clausesOf(sentence).flatMap((clause) => (clause.isDenied ? clause.words : []));
    return this.#numbersIn(words, [this.#stems.language(sentence), ...this.#languages]);
  }

  /** Whether a text has the memory word for word and not denied; undefined where it does not have it. */
  #isSaid(row: Row, repeated: RepeatedText, sentences: readonly NumberedSentence[]): boolean | undefined {
    let isDeniedOnly = false;
    for (const { start, end } of repeated.rangesOf(row.comparable)) {
      const { read } = repeated;
      isDeniedOnly = true;
      const at = firstEndingAfter(sentences, start);
      const first = sentences[at];
      if (first?.isTurnedDown === true) continue;
      let last = at;
      while ((sentences[last + 1]?.start ?? end) < end) last += 1;
      const from = Math.max(first?.start ?? start, start - AROUND_CHARS);
      const to = Math.min(Math.max(sentences[last]?.end ?? end, end), end + AROUND_CHARS);
      const isDenied =
        this.#clausesOf(read.slice(from, start)).at(-1)?.isDenied ||
        this.#clausesOf(clauseBeginning(read.slice(end, to)))[0]?.isDenied ||
        (!row.isDenied && deniesUnspaced(clauseAround(read.slice(from, to), start - from, end - from)));
      if (!isDenied) return true;
    }
    return isDeniedOnly ? false : undefined;
  }

  #clausesOf(text: string): readonly Clause[] {
    return clausesOf(text, (part) => this.#stems.words(part));
  }
}

function isShort({ numbers }: Row): boolean {
  return numbers.length <= STEMS_OF_SHORT_MAX;
}

/** A range of a text. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** Binary search for the first sentence that ends after a place. */
function firstEndingAfter(sentences: readonly NumberedSentence[], place: number): number {
  let [from, to] = [0, sentences.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sentences[middle] as NumberedSentence).end <= place) from = middle + 1;
    else to = middle;
  }
  return from;
}

function figuresIn(text: string): readonly string[] {
  return text.normalize("NFKC").match(FIGURES) ?? [];
}

/** A text in which memories are searched for word for word, ignoring case, white space and punctuation. */
class RepeatedText {
  readonly read: string;
  /** Its comparable form. */
  readonly #whole: string;
  /** Of each word: where it begins in the comparable form, and where it stands in the text. */
  readonly #starts: number[] = [];
  readonly #words: Place[] = [];
  /** Where each word begins in the comparable form. */
  readonly #places: ReadonlyMap<string, readonly number[]>;

  /** The text is in Unicode's form NFKC. */
  constructor(read: string) {
    this.read = read;
    const parts: string[] = [];
    let at = 0;
    for (const { 0: part, index } of read.matchAll(WORDS)) {
      const word = part.toLowerCase();
      this.#starts.push(at);
      this.#words.push({ start: index, end: index + part.length });
      parts.push(word);
      at += word.length + 1;
    }
    this.#whole = parts.join(" ");
    this.#places = placesByWord(this.#whole);
  }

  has(words: string): boolean {
    for (const _ of this.rangesOf(words)) return true;
    return false;
  }

  /** Where words in their comparable form stand in the text. */
  *rangesOf(words: string): Generator<Place> {
    if (words === "") return;
    const length = words.length;
    for (const at of UNSPACED.test(words) ? this.#unspaced(words) : this.#spaced(words)) {
      const range = { start: this.#inText(at, false), end: this.#inText(at + length, true) };
      // A decimal point continues a number.
      if (ENDS_IN_DIGIT.test(words) && GOES_ON_IN_DIGITS.test(this.read.slice(range.end, range.end + 2))) continue;
      if (
        BEGINS_WITH_DIGIT.test(words) &&
        COMES_FROM_DIGITS.test(this.read.slice(Math.max(0, range.start - 2), range.start))
      )
        continue;
      yield range;
    }
  }

  *#unspaced(words: string): Generator<number> {
    for (let at = this.#whole.indexOf(words); at !== -1; at = this.#whole.indexOf(words, at + words.length)) {
      const isCut = (inside: string, outside: string): boolean => IS_SPACED.test(inside) && IS_SPACED.test(outside);
      const end = at + words.length;
      if (isCut(words.charAt(0), this.#whole.charAt(at - 1))) continue;
      if (isCut(words.charAt(words.length - 1), this.#whole.charAt(end))) continue;
      yield at;
    }
  }

  /** Starts at its rarest word: searching a long text for thousands of memories would take seconds. */
  *#spaced(words: string): Generator<number> {
    let fewest: { readonly at: number; readonly places: readonly number[] } | undefined;
    for (const [word, [at = 0]] of placesByWord(words)) {
      const places = this.#places.get(word) ?? [];
      if (fewest === undefined || places.length < fewest.places.length) fewest = { at, places };
    }
    for (const found of fewest?.places ?? []) {
      const place = found - (fewest?.at ?? 0);
      const end = place + words.length;
      if (place < 0 || !this.#whole.startsWith(words, place)) continue;
      if (place > 0 && this.#whole[place - 1] !== " ") continue;
      if (end === this.#whole.length || this.#whole[end] === " ") yield place;
    }
  }

  /** Maps a place in the comparable form to the text; an end belongs to the word before it. */
  #inText(at: number, isEnd: boolean): number {
    let [from, to] = [0, this.#starts.length];
    while (to - from > 1) {
      const middle = (from + to) >>> 1;
      const start = this.#starts[middle] as number;
      if (isEnd ? start < at : start <= at) from = middle;
      else to = middle;
    }
    const { start, end } = this.#words[from] as Place;
    return Math.min(end, start + at - (this.#starts[from] as number));
  }
}

/** Words, as the comparable form separates them. */
const WORDS = /(?:[#@%&]|(?![\s\p{P}`]).)+/gsu;
const IS_SPACED = /^(?!\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai})[\p{L}\p{N}]$/u;
const ENDS_IN_DIGIT = /\p{Nd}$/u;
const BEGINS_WITH_DIGIT = /^\p{Nd}/u;
const GOES_ON_IN_DIGITS = /^[.,]?\p{Nd}/u;
const COMES_FROM_DIGITS = /\p{Nd}[.,]?$/u;

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
