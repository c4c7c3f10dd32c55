// Whether two statements contradict each other: the same subject with another number, or with a negation.

import { DENIES_PREVIOUS, deniesNext } from "../text/negation.js";
import type { Language } from "../text/stems.js";
import { jaccard, type Stems } from "../text/stems.js";

/** The same subject: this share of all stems but the numbers, or the same beginning. */
const SUBJECT_MIN = 0.7;
const HEAD_STEMS = 3;

/** A "not" denies the next word that is no stop word, within this many words. */
const REACH_WORDS = 4;

const IS_NUMBER = /^\p{Nd}+$/u;
const NUMBERS = /\p{Nd}+(?:[.,]\p{Nd}+)*/gu;

interface Parsed {
  /** Stems in order, numbers left out. */
  readonly stems: readonly string[];
  readonly numbers: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
}

export function contradict(one: string, other: string, stems: Stems): boolean {
  const language = stems.language(one);
  const left = parse(one, language, stems);
  const right = parse(other, language, stems);
  if (!isSameSubject(left, right)) return false;
  return haveOtherNumbers(left.numbers, right.numbers) || denies(left, right) || denies(right, left);
}

/** Whether one says what the other denies, whatever else they say: then neither is evidence of the other. */
export function areAtOdds(one: string, other: string, stems: Stems): boolean {
  const language = stems.language(one);
  const left = parse(one, language, stems);
  const right = parse(other, language, stems);
  return denies(left, right) || denies(right, left);
}

function isSameSubject(left: Parsed, right: Parsed): boolean {
  if (jaccard(new Set(left.stems), new Set(right.stems)) >= SUBJECT_MIN) return true;
  const head = left.stems.slice(0, HEAD_STEMS);
  return head.length === HEAD_STEMS && head.every((stem, at) => stem === right.stems[at]);
}

/** Each has a number that the other lacks; an additional number is no contradiction. */
function haveOtherNumbers(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return [...left].some((number) => !right.has(number)) && [...right].some((number) => !left.has(number));
}

/** Whether the second says something that the first denies. */
function denies(first: Parsed, second: Parsed): boolean {
  return [...first.denied].some((stem) => second.stems.includes(stem) && !second.denied.has(stem));
}

function parse(text: string, language: Language, stems: Stems): Parsed {
  const words = stems.words(text);
  const ordered: string[] = [];
  const denied = new Set<string>();
  let reach = 0;
  for (const word of words) {
    if (DENIES_PREVIOUS.has(word)) {
      const before = ordered.at(-1);
      if (before !== undefined) denied.add(before);
      continue;
    }
    if (deniesNext(word)) {
      reach = REACH_WORDS;
      continue;
    }
    const stem = IS_NUMBER.test(word) ? "" : stems.stem(word, language);
    if (stem !== "") {
      ordered.push(stem);
      if (reach > 0) denied.add(stem);
      reach = 0;
    } else if (reach > 0) reach -= 1;
  }
  return { stems: ordered, numbers: new Set(text.normalize("NFKC").match(NUMBERS) ?? []), denied };
}
