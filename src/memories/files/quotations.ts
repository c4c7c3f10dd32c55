// Who said a statement of a memory file, word for word or nearly; who said the same with another number; and what comes nearest, with
// what differs. Words alone prove no more than that.
import type { Evidence } from "../../model/memory.js";
import { areAtOdds } from "../judge/contradiction.js";
import { hedgeIn, isQuestion } from "../judge/hedges.js";
import { particularsOf, standsIn } from "../judge/particulars.js";
import { comparable } from "../judge/statement.js";
import { quoteOf } from "../propose/rules/prose.js";
import { saidIn } from "../propose/words/sentences.js";
import { TEXT_CHARS_MAX } from "../reinforce/matching.js";
import type { QuotedEntry, Speaker } from "../text/quoted-entry.js";
import { sentencesOf } from "../text/sentences.js";
import { jaccard, type Stems } from "../text/stems.js";

/** How near a sentence comes to a statement. */
type Nearness = "quoted" | "against" | "mentioned";

export interface Passage {
  readonly is: Nearness;
  readonly by: Speaker;
  readonly evidence: Evidence;
  /** What differs, in words for people; empty where nothing does. */
  readonly differs: string;
  /** The share of the stems of both that both have. */
  readonly similarity: number;
}

/** Nearly the same sentence. */
const NEAR_MIN = 0.8;
/** A passage about the same thing: this share of both, or of the statement's own stems. */
const MENTIONED_MIN = 0.5;
const COVERED_MIN = 0.7;
const STEMS_MIN = 2;

const NUMBERS = /\p{Nd}+(?:[.,:]\p{Nd}+)*/gu;

/** All passages about a statement, in the order of the entries. */
export function passagesAbout(statement: string, entries: readonly QuotedEntry[], stems: Stems): readonly Passage[] {
  const sought = soughtIn(statement, stems);
  if (sought.stems.size === 0) return [];
  return entries.flatMap((entry) =>
    entry.said.flatMap(({ by, text }) => {
      const read = text.slice(0, TEXT_CHARS_MAX);
      return [...sentencesOf(read)].flatMap((sentence) => {
        const found = compare(sought, sentence.text, stems);
        if (found === undefined) return [];
        return [{ ...found, by, evidence: { entry_id: entry.entry_id, quote: quoteOf(read, sentence) } }];
      });
    }),
  );
}

interface Sought {
  readonly statement: string;
  readonly words: string;
  readonly stems: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  readonly particulars: readonly string[];
}

function soughtIn(statement: string, stems: Stems): Sought {
  return {
    statement,
    words: comparable(statement),
    stems: wordStems(statement, stems),
    numbers: numbersIn(statement),
    particulars: particularsOf(statement),
  };
}

/** Stems without numbers: these are compared by themselves. */
function wordStems(text: string, stems: Stems, of: string = text): ReadonlySet<string> {
  return new Set([...stems.of(text, stems.language(of))].filter((stem) => !/^\p{Nd}/u.test(stem)));
}

function numbersIn(text: string): ReadonlySet<string> {
  return new Set(text.normalize("NFKC").match(NUMBERS) ?? []);
}

type Compared = Pick<Passage, "is" | "differs" | "similarity">;

function compare(sought: Sought, sentence: string, stems: Stems): Compared | undefined {
  const said = saidIn(sentence);
  const own = wordStems(said, stems, sought.statement);
  const shared = [...sought.stems].filter((stem) => own.has(stem)).length;
  const similarity = jaccard(sought.stems, own);
  const isCovered = shared >= Math.min(STEMS_MIN, sought.stems.size) && shared >= sought.stems.size * COVERED_MIN;
  if (similarity < MENTIONED_MIN && !isCovered) return undefined;
  const words = comparable(said);
  const isVerbatim =
    ` ${words} `.includes(` ${sought.words} `) || (sought.words.length > 7 && words.includes(sought.words));
  const isNear = isVerbatim || similarity >= NEAR_MIN;
  const differs = differenceOf(sought, sentence, stems);
  if (isNear && differs === undefined) return { is: "quoted", differs: "", similarity };
  const is = isNear && differs?.is_number === true ? "against" : "mentioned";
  return { is, differs: differs?.words ?? "the record says it in other words", similarity };
}

/** What keeps a sentence from saying the same; undefined where nothing does. */
function differenceOf(
  sought: Sought,
  sentence: string,
  stems: Stems,
): { readonly words: string; readonly is_number?: true } | undefined {
  if (isQuestion(sentence)) return { words: "the record asks it" };
  if (areAtOdds(sought.statement, sentence, stems)) return { words: "one of the two denies it" };
  const hedge = hedgeIn(sentence);
  if (hedge !== undefined) return { words: `the record only supposes it (“${hedge}”)` };
  const numbers = numbersIn(sentence);
  const lacking = [...sought.numbers].filter((number) => !numbers.has(number));
  const other = [...numbers].filter((number) => !sought.numbers.has(number));
  const [wanted] = lacking;
  if (wanted !== undefined) {
    const instead = other[0];
    return instead === undefined
      ? { words: `the record does not have ${wanted}` }
      : { words: `the record has ${instead}, not ${wanted}`, is_number: true };
  }
  const missing = sought.particulars.find((particular) => !standsIn(particular, sentence));
  return missing === undefined ? undefined : { words: `the record does not have “${missing}”` };
}
