// Scans the bytes of a large body as they arrive, before anything is built from them. Some bodies are cheap to send and
// would block the whole server or fill its memory: 64 MiB of brackets take JSON.parse twenty seconds, and the same
// amount of {},{},… takes 2 GB.
import { JsonTokenizer, type JsonVisitor } from "../../../model/json-tokenizer.js";
import { limits } from "../../../model/limits.js";
import { entryTooWide, nestingTooDeep, type Rejection, reject, requestTooWide } from "../../../model/rejection.js";
/** Entries per request. An entry needs 4 KB of memory on its way, however small it is. */
export const ENTRIES_MAX = 100_000;
/** Lines of one request, blank ones included. */
const LINES_MAX = 10 * ENTRIES_MAX;

/** A value needs at least two bytes, so a smaller body cannot exceed the limit of an entry. */
export const SCAN_BYTES_MIN = 2 * limits.entry_values;

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** The offsets of a list's items in the body. */
export interface ListPlaces {
  readonly start: number;
  /** For each item the offset of the comma or bracket after it. */
  readonly ends: readonly number[];
  /** Whether it is closed, with only white space after it. */
  readonly isWhole: boolean;
}

/** Invalid JSON is left to the parser; for valid JSON, the counts are exact. */
export class JsonScan implements JsonVisitor {
  readonly #tokenizer = new JsonTokenizer(this);
  readonly #hasLines: boolean;
  /** Bytes of earlier chunks. */
  #before = 0;
  /** Where the next token is: before everything, first in a list or object, somewhere inside, or after the end. */
  #place: "before" | "begun" | "inside" | "behind" = "before";
  #list: { readonly start: number; readonly ends: number[]; isWhole: boolean } | undefined;
  #entries = 0;
  #lines = 0;
  /** Values of earlier entries. */
  #values = 0;
  /** How many values the entry may have, and how many more are allowed. */
  #valuesMax: number = limits.entry_values;
  #valuesLeft: number = limits.entry_values;
  #refused: Rejection | undefined;

  /** With lines, each of them is an entry; otherwise the body is one, or a list of them. */
  constructor(options: { readonly hasLines: boolean }) {
    this.#hasLines = options.hasLines;
  }

  /** Takes the next bytes; returns a rejection once a limit is exceeded. */
  take(chunk: Buffer): Rejection | undefined {
    const start = this.#afterMark(chunk);
    if (this.#hasLines) this.#takeLines(chunk, start);
    else this.#tokenizer.write(chunk, start);
    this.#before += chunk.length;
    return this.#refused;
  }

  /** The offsets of the body's items, if it is a list; call it after all bytes. */
  get list(): ListPlaces | undefined {
    if (this.#place === "behind" && this.#tokenizer.unfinished !== undefined) this.#noteTrailing();
    return this.#list;
  }

  begin(at: number, isObject: boolean): void {
    const { depth } = this.#tokenizer;
    if (this.#place === "before" && !this.#hasLines && !isObject) {
      this.#list = { start: this.#before + at, ends: [], isWhole: false };
    }
    if (this.#place !== "inside") this.#seeFirst(depth - 1);
    if (this.#place === "behind") return;
    this.#place = "begun";
    // One level more than an entry may have, because it may be an item of a list.
    if (depth > limits.nesting_levels + 1) this.#refuse(this.#ofEntry(nestingTooDeep()));
  }

  end(at: number, isObject: boolean): void {
    if (this.#place === "behind") {
      this.#noteTrailing();
      return;
    }
    const isLast = this.#tokenizer.depth <= 1 && !this.#hasLines;
    this.#place = isLast ? "behind" : "inside";
    if (!isLast || this.#list === undefined) return;
    this.#list.ends.push(this.#before + at);
    this.#list.isWhole = !isObject;
  }

  string(): void {
    if (this.#place !== "inside") this.#seeFirst(this.#tokenizer.depth);
  }

  scalar(): void {
    if (this.#place !== "inside") this.#seeFirst(this.#tokenizer.depth);
  }

  colon(): void {
    if (this.#place !== "inside") this.#seeFirst(this.#tokenizer.depth);
  }

  comma(at: number): void {
    if (this.#place !== "inside") this.#seeFirst(this.#tokenizer.depth);
    if (this.#place === "behind") return;
    if (this.#isOuterList(this.#tokenizer.depth)) this.#endItem(at);
    else this.#countValue();
  }

  #takeLines(chunk: Buffer, from: number): void {
    for (let start = from; start < chunk.length && this.#refused === undefined; ) {
      const feed = chunk.indexOf(LINE_FEED, start);
      const end = feed === -1 ? chunk.length : feed;
      this.#tokenizer.write(chunk, start, end);
      if (feed !== -1) this.#endLine();
      this.#lines += 1;
      if (this.#entries > ENTRIES_MAX || this.#lines > LINES_MAX) this.#refuse(tooManyEntries());
      start = end + 1;
    }
  }

  #endLine(): void {
    if (this.#place !== "before" || this.#tokenizer.unfinished !== undefined) this.#endEntry();
    this.#place = "before";
    this.#tokenizer.reset();
  }

  /** A byte order mark at the very beginning is not part of the text. */
  #afterMark(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && chunk[at] === BYTE_ORDER_MARK[this.#before + at]) at += 1;
    return at;
  }

  /** The first token of the body or of a list or object, or one after the end; closing tokens are handled before. */
  #seeFirst(depth: number): void {
    if (this.#place === "behind") {
      this.#noteTrailing();
      return;
    }
    // A list or object that is not empty has one more value than commas.
    if (this.#place === "begun" && !this.#isOuterList(depth)) this.#countValue();
    this.#place = "inside";
  }

  #isOuterList(depth: number): boolean {
    return depth === 1 && this.#list !== undefined;
  }

  #countValue(): void {
    this.#valuesLeft -= 1;
    if (this.#valuesLeft >= 0) return;
    const isEntrys = this.#valuesMax === limits.entry_values;
    this.#refuse(isEntrys ? this.#ofEntry(entryTooWide()) : requestTooWide());
  }

  #endItem(at: number): void {
    this.#list?.ends.push(this.#before + at);
    this.#endEntry();
    if (this.#entries >= ENTRIES_MAX) this.#refuse(tooManyEntries());
  }

  #endEntry(): void {
    this.#entries += 1;
    this.#values += this.#valuesMax - this.#valuesLeft;
    this.#valuesMax = Math.min(limits.entry_values, limits.request_values - this.#values);
    this.#valuesLeft = this.#valuesMax;
  }

  /** What follows the end is not JSON, and is not scanned. */
  #noteTrailing(): void {
    if (this.#list !== undefined) this.#list.isWhole = false;
    this.#tokenizer.stop();
  }

  #refuse(refused: Rejection): void {
    this.#refused ??= refused;
    this.#tokenizer.stop();
  }

  #ofEntry(refused: Rejection): Rejection {
    return this.#hasLines || this.#list !== undefined ? refused.at(this.#entries) : refused;
  }
}

export function tooManyEntries(): Rejection {
  return reject({
    code: "request_too_large",
    message: `the request has more than ${ENTRIES_MAX} entries`,
    hint: "Send fewer entries at a time.",
  });
}
