// Words that say nothing about a topic: those of the language that a text is in, English ones always.
//
// The lists of sixty languages cannot be thrown together: "store", "local", "link" and "total" are stop words
// somewhere. So a text is first asked which language its small words belong to.
import { stopwords as english } from "@orama/stopwords/english";
import { stopwords as japanese } from "@orama/stopwords/japanese";
import { stopwords as mandarin } from "@orama/stopwords/mandarin";
import * as lists from "stopword";

/** What people say to an agent whatever they talk about, and contractions typed without their apostrophe. */
const CHAT =
  "please thanks thank hello okay yeah just also really maybe actually want wants wanted wanna need needs needed help " +
  "tell know think give make made like look sure good well even ever much many every still already always never " +
  "something anything nothing everything someone anyone everyone another without within whether since until " +
  "dont doesnt didnt cant wont isnt arent wasnt werent couldnt wouldnt shouldnt whats thats theres youre theyre " +
  "gonna shall using used uses upon else instead rather going";

/** A language is spoken in a text where its stop words are this share of all words, and more than one of them. */
const SHARE_MIN = 0.25;
const DISTINCT_MIN = 2;

const ENGLISH = 0;

const NONE: readonly number[] = [];
const ALWAYS: readonly number[] = [ENGLISH];

/** A word of a text: the languages that it is a stop word of, and how often the text has it. */
export interface HeardWord {
  readonly languages: readonly number[];
  readonly heard: number;
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
   * Whether a language is spoken in a text of so many words, of which these are stop words of some language. English
   * always is.
   */
  spokenIn(words: readonly HeardWord[], all: number): (language: number) => boolean {
    const spoken = this.#spokenIn(words, all);
    return (language) => language === ENGLISH || spoken.includes(language);
  }

  #spokenIn(words: readonly HeardWord[], all: number): readonly number[] {
    const mentions = new Int32Array(this.#languages);
    const distinct = new Int32Array(this.#languages);
    for (const { languages, heard } of words) {
      for (const language of languages) {
        mentions[language] = (mentions[language] as number) + heard;
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
      // In other scripts than Latin the lists do not get in each other's way.
      const isLatin = /^[\p{Script=Latin}\p{M}']+$/u.test(word);
      if (!isLatin) this.#languagesByWord.set(word, ALWAYS);
      else if (known.at(-1) !== language) this.#languagesByWord.set(word, [...known, language]);
    }
  }
}
