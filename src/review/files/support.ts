// What in the record supports a statement: the words in which somebody said the same, and who it was.
import type { Evidence } from "../../model/memory.js";
import type { QuotedEntry, Speaker } from "../../read/memories/quoted-entry.js";
import { areAtOdds, contradict } from "../contradiction.js";
import { hedgeIn, isQuestion } from "../hedges.js";
import { stemsNeeded, TEXT_CHARS_MAX, WINDOW_SENTENCES } from "../matching.js";
import { particularsOf, standsIn } from "../particulars.js";
import { quoteOf } from "../rules/finding.js";
import { saidIn } from "../rules/remember.js";
import { type Sentence, sentencesOf } from "../sentences.js";
import { SEGMENTED_CHARS_MAX, type Stems } from "../stems.js";

/** Words in the record about what a statement is about. */
export interface Support {
  readonly evidence: Evidence;
  readonly by: Speaker;
  /** Whether they say the same or the opposite. */
  readonly says: "same" | "opposite";
}

/** A statement of fewer words is found only where one sentence has all of them. */
const STEMS_MIN = 4;

/** In the order of the entries. A guess or a question supports nothing. */
export function supportIn(entries: readonly QuotedEntry[], statement: string, stems: Stems): readonly Support[] {
  const sought = stems.of(statement);
  if (sought.size === 0) return [];
  const particulars = particularsOf(statement);
  return entries.flatMap((entry) =>
    entry.said.flatMap(({ by, text }) => {
      const found = soundingLike({ statement, sought, particulars, text: text.slice(0, TEXT_CHARS_MAX), stems });
      return found === undefined
        ? []
        : [{ by, says: found.says, evidence: { entry_id: entry.entry_id, quote: found.quote } }];
    }),
  );
}

interface Search {
  readonly statement: string;
  readonly sought: ReadonlySet<string>;
  readonly particulars: readonly string[];
  readonly text: string;
  readonly stems: Stems;
}

function soundingLike({ statement, sought, particulars, text, stems }: Search) {
  const language = stems.language(statement);
  const needed = sought.size < STEMS_MIN ? sought.size : stemsNeeded(sought.size);
  const widest = sought.size < STEMS_MIN ? 1 : WINDOW_SENTENCES;
  const window: { readonly sentence: Sentence; readonly stems: ReadonlySet<string> }[] = [];
  const budget = { chars: SEGMENTED_CHARS_MAX };
  for (const sentence of sentencesOf(text)) {
    if (isQuestion(sentence.text) || hedgeIn(sentence.text) !== undefined) {
      window.length = 0;
      continue;
    }
    const words = stems.words(sentence.text, budget);
    window.push({ sentence, stems: new Set(words.map((word) => stems.stem(word, language))) });
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
