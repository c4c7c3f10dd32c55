// Stop words: those of a text's language, and always the English ones.
// The lists of many languages cannot be merged: "store", "local", "link" and "total" are stop words in some language.
// So the stop words of a text first identify its language.
import { stopwords as english } from "@orama/stopwords/english";
import { stopwords as japanese } from "@orama/stopwords/japanese";
import { stopwords as mandarin } from "@orama/stopwords/mandarin";
import * as lists from "stopword";

/** Frequent words in requests to an agent about any topic, and contractions typed without their apostrophe. */
const CHAT =
  "please thanks thank hello okay yeah just also really maybe actually want wants wanted wanna need needs needed help " +
  "tell know think give make made like look sure good well even ever much many every still already always never " +
  "something anything nothing everything someone anyone everyone another without within whether since until " +
  "dont doesnt didnt cant wont isnt arent wasnt werent couldnt wouldnt shouldnt whats thats theres youre theyre " +
  "gonna shall using used uses upon else instead rather going";

/** A text is in a language if this share of its words are the language's stop words, at least two different ones. */
const SHARE_MIN = 0.25;
const DISTINCT_MIN = 2;

const ENGLISH = 0;

const NONE: readonly number[] = [];
const ALWAYS: readonly number[] = [ENGLISH];

/** A word of a text: the languages that it is a stop word of, and how often the text has it. */
export interface ListedWord {
  readonly languages: readonly number[];
  readonly mentions: number;
}

export class StopWords {
  readonly #languagesByWord = new Map<string, readonly number[]>();
  #languages = 0;

  constructor() {
    const { eng, ...others } = lists as unknown as { readonly [name: string]: unknown };
    this.#add([...english, ...(eng as readonly string[]), ...CHAT.split(" ")]);
    for (const words of [mandarin, japanese, ...Object.values(others)]) if (Array.isArray(words)) this.#add(words);
  }

  /** The languages that a word is a stop word of, by number. */
  languagesOf(word: string): readonly number[] {
    return this.#languagesByWord.get(word) ?? NONE;
  }

  /**
   * Whether a text of so many words, with these stop words, is in a language. English
   * always is.
   */
  spokenIn(words: readonly ListedWord[], all: number): (language: number) => boolean {
    const spoken = this.#spokenIn(words, all);
    return (language) => language === ENGLISH || spoken.includes(language);
  }

  #spokenIn(words: readonly ListedWord[], all: number): readonly number[] {
    const mentions = new Int32Array(this.#languages);
    const distinct = new Int32Array(this.#languages);
    for (const { languages, mentions: count } of words) {
      for (const language of languages) {
        mentions[language] = (mentions[language] as number) + count;
        distinct[language] = (distinct[language] as number) + 1;
      }
    }
    const least = Math.max(all * SHARE_MIN, mentions[ENGLISH] as number);
    const spoken: number[] = [];
    for (let language = 1; language < mentions.length; language += 1) {
      if ((mentions[language] as number) >= least && (distinct[language] as number) >= DISTINCT_MIN) {
        spoken.push(language);
      }
    }
    return spoken;
  }

  #add(words: readonly string[]): void {
    const language = this.#languages;
    this.#languages += 1;
    for (const listed of words) {
      const word = listed.normalize("NFC").toLowerCase().replaceAll("’", "'");
      const known = this.#languagesByWord.get(word) ?? NONE;
      // In scripts other than Latin the lists do not conflict.
      const isLatin = /^[\p{Script=Latin}\p{M}']+$/u.test(word);
      if (!isLatin) this.#languagesByWord.set(word, ALWAYS);
      else if (known.at(-1) !== language) this.#languagesByWord.set(word, [...known, language]);
    }
  }
}
