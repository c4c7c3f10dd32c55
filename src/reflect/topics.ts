// What users keep coming back to: the words they say most, without those that every text is full of.
import type { Entry } from "../model/entry.js";
import type { Citation, Cited, Topic } from "../model/report.js";
import { textsOfUser } from "../model/roles.js";
import type { Mask } from "./citations.js";
import { citationOf, cite, copyOf } from "./citations.js";
import { StopWords } from "./stop-words.js";
import { eachWord, isTopicLength, piecesOf, type SegmentingBudget } from "./words.js";

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

// Words and their counts, in columns: a report hears millions of words, and looks each of them up in little memory.
const stopWords = new StopWords();

const TOPIC = 1;
/** A stop word of some language. */
const SMALL = 2;
const CITED_ENOUGH = 4;

/** Powers of two, so that a hash finds its slot by its lower bits. */
const CAPACITY_FIRST = 1_024;
const SLOTS_PER_WORD = 2;
/** A topic is mentioned by far more entries than anybody looks at. */
const TOPIC_CITED_MAX = 20;

/** A word that was counted, and the entries that mention it. */
interface CountedWord {
  readonly word: string;
  readonly count: number;
  readonly cited: readonly Citation[];
}

class WordTable {
  /** Where in the columns a word stands, plus one, at the first free place after its hash. */
  #slots = new Int32Array(CAPACITY_FIRST * SLOTS_PER_WORD);
  readonly #texts: string[] = [];
  readonly #languages: (readonly number[])[] = [];
  readonly #cited: Citation[][] = [];
  #flags = new Uint8Array(CAPACITY_FIRST);
  #counts = new Int32Array(CAPACITY_FIRST);
  /** Mentions in the piece of text that is being looked at, and which piece that was. */
  #heard = new Int32Array(CAPACITY_FIRST);
  #pieces = new Int32Array(CAPACITY_FIRST);

  get size(): number {
    return this.#texts.length;
  }

  /** By which number the word from `start` to `end` goes here. It is not cut out of the text, which would take longest. */
  numberOf(text: string, start: number, end: number): number {
    const slots = this.#slots;
    for (let slot = hashOf(text, start, end) & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const word = (slots[slot] as number) - 1;
      if (word < 0) return this.#meet(copyOf(text.slice(start, end)), slot);
      if (isAt(this.#texts[word] as string, text, start, end)) return word;
    }
  }

  /** Notes a mention; true for the first one in a piece. */
  hear(word: number, piece: number): boolean {
    const isFirst = this.#pieces[word] !== piece;
    this.#pieces[word] = piece;
    this.#heard[word] = isFirst ? 1 : (this.#heard[word] as number) + 1;
    return isFirst;
  }

  isTopic(word: number): boolean {
    return ((this.#flags[word] as number) & TOPIC) !== 0;
  }

  isSmall(word: number): boolean {
    return ((this.#flags[word] as number) & SMALL) !== 0;
  }

  /** The languages that it is a stop word of. */
  languagesOf(word: number): readonly number[] {
    return this.#languages[word] as readonly number[];
  }

  /** How often it was heard in this piece. */
  mentionsOf(word: number): number {
    return this.#heard[word] as number;
  }

  /** Counts the mentions that were heard in this piece. */
  count(word: number, citation: Citation): void {
    this.#counts[word] = (this.#counts[word] as number) + (this.#heard[word] as number);
    if (((this.#flags[word] as number) & CITED_ENOUGH) !== 0) return;
    const cited = this.#cited[word] as Citation[];
    cite(cited, citation);
    if (cited.length >= TOPIC_CITED_MAX) this.#flags[word] = (this.#flags[word] as number) | CITED_ENOUGH;
  }

  counted(): readonly CountedWord[] {
    return this.#texts.map((word, number) => ({
      word,
      count: this.#counts[number] as number,
      cited: this.#cited[number] as Citation[],
    }));
  }

  /**
   * Another table with no more than so many words: those with the fewest mentions are left out. What was forgotten starts
   * again from nothing, so a count can be too low, by no more than the words that are left have at least; a word mentioned
   * often enough is never lost.
   */
  withoutRarest(wordsMax: number): WordTable {
    const counts = this.#counts.subarray(0, this.size).toSorted();
    const least = (counts[Math.max(0, this.size - Math.floor(wordsMax))] ?? 0) + 1;
    const kept = new WordTable();
    for (const { word, count, cited } of this.counted()) {
      if (count < least) continue;
      const number = kept.numberOf(word, 0, word.length);
      kept.#counts[number] = count;
      kept.#cited[number] = [...cited];
    }
    return kept;
  }

  #meet(text: string, slot: number): number {
    const word = this.size;
    this.#slots[slot] = word + 1;
    this.#texts.push(text);
    this.#cited.push([]);
    const languages = stopWords.languagesOf(text);
    this.#languages.push(languages);
    this.#flags[word] = (isTopicLength(text) ? TOPIC : 0) | (languages.length > 0 ? SMALL : 0);
    if (this.size === this.#flags.length) this.#grow();
    return word;
  }

  #grow(): void {
    const capacity = this.#flags.length * 2;
    const flags = new Uint8Array(capacity);
    flags.set(this.#flags);
    this.#flags = flags;
    this.#counts = grown(this.#counts, capacity);
    this.#heard = grown(this.#heard, capacity);
    this.#pieces = grown(this.#pieces, capacity);
    this.#slots = new Int32Array(capacity * SLOTS_PER_WORD);
    const last = this.#slots.length - 1;
    for (const [word, text] of this.#texts.entries()) {
      let slot = hashOf(text, 0, text.length) & last;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & last;
      this.#slots[slot] = word + 1;
    }
  }
}

/** FNV-1a over code units, with its upper bits folded in. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}

function isAt(word: string, text: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) !== text.charCodeAt(start + at)) return false;
  return true;
}

function grown(column: Int32Array<ArrayBuffer>, capacity: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(capacity);
  larger.set(column);
  return larger;
}
