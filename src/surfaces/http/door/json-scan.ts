// A look at the bytes of a large body as they arrive, before anything is built of them. Some bodies are cheap to send and
// would keep the whole server busy or fill its memory: 64 MiB of brackets take JSON.parse twenty seconds, and as much of
// {},{},… takes 2 GB.
import { limits } from "../../../model/limits.js";
import { type Rejection, reject } from "../../../model/rejection.js";
import { entryTooWide, nestingTooDeep, requestTooWide } from "../../../model/shape-refusals.js";

/** Entries of one request. An entry costs 4 KB of memory on its way, however small it is. */
export const ENTRIES_MAX = 100_000;

/** A value takes two bytes at least, so that a smaller body can hold no more than an entry may. */
export const SCAN_BYTES_MIN = 2 * limits.entry_values;

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const LIST_START = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;

/** What a byte outside of strings is: white space, part of a number or word, or else what gives JSON its structure. */
const SPACE = 1;
const SCALAR = 2;
const MEANING = Uint8Array.from({ length: 256 }, (_, byte) => (byte <= 0x20 ? SPACE : SCALAR));
for (const byte of [QUOTE, COMMA, LIST_START, LIST_END, OBJECT_START, OBJECT_END]) MEANING[byte] = 0;

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** So far a string is looked at byte by byte; a longer one is passed over at the speed of a search for its end. */
const STRING_BYTES = 48;

/** Where the items of a list stand in the body. */
export interface ListPlaces {
  readonly start: number;
  /** Of each item the place of the comma or bracket behind it. */
  readonly ends: readonly number[];
  /** Whether it is closed, and nothing but white space is behind it. */
  readonly isWhole: boolean;
}

/** What is not JSON is the parser's to refuse; of what is, the numbers are exact. */
export class JsonScan {
  readonly #hasLines: boolean;
  /** Bytes of the chunks before. */
  #before = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Where the next byte stands: before everything, first in a list or object, somewhere inside, behind the end. */
  #place: "before" | "begun" | "inside" | "behind" = "before";
  #list: { readonly start: number; readonly ends: number[]; isWhole: boolean } | undefined;
  #entries = 0;
  #entryValues = 0;
  #values = 0;

  /** With lines, each of them is an entry; else the body is one, or a list of them. */
  constructor(options: { readonly hasLines: boolean }) {
    this.#hasLines = options.hasLines;
  }

  /** The next bytes; a rejection once what has come is more than may be. */
  take(chunk: Buffer): Rejection | undefined {
    const refused = this.#hasLines ? this.#takeLines(chunk) : this.#take(chunk, 0, chunk.length);
    this.#before += chunk.length;
    return refused;
  }

  /** Where the items of the body are, if it is a list; to be asked once all of it was taken. */
  get list(): ListPlaces | undefined {
    return this.#list;
  }

  #takeLines(chunk: Buffer): Rejection | undefined {
    for (let start = 0; start < chunk.length; ) {
      const feed = chunk.indexOf(LINE_FEED, start);
      const end = feed === -1 ? chunk.length : feed;
      const refused = this.#take(chunk, start, end);
      if (refused !== undefined) return refused;
      if (feed !== -1) this.#endLine();
      if (this.#entries > ENTRIES_MAX) return tooManyEntries();
      start = end + 1;
    }
    return undefined;
  }

  #endLine(): void {
    if (this.#place !== "before") this.#endEntry();
    this.#place = "before";
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
  }

  #take(chunk: Buffer, start: number, end: number): Rejection | undefined {
    let at = this.#isInString ? this.#endOfString(chunk, start, end) + 1 : start;
    for (; at < end; at += 1) {
      // Numbers and words are passed over as well; only the first byte of something says that it is there.
      at = afterAll(this.#place === "inside" ? SPACE | SCALAR : SPACE, chunk, at, end);
      if (at === end) return undefined;
      const byte = chunk[at] as number;
      const refused = this.#place === "inside" ? this.#see(byte, at) : this.#seeFirst(byte, at);
      if (refused !== undefined) return refused;
      if (byte !== QUOTE) continue;
      this.#isInString = true;
      at = this.#endOfString(chunk, at + 1, end);
    }
    return undefined;
  }

