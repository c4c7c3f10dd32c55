// The stems of a text, by which statements are compared: its words without inflection and without stop words, in nine languages.
// Stemming a word takes over a microsecond and a lookup a tenth of that, so both words and texts are cached.

import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stopwords as englishStopWords } from "@orama/stopwords/english";
import { stopwords as japaneseStopWords } from "@orama/stopwords/japanese";
import { stopwords as mandarinStopWords } from "@orama/stopwords/mandarin";
import { deu, eng, fra, ita, nld, por, rus, spa, swe } from "stopword";
import { chunksOf, eachWord, type SegmentingBudget } from "../../reflect/words.js";

/** A cache is cleared as a whole when it is full. */
const WORDS_KEPT_MAX = 100_000;
const TEXTS_KEPT_MAX = 20_000;
const TEXT_KEPT_CHARS_MAX = 1_000;

/** The beginning of a text tells its language. */
const LANGUAGE_CHARS = 2_000;
/** Segmenting scripts without spaces takes some 2 µs a character; the rest of a longer text is skipped. */
export const SEGMENTED_CHARS_MAX = 200_000;

const IS_LATIN_LETTER = /^\p{Script=Latin}$/u;
const IS_KANA_LETTER = /^[\p{Script=Hiragana}\p{Script=Katakana}ー]$/u;
const ELIDED = /^(?:[ldjnsmtc]|qu|un|all|dell|nell|sull|dall)'/;

export class Stems {
  readonly #stemsByLanguage = new Map<string, Map<string, string>>();
  readonly #textsByLanguage = new Map<string, Map<string, ReadonlySet<string>>>();
  readonly #languages = new Map<string, Language>();

  /**
   * The words of a text in the order in which they stand there, in lower case, stop words included. For one
   * text in parts gives one budget for all of it.
   */
  words(text: string, budget: SegmentingBudget = { chars: SEGMENTED_CHARS_MAX }): readonly string[] {
    const words: string[] = [];
    for (const chunk of chunksOf(text, text.length)) {
      eachWord(chunk, budget, (from, start, end) => words.push(from.slice(start, end)));
    }
    return words;
  }

  /** The language whose stop words a text has most of; English where none has more. */
  language(text: string): Language {
    const beginning = text.slice(0, LANGUAGE_CHARS);
    const kept = this.#languages.get(beginning);
    if (kept !== undefined) return kept;
    const words = this.words(beginning);
    let found = inEnglish;
    let most = 0;
    for (const language of languages) {
      const count = words.reduce((sum, word) => sum + Number(isStopWord(word, language)), 0);
      if (count > most) {
        most = count;
        found = language;
      }
    }
    if (beginning.length <= TEXT_KEPT_CHARS_MAX) keep(this.#languages, beginning, found, TEXTS_KEPT_MAX);
    return found;
  }

  /** The distinct stems of a text without stop words, in its own language or in the one named. */
  of(text: string, language: Language = this.language(text)): ReadonlySet<string> {
    const texts = this.#within(this.#textsByLanguage, language);
    const kept = texts.get(text);
    if (kept !== undefined) return kept;
    const stems = new Set<string>();
    for (const word of this.words(text)) {
      const stem = this.stem(word, language);
      if (stem !== "") stems.add(stem);
    }
    if (text.length <= TEXT_KEPT_CHARS_MAX) keep(texts, text, stems, TEXTS_KEPT_MAX);
    return stems;
  }

  /** The stem of a word as `words` returns it; empty for a stop word. */
  stem(word: string, language: Language): string {
    const stems = this.#within(this.#stemsByLanguage, language);
    const kept = stems.get(word);
    if (kept !== undefined) return kept;
    const stem = stemmed(word, language);
    keep(stems, word, stem, WORDS_KEPT_MAX);
    return stem;
  }

  /**
   * How similar two statements are, from 0 to 1: the share of their stems that both have. Both languages are tried, because a
   * statement may be too short to tell its own.
   */
  similarity(one: string, other: string): number {
    const own = this.language(one);
    const others = this.language(other);
    const similarity = jaccard(this.of(one, own), this.of(other, own));
    return own === others ? similarity : Math.max(similarity, jaccard(this.of(one, others), this.of(other, others)));
  }

  #within<T>(byLanguage: Map<string, Map<string, T>>, { name }: Language): Map<string, T> {
    const known = byLanguage.get(name);
    if (known !== undefined) return known;
    const fresh = new Map<string, T>();
    byLanguage.set(name, fresh);
    return fresh;
  }
}

/** The Jaccard similarity of two sets; 0 where both are empty. */
export function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  let common = 0;
  for (const member of small) common += Number(large.has(member));
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}

/** Whether a word is a stop word of a language, or begins with an elided one. */
function isStopWord(word: string, { stopWords, elides }: Language): boolean {
  return stopWords.has(word) || (elides && word.includes("'") && ELIDED.test(word));
}

function stemmed(word: string, language: Language): string {
  const bare = (language.elides ? word.replace(ELIDED, "") : word).replace(/'s?$/, "");
  if (language.stopWords.has(word) || language.stopWords.has(bare) || unspacedStopWords.has(bare)) return "";
  // A single Latin letter or kana is a variable, a particle or a fragment.
  if (IS_LATIN_LETTER.test(bare) || IS_KANA_LETTER.test(bare)) return "";
  return language.stem(bare);
}

function keep<T>(into: Map<string, T>, key: string, value: T, countMax: number): void {
  if (into.size >= countMax) into.clear();
  into.set(key, value);
}

export interface Language {
  readonly name: string;
  readonly stem: (word: string) => string;
  readonly stopWords: ReadonlySet<string>;
  /** Whether short words are elided before a vowel: l'utilisateur, dell'utente. */
  readonly elides: boolean;
}

/** Contractions without their apostrophe, which the lists lack. */
const TYPED =
  "dont doesnt didnt cant wont isnt arent wasnt werent couldnt wouldnt shouldnt thats theres youre im ive id";

export const inEnglish: Language = language("english", english, [...englishStopWords, ...eng, ...TYPED.split(" ")]);

/** In a tie the first language wins. */
const languages: readonly Language[] = [
  inEnglish,
  language("german", german, deu),
  language("french", french, fra, true),
  language("spanish", spanish, spa),
  language("italian", italian, ita, true),
  language("portuguese", portuguese, por),
  language("dutch", dutch, nld),
  language("swedish", swedish, swe),
  language("russian", russian, rus),
];

/** Stop words of scripts without spaces cannot be words of another language. */
const unspacedStopWords: ReadonlySet<string> = new Set([...mandarinStopWords, ...japaneseStopWords].map(comparable));

function language(
  name: string,
  stem: (word: string) => string,
  stopWords: readonly string[],
  elides = false,
): Language {
  return { name, stem, stopWords: new Set(stopWords.map(comparable)), elides };
}

function comparable(word: string): string {
  return word.normalize("NFC").toLowerCase().replaceAll("’", "'");
}
