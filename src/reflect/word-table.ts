// Words and their counts, in columns: a report hears millions of words, and looks each of them up in little memory.

import type { Citation } from "../model/report.js";
import { cite } from "./citations.js";
import { copyOf } from "./excerpt.js";
import { StopWords } from "./stop-words.js";
import { isTopicLength } from "./words.js";

export const stopWords = new StopWords();

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
export interface CountedWord {
  readonly word: string;
  readonly count: number;
  readonly cited: readonly Citation[];
}

export class WordTable {
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
