// The passage that comes nearest to a phrase that was not found: where most of its words stand together.

import { TimeSlice } from "../model/scheduling.js";
import { comparable } from "./comparable.js";

/** A place in one of several texts. */
export interface NearestPassage {
  /** Which text it is. */
  readonly nth: number;
  /** The range in that text. */
  readonly start: number;
  readonly end: number;
  /** How many of the phrase's words stand there, as a share. */
  readonly ratio: number;
}

const WORD = /[\p{L}\p{N}_]+/gu;
/** A passage is a little longer than the phrase. */
const PASSAGE_WORDS = 1.5;
const PASSAGE_MORE = 2;
const RATIO_MIN = 0.5;
/** Shorter phrases are near everything. */
const WORDS_MIN = 2;
const WORDS_MAX = 64;

/** Undefined where less than half of the words stand together anywhere. */
export async function nearestTo(phrase: string, texts: readonly string[]): Promise<NearestPassage | undefined> {
  const words = [...new Set(comparable(phrase).match(WORD) ?? [])].slice(0, WORDS_MAX);
  if (words.length < WORDS_MIN) return undefined;
  const wanted = new Set(words);
  const width = Math.ceil(words.length * PASSAGE_WORDS) + PASSAGE_MORE;
  const turn = new TimeSlice();
  let best: NearestPassage | undefined;
  for (const [nth, text] of texts.entries()) {
    const found = densest(text, wanted, width);
    if (found !== undefined && found.count / words.length >= Math.max(RATIO_MIN, best?.ratio ?? 0)) {
      best = { nth, start: found.start, end: found.end, ratio: found.count / words.length };
    }
    if (turn.isOver) await turn.next();
  }
  return best === undefined ? undefined : { ...best, ratio: Math.round(best.ratio * 100) / 100 };
}

interface WordPlace {
  readonly word: string;
  readonly nth: number;
  readonly start: number;
  readonly end: number;
}

/** The window of so many words with the most wanted ones, each counted once. */
function densest(
  text: string,
  wanted: ReadonlySet<string>,
  width: number,
): { readonly count: number; readonly start: number; readonly end: number } | undefined {
  const counts = new Map<string, number>();
  const window: WordPlace[] = [];
  let best: { readonly count: number; readonly start: number; readonly end: number } | undefined;
  let nth = 0;
  let first = 0;
  for (const match of text.matchAll(WORD)) {
    nth += 1;
    const word = comparable(match[0]);
    if (!wanted.has(word)) continue;
    window.push({ word, nth, start: match.index, end: match.index + match[0].length });
    counts.set(word, (counts.get(word) ?? 0) + 1);
    for (let oldest = window[first]; oldest !== undefined && oldest.nth <= nth - width; oldest = window[first]) {
      const left = (counts.get(oldest.word) ?? 1) - 1;
      if (left === 0) counts.delete(oldest.word);
      else counts.set(oldest.word, left);
      first += 1;
    }
    if (counts.size > (best?.count ?? 0)) {
      const start = window[first]?.start ?? match.index;
      best = { count: counts.size, start, end: match.index + match[0].length };
    }
  }
  return best;
}
