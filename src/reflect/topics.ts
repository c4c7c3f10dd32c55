// What users keep coming back to: the words they say most, without those that every text is full of.
import type { Entry } from "../model/entry.js";
import type { Citation, Cited, Topic } from "../model/report.js";
import { textsOfUser } from "../model/roles.js";
import { citationOf } from "./citations.js";
import type { Mask } from "./excerpt.js";
import { stopWords, WordTable } from "./word-table.js";
import { eachWord, piecesOf, type SegmentingBudget } from "./words.js";

const MENTIONS_MIN = 3;
const TOPICS_SHOWN = 5;

/** Of one text this much is looked at; a longer one is a file that somebody pasted. */
const TEXT_CHARS_MAX = 1_000_000;
/** Of one text and of all of them so much is segmented, newest first. */
const SEGMENTED_CHARS_MAX = { text: 20_000, report: 2_000_000 };
/** So many words are counted at once; beyond that, those mentioned least are forgotten. */
const WORDS_MAX = 50_000;

export class TopicCount {
  #words = new WordTable();
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
      // Masked whole, because a secret may be many words.
      for (const piece of piecesOf(this.#mask(text.slice(0, TEXT_CHARS_MAX)), TEXT_CHARS_MAX))
        this.#addPiece(piece, budget, citation);
      this.#segmentedChars -= granted - budget.chars;
    }
  }

  /** The words mentioned most, ties in alphabetical order. */
  finish(): readonly Cited<Topic>[] {
    return this.#words
      .counted()
      .filter(({ word, count }) => count >= MENTIONS_MIN && this.#mask(word) === word)
      .sort((left, right) => right.count - left.count || (left.word < right.word ? -1 : 1))
      .slice(0, TOPICS_SHOWN);
  }

  /** Which words of a piece are stop words is known only when all of it was heard. */
  #addPiece(piece: string, budget: SegmentingBudget, citation: Citation): void {
    this.#pieces += 1;
    const table = this.#words;
    const different: number[] = [];
    let all = 0;
    eachWord(piece, budget, (text, start, end) => {
      all += 1;
      const word = table.numberOf(text, start, end);
      if (table.hear(word, this.#pieces)) different.push(word);
    });
    const small = different.filter((word) => table.isSmall(word));
    const isSpoken = stopWords.spokenIn(
      small.map((word) => ({ languages: table.languagesOf(word), heard: table.mentionsOf(word) })),
      all,
    );
    for (const word of different) {
      const isStopWord = table.isSmall(word) && table.languagesOf(word).some(isSpoken);
      if (table.isTopic(word) && !isStopWord) table.count(word, citation);
    }
    if (table.size > this.#wordsMax) this.#words = table.withoutRarest(this.#wordsMax / 2);
  }
}
