// The languages whose words have stems here: how a word is stemmed, and which words say nothing.
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

export interface Language {
  readonly name: string;
  readonly stem: (word: string) => string;
  readonly stopWords: ReadonlySet<string>;
  /** Whether short words lose their vowel to the next one: l'utilisateur, dell'utente. */
  readonly elides: boolean;
}

/** Contractions typed without their apostrophe, which the lists lack. */
const TYPED =
  "dont doesnt didnt cant wont isnt arent wasnt werent couldnt wouldnt shouldnt thats theres youre im ive id";

export const inEnglish: Language = language("english", english, [...englishStopWords, ...eng, ...TYPED.split(" ")]);

/** English comes first: where two languages claim a text equally, it is English. */
export const languages: readonly Language[] = [
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

/** Scripts without spaces need no guess at the language: their stop words are nobody else's words. */
export const unspacedStopWords: ReadonlySet<string> = new Set(
  [...mandarinStopWords, ...japaneseStopWords].map(comparable),
);

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
