// What in the record supports a statement: the words in which somebody said the same, and who said them.
import type { Evidence } from "../../model/memory.js";
import { areAtOdds, contradict } from "../judge/contradiction.js";
import { hedgeIn, isQuestion } from "../judge/hedges.js";
import { particularsOf, standsIn } from "../judge/particulars.js";
import { quoteOf } from "../propose/rules/prose.js";
import { saidIn } from "../propose/words/sentences.js";
import { stemsNeeded, TEXT_CHARS_MAX, WINDOW_SENTENCES } from "../reinforce/matching.js";
import type { QuotedEntry, Speaker, Spoken } from "../text/quoted-entry.js";
import { type Sentence, sentencesOf } from "../text/sentences.js";
import type { Language } from "../text/stems.js";
import { SEGMENTED_CHARS_MAX, type Stems } from "../text/stems.js";

/** Words in the record about what a statement is about. */
export interface Support {
  readonly evidence: Evidence;
  readonly by: Speaker;
  /** Whether they say the same or the opposite. */
  readonly says: "same" | "opposite";
}

/** A statement of fewer words is found only where one sentence has all of them. */
const STEMS_MIN = 4;

/** Analysed sentences of so many characters are cached. */
const SENTENCE_CACHE_CHARS_MAX = 10_000_000;

interface AnalysedSentence {
  readonly sentence: Sentence;
  /** Whether it is a guess or a question, which supports nothing. */
  readonly isUnsure: boolean;
  readonly words: readonly string[];
  readonly stemsByLanguage: Map<Language, ReadonlySet<string>>;
}

interface Search {
  readonly statement: string;
  readonly sought: ReadonlySet<string>;
  readonly particulars: readonly string[];
  readonly text: string;
  readonly sentences: readonly AnalysedSentence[];
  readonly stems: Stems;
}

/** Looks for many statements in the same entries. */
export class SupportSearch {
  readonly #stems: Stems;
  #sentences = new WeakMap<Spoken, readonly AnalysedSentence[]>();
  #cachedChars = 0;

  constructor(stems: Stems) {
    this.#stems = stems;
  }

  /** In the order of the entries. A guess or a question supports nothing. */
  find(entries: readonly QuotedEntry[], statement: string): readonly Support[] {
    const stems = this.#stems;
    const sought = stems.of(statement);
    if (sought.size === 0) return [];
    const particulars = particularsOf(statement);
    return entries.flatMap((entry) =>
      entry.said.flatMap((spoken) => {
        const text = spoken.text.slice(0, TEXT_CHARS_MAX);
        const sentences = this.#sentencesOf(spoken, text);
        const found = supportIn({ statement, sought, particulars, text, sentences, stems });
        if (found === undefined) return [];
        return [{ by: spoken.by, says: found.says, evidence: { entry_id: entry.entry_id, quote: found.quote } }];
      }),
    );
  }

  #sentencesOf(spoken: Spoken, text: string): readonly AnalysedSentence[] {
    const known = this.#sentences.get(spoken);
    if (known !== undefined) return known;
    const budget = { chars: SEGMENTED_CHARS_MAX };
    const sentences = [...sentencesOf(text)].map((sentence) => {
      const isUnsure = isQuestion(sentence.text) || hedgeIn(sentence.text) !== undefined;
      const words = isUnsure ? [] : this.#stems.words(sentence.text, budget);
      return { sentence, isUnsure, words, stemsByLanguage: new Map<Language, ReadonlySet<string>>() };
    });
    this.#cachedChars += text.length;
    if (this.#cachedChars > SENTENCE_CACHE_CHARS_MAX) {
      this.#sentences = new WeakMap();
      this.#cachedChars = text.length;
    }
    this.#sentences.set(spoken, sentences);
    return sentences;
  }
}

function stemsIn({ words, stemsByLanguage }: AnalysedSentence, language: Language, stems: Stems): ReadonlySet<string> {
  const known = stemsByLanguage.get(language) ?? new Set(words.map((word) => stems.stem(word, language)));
  stemsByLanguage.set(language, known);
  return known;
}

function supportIn({ statement, sought, particulars, text, sentences, stems }: Search) {
  const language = stems.language(statement);
  const needed = sought.size < STEMS_MIN ? sought.size : stemsNeeded(sought.size);
  const widest = sought.size < STEMS_MIN ? 1 : WINDOW_SENTENCES;
  const window: { readonly sentence: Sentence; readonly stems: ReadonlySet<string> }[] = [];
  for (const analysed of sentences) {
    const { sentence } = analysed;
    if (analysed.isUnsure) {
      window.length = 0;
      continue;
    }
    window.push({ sentence, stems: stemsIn(analysed, language, stems) });
    if (window.length > widest) window.shift();
    const shortest = shortestOf(window, sought, needed);
    // Only a sentence that has most of the words can contradict by a number or a "not".
    if (shortest === sentence && contradict(statement, saidIn(sentence.text), stems)) {
      return { says: "opposite" as const, quote: quoteOf(text, sentence) };
    }
    if (shortest === undefined) continue;
    const quote = quoteOf(text, { start: shortest.start, end: sentence.end });
    // A sentence that says more does not contradict, but it does not support what it denies either.
    if (areAtOdds(statement, quote, stems)) continue;
    if (particulars.every((particular) => standsIn(particular, quote))) return { says: "same" as const, quote };
  }
  return undefined;
}

/** The fewest sentences at the end of the window that have enough of what is sought. */
function shortestOf(
  window: readonly { readonly sentence: Sentence; readonly stems: ReadonlySet<string> }[],
  sought: ReadonlySet<string>,
  needed: number,
): Sentence | undefined {
  const found = new Set<string>();
  for (const { sentence, stems } of [...window].reverse()) {
    for (const stem of sought) if (stems.has(stem)) found.add(stem);
    if (found.size >= needed) return sentence;
  }
  return undefined;
}
