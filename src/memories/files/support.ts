// What in the record supports a statement: the words in which somebody said the same, and who it was.
import type { Evidence } from "../../model/memory.js";
import { areAtOdds, contradict } from "../judge/contradiction.js";
import { hedgeIn, isQuestion } from "../judge/hedges.js";
import { particularsOf, standsIn } from "../judge/particulars.js";
import { quoteOf } from "../propose/rules/finding.js";
import { saidIn } from "../propose/rules/remember.js";
import type { QuotedEntry, Speaker, Spoken } from "../read/quoted-entry.js";
import { stemsNeeded, TEXT_CHARS_MAX, WINDOW_SENTENCES } from "../reinforce/matching.js";
import type { Language } from "../text/languages.js";
import { type Sentence, sentencesOf } from "../text/sentences.js";
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

/** What was worked out of so many characters is kept for the next statement; then it is worked out anew. */
const KEPT_CHARS_MAX = 10_000_000;

interface HeardSentence {
  readonly sentence: Sentence;
  /** A guess or a question, which supports nothing. */
  readonly isNothing: boolean;
  readonly words: readonly string[];
  readonly stemsByLanguage: Map<Language, ReadonlySet<string>>;
}

interface Search {
  readonly statement: string;
  readonly sought: ReadonlySet<string>;
  readonly particulars: readonly string[];
  readonly text: string;
  readonly sentences: readonly HeardSentence[];
  readonly stems: Stems;
}

/** Looks for many statements in the same entries. */
export class SupportSearch {
  readonly #stems: Stems;
  #sentences = new WeakMap<Spoken, readonly HeardSentence[]>();
  #keptChars = 0;

  constructor(stems: Stems) {
    this.#stems = stems;
  }

  /** In the order of the entries. A guess or a question supports nothing. */
  in(entries: readonly QuotedEntry[], statement: string): readonly Support[] {
    const stems = this.#stems;
    const sought = stems.of(statement);
    if (sought.size === 0) return [];
    const particulars = particularsOf(statement);
    return entries.flatMap((entry) =>
      entry.said.flatMap((spoken) => {
        const text = spoken.text.slice(0, TEXT_CHARS_MAX);
        const sentences = this.#sentencesOf(spoken, text);
        const found = soundingLike({ statement, sought, particulars, text, sentences, stems });
        if (found === undefined) return [];
        return [{ by: spoken.by, says: found.says, evidence: { entry_id: entry.entry_id, quote: found.quote } }];
      }),
    );
  }

  #sentencesOf(spoken: Spoken, text: string): readonly HeardSentence[] {
    const known = this.#sentences.get(spoken);
    if (known !== undefined) return known;
    const budget = { chars: SEGMENTED_CHARS_MAX };
    const sentences = [...sentencesOf(text)].map((sentence) => {
      const isNothing = isQuestion(sentence.text) || hedgeIn(sentence.text) !== undefined;
      const words = isNothing ? [] : this.#stems.words(sentence.text, budget);
      return { sentence, isNothing, words, stemsByLanguage: new Map<Language, ReadonlySet<string>>() };
    });
    this.#keptChars += text.length;
    if (this.#keptChars > KEPT_CHARS_MAX) {
      this.#sentences = new WeakMap();
      this.#keptChars = text.length;
    }
    this.#sentences.set(spoken, sentences);
    return sentences;
  }
}

function stemsIn({ words, stemsByLanguage }: HeardSentence, language: Language, stems: Stems): ReadonlySet<string> {
  const known = stemsByLanguage.get(language) ?? new Set(words.map((word) => stems.stem(word, language)));
  stemsByLanguage.set(language, known);
  return known;
}

function soundingLike({ statement, sought, particulars, text, sentences, stems }: Search) {
  const language = stems.language(statement);
  const needed = sought.size < STEMS_MIN ? sought.size : stemsNeeded(sought.size);
  const widest = sought.size < STEMS_MIN ? 1 : WINDOW_SENTENCES;
  const window: { readonly sentence: Sentence; readonly stems: ReadonlySet<string> }[] = [];
  for (const heard of sentences) {
    const { sentence } = heard;
    if (heard.isNothing) {
      window.length = 0;
      continue;
    }
    window.push({ sentence, stems: stemsIn(heard, language, stems) });
    if (window.length > widest) window.shift();
    const shortest = shortestOf(window, sought, needed);
    // Numbers and a "not" are looked for where one sentence has most of the words.
    if (shortest === sentence && contradict(statement, saidIn(sentence.text), stems)) {
      return { says: "opposite" as const, quote: quoteOf(text, sentence) };
    }
    if (shortest === undefined) continue;
    const quote = quoteOf(text, { start: shortest.start, end: sentence.end });
    // A sentence that speaks of more is no contradiction, and `git push origin main` none of "never push to main" either.
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