  /** The first byte of the body, of a list or object, or behind the end. */
  #seeFirst(byte: number, at: number): Rejection | undefined {
    const place = this.#place;
    if (place === "before" && this.#isMark(byte, at)) return undefined;
    if (place === "behind") return this.#noteTrailing();
    this.#place = "inside";
    if (place === "before" && !this.#hasLines && byte === LIST_START) this.#beginList(at);
    // A list or object that is not empty has one value more than commas.
    const isCounted = place === "begun" && !isEnd(byte) && !this.#isOuterList();
    return (isCounted ? this.#countValue() : undefined) ?? this.#see(byte, at);
  }

  #see(byte: number, at: number): Rejection | undefined {
    if (byte === COMMA) return this.#isOuterList() ? this.#endItem(at) : this.#countValue();
    if (byte === LIST_START || byte === OBJECT_START) {
      this.#depth += 1;
      this.#place = "begun";
      // One level more than an entry may have: it may be an item of a list.
      return this.#depth > limits.nesting_levels + 1 ? this.#ofEntry(nestingTooDeep()) : undefined;
    }
    if (!isEnd(byte)) return undefined;
    this.#depth -= 1;
    if (this.#depth <= 0 && !this.#hasLines) this.#end(at, byte);
    return undefined;
  }

  /** A byte order mark at the very beginning is no part of the text. */
  #isMark(byte: number, at: number): boolean {
    return this.#before + at < BYTE_ORDER_MARK.length && byte === BYTE_ORDER_MARK[this.#before + at];
  }

  #isOuterList(): boolean {
    return this.#depth === 1 && this.#list !== undefined;
  }

  #beginList(at: number): void {
    this.#list = { start: this.#before + at, ends: [], isWhole: false };
  }

  #countValue(): Rejection | undefined {
    this.#entryValues += 1;
    if (this.#entryValues > limits.entry_values) return this.#ofEntry(entryTooWide());
    return this.#values + this.#entryValues > limits.request_values ? requestTooWide() : undefined;
  }

  #endItem(at: number): Rejection | undefined {
    this.#list?.ends.push(this.#before + at);
    this.#endEntry();
    return this.#entries >= ENTRIES_MAX ? tooManyEntries() : undefined;
  }

  #endEntry(): void {
    this.#entries += 1;
    this.#values += this.#entryValues;
    this.#entryValues = 0;
  }

  #end(at: number, byte: number): void {
    this.#place = "behind";
    if (this.#list === undefined) return;
    this.#list.ends.push(this.#before + at);
    this.#list.isWhole = byte === LIST_END;
  }

  /** What follows the end is not JSON, and need not be looked at. */
  #noteTrailing(): undefined {
    if (this.#list !== undefined) this.#list.isWhole = false;
    return undefined;
  }

  /** The place of the quote that ends a string; the end of the chunk where that is still to come. */
  #endOfString(chunk: Buffer, start: number, end: number): number {
    let at = this.#isEscaped ? start + 1 : start;
    this.#isEscaped = false;
    while (at < end) {
      for (const near = Math.min(at + STRING_BYTES, end); at < near; at += 1) {
        const byte = chunk[at];
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) {
          this.#isInString = false;
          return at;
        }
      }
      if (at < end) at = nearQuote(chunk, at, end);
    }
    // A backslash that was the last byte escapes the first one of the next chunk.
    this.#isEscaped = at > end;
    return end;
  }

  #ofEntry(refused: Rejection): Rejection {
    return this.#hasLines || this.#list !== undefined ? refused.at(this.#entries) : refused;
  }
}

/** The first place from here on whose byte is none of these. */
function afterAll(meanings: number, chunk: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && ((MEANING[chunk[at] as number] as number) & meanings) !== 0) at += 1;
  return at;
}

/** The next quote, or the backslashes before it: whether they escape it depends on how many they are. */
function nearQuote(chunk: Buffer, start: number, end: number): number {
  const found = chunk.subarray(start, end).indexOf(QUOTE);
  let at = found === -1 ? end : start + found;
  while (at > start && chunk[at - 1] === BACKSLASH) at -= 1;
  return at;
}

function isEnd(byte: number): boolean {
  return byte === LIST_END || byte === OBJECT_END;
}

export function tooManyEntries(): Rejection {
  return reject({
    code: "request_too_large",
    message: `the request has more than ${ENTRIES_MAX} entries`,
    hint: "Send fewer entries at a time.",
  });
}
