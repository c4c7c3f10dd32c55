// Topics: the words that users say most, stop words excluded.
import type { Entry } from "../model/entry.js";
import { proseOf } from "../model/prose.js";
import type { Citation, Cited, Topic } from "../model/report.js";
import { textsOfUser } from "../model/roles.js";
import type { Mask } from "./citations.js";
import { citationOf, cite, copyOf } from "./citations.js";
import { StopWords } from "./stop-words.js";
import { chunksOf, eachWord, isTopicLength, type SegmentingBudget } from "./words.js";

const MENTIONS_MIN = 3;
const TOPICS_SHOWN = 5;

/** How much of one text counts; longer ones are pasted files. */
const TEXT_CHARS_MAX = 1_000_000;
/** How much of one text, and of all of them, is segmented into words; newest first. */
const SEGMENTED_CHARS_MAX = { text: 20_000, report: 2_000_000 };
/** How many words are counted; beyond that, the rarest are dropped. */
const WORDS_MAX = 50_000;

export class TopicCount {
  #words = new WordTable();
  readonly #mask: Mask;
  readonly #wordsMax: number;
  #segmentedChars = SEGMENTED_CHARS_MAX.report;
  #chunks = 0;

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
      // Code, logs and blocks that a program added are not words of the user.
      for (const chunk of chunksOf(this.#mask(proseOf(text.slice(0, TEXT_CHARS_MAX))), TEXT_CHARS_MAX))
        this.#addChunk(chunk, budget, citation);
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

  /** Stop words are only known once all words of the chunk were read, because they depend on its language. */
  #addChunk(chunk: string, budget: SegmentingBudget, citation: Citation): void {
    this.#chunks += 1;
    const table = this.#words;
    const different: number[] = [];
    let all = 0;
    eachWord(chunk, budget, (text, start, end) => {
      all += 1;
      const word = table.numberOf(text, start, end);
      if (table.mention(word, this.#chunks)) different.push(word);
    });
    const small = different.filter((word) => table.isSmall(word));
    const isSpoken = stopWords.spokenIn(
      small.map((word) => ({ languages: table.languagesOf(word), mentions: table.mentionsOf(word) })),
      all,
    );
    for (const word of different) {
      const isStopWord = table.isSmall(word) && table.languagesOf(word).some(isSpoken);
      if (table.isTopic(word) && !isStopWord) table.count(word, citation);
    }
    if (table.size > this.#wordsMax) this.#words = table.withoutRarest(this.#wordsMax / 2);
  }
}

const stopWords = new StopWords();

const TOPIC = 1;
/** A stop word of some language. */
const SMALL = 2;
const CITED_ENOUGH = 4;

/** Powers of two, so the lower bits of a hash are its slot. */
const CAPACITY_FIRST = 1_024;
const SLOTS_PER_WORD = 2;
/** A topic has more mentions than anyone reads. */
const TOPIC_CITED_MAX = 20;

/** A word that was counted, and the entries that mention it. */
interface CountedWord {
  readonly word: string;
  readonly count: number;
  readonly cited: readonly Citation[];
}

/** Words and their counts in columns, because a report reads millions of words. */
class WordTable {
  /** Index of a word in the columns, plus one, in the first free slot after its hash. */
  #slots = new Int32Array(CAPACITY_FIRST * SLOTS_PER_WORD);
  readonly #texts: string[] = [];
  readonly #languages: (readonly number[])[] = [];
  readonly #cited: Citation[][] = [];
  #flags = new Uint8Array(CAPACITY_FIRST);
  #counts = new Int32Array(CAPACITY_FIRST);
  /** Mentions in the current chunk of text, and which chunk that was. */
  #mentions = new Int32Array(CAPACITY_FIRST);
  #chunks = new Int32Array(CAPACITY_FIRST);

  get size(): number {
    return this.#texts.length;
  }

  /** The number of the word from `start` to `end`. The word is not sliced out of the text, which would take longest. */
  numberOf(text: string, start: number, end: number): number {
    const slots = this.#slots;
    for (let slot = hashOf(text, start, end) & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const word = (slots[slot] as number) - 1;
      if (word < 0) return this.#add(copyOf(text.slice(start, end)), slot);
      if (isAt(this.#texts[word] as string, text, start, end)) return word;
    }
  }

  /** Counts a mention; true for the first one in a chunk. */
  mention(word: number, chunk: number): boolean {
    const isFirst = this.#chunks[word] !== chunk;
    this.#chunks[word] = chunk;
    this.#mentions[word] = isFirst ? 1 : (this.#mentions[word] as number) + 1;
    return isFirst;
  }

  isTopic(word: number): boolean {
    return ((this.#flags[word] as number) & TOPIC) !== 0;
  }

  isSmall(word: number): boolean {
    return ((this.#flags[word] as number) & SMALL) !== 0;
  }

  /** The languages in which it is a stop word. */
  languagesOf(word: number): readonly number[] {
    return this.#languages[word] as readonly number[];
  }

  /** How often it occurs in this chunk. */
  mentionsOf(word: number): number {
    return this.#mentions[word] as number;
  }

  /** Adds the mentions in this chunk to the count. */
  count(word: number, citation: Citation): void {
    this.#counts[word] = (this.#counts[word] as number) + (this.#mentions[word] as number);
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
   * A table without the rarest words. A dropped word starts again from zero, so a count can be too low, by no more than the
   * smallest count that is kept; a frequent word is never lost.
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

  #add(text: string, slot: number): number {
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
    this.#mentions = grown(this.#mentions, capacity);
    this.#chunks = grown(this.#chunks, capacity);
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
