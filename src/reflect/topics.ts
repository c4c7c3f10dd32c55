// What users keep coming back to: the words they say most, without those that every text is full of.
import type { Entry } from "../model/entry.js";
import { citationOf, cite } from "./citations.js";
import { copyOf, type Mask } from "./excerpt.js";
import type { Citation, Cited, Topic } from "./report.js";
import { textsOfUser } from "./said.js";
import { StopWords } from "./stop-words.js";
import { eachWord, isTopicLength, piecesOf, type SegmentingBudget } from "./words.js";

export const MENTIONS_MIN = 3;
export const TOPICS_SHOWN = 5;

/** Of one text this much is looked at; a longer one is a file that somebody pasted. */
const TEXT_CHARS_MAX = 1_000_000;
/** Of one text and of all of them so much is segmented, newest first. */
const SEGMENTED_CHARS_MAX = { text: 20_000, report: 2_000_000 };
/** So many words are counted at once; beyond that, those mentioned least are forgotten. */
const WORDS_MAX = 50_000;

const stopWords = new StopWords();

interface CountedWord {
  readonly text: string;
  readonly isTopic: boolean;
  readonly languages: readonly number[];
  /** Mentions in the piece of text that is being looked at, and which piece that was. */
  heard: number;
  piece: number;
  count: number;
  readonly cited: Citation[];
}

export class TopicCount {
  readonly #words = new Map<string, CountedWord>();
  readonly #mask: Mask;
  readonly #wordsMax: number;
  #segmentedChars = SEGMENTED_CHARS_MAX.report;
  #pieces = 0;

  constructor(mask: Mask, wordsMax = WORDS_MAX) {
    this.#mask = mask;
    this.#wordsMax = wordsMax;
  }

  add(entry: Entry): void {
    const citation = citationOf(entry);
    for (const text of textsOfUser(entry)) {
      const granted = Math.min(SEGMENTED_CHARS_MAX.text, this.#segmentedChars);
      const budget = { chars: granted };
      for (const piece of piecesOf(text, TEXT_CHARS_MAX)) this.#addPiece(piece, budget, citation);
      this.#segmentedChars -= granted - budget.chars;
    }
  }

  /** The words mentioned most, ties in alphabetical order. */
  finish(): readonly Cited<Topic>[] {
    return [...this.#words.values()]
      .filter(({ text, count }) => count >= MENTIONS_MIN && this.#mask(text) === text)
      .sort((left, right) => right.count - left.count || (left.text < right.text ? -1 : 1))
      .slice(0, TOPICS_SHOWN)
      .map(({ text, count, cited }) => ({ word: text, count, cited }));
  }

  /** Which words of a piece are stop words is known only when all of it was heard. */
  #addPiece(piece: string, budget: SegmentingBudget, citation: Citation): void {
    const heard: CountedWord[] = [];
    this.#pieces += 1;
    eachWord(piece, budget, (text) => {
      const word = this.#words.get(text) ?? this.#meet(text);
      if (word.piece === this.#pieces) word.heard += 1;
      else {
        word.piece = this.#pieces;
        word.heard = 1;
        heard.push(word);
      }
    });
    const isStopWord = stopWords.inTextOf(heard);
    for (const word of heard) {
      if (!word.isTopic || isStopWord(word)) continue;
      word.count += word.heard;
      cite(word.cited, citation);
    }
    if (this.#words.size > this.#wordsMax) this.#forgetRarest();
  }

  #meet(piece: string): CountedWord {
    const text = copyOf(piece);
    const languages = stopWords.languagesOf(text);
    const word = { text, languages, isTopic: isTopicLength(text), heard: 0, piece: 0, count: 0, cited: [] };
    this.#words.set(text, word);
    return word;
  }

  /**
   * Half of the words go, those with the fewest mentions. What was forgotten starts again from nothing, so a count can
   * be too low, by no more than the words that are left have at least; a word mentioned often enough is never lost.
   */
  #forgetRarest(): void {
    for (let mentions = 0; this.#words.size > this.#wordsMax / 2; mentions += 1) {
      for (const [text, { count }] of this.#words) if (count <= mentions) this.#words.delete(text);
    }
  }
}
