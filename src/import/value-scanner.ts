// Values out of a long document, each found by its brackets and quotes and then parsed at once, so that no tokens are made
// of it and nothing is held but the value that is being read.
import { isUtf8 } from "node:buffer";
import type { JsonValue } from "../model/json.js";
import { limits } from "../model/limits.js";
import { isUtf16, LINE_BYTES_MAX, UTF16_REASON } from "./lines.js";

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The end of a longer text is found sooner by what looks for a byte in many. */
const SHORT_BYTES = 32;

export type Found =
  | { readonly line: number; readonly key: string; readonly value: JsonValue }
  | { readonly line: number; readonly reason: string; readonly is_end: boolean };

/** An open list or object around the values that are looked for. */
interface Level {
  readonly isObject: boolean;
  /** The member that is being read; undefined in lists, and in an object where a name comes next. */
  key: string | undefined;
}

/** What is being read: a name or a text, a number or a word, or a list or object with all that is in it. */
type Token = "none" | "text" | "word" | "whole";

/** Finds the values at paths of one length: `[]` are whole values, `["*"]` all members or items, `["messages", "*"]`. */
export class ValueScanner {
  isDone = false;
  readonly #paths: readonly (readonly string[])[];
  readonly #levels: Level[] = [];
  #found: Found[] = [];
  #line = 1;
  #isBegun = false;
  #token: Token = "none";
  #isName = false;
  /** Within a text, and whether its next byte is escaped. */
  #isText = false;
  #isEscaped = false;
  /** Lists and objects open within the value that is being read, and the most there were. */
  #open = 0;
  #openMost = 0;
  #isKept = false;
  #pieces: Buffer[] = [];
  #keptBytes = 0;
  #start = 0;

  constructor(paths: readonly (readonly string[])[]) {
    this.#paths = paths;
  }

  write(given: Buffer): readonly Found[] {
    const chunk = this.#isBegun ? given : withoutMark(given);
    if (!this.#isBegun && isUtf16(chunk)) this.#fail(UTF16_REASON);
    this.#isBegun = true;
    this.#start = 0;
    for (let at = 0; at < chunk.length && !this.isDone; ) at = this.#step(chunk, at);
    if (this.#isKept && !this.isDone) this.#keep(chunk.subarray(this.#start));
    for (let at = given.indexOf(LINE_FEED); at !== -1; at = given.indexOf(LINE_FEED, at + 1)) this.#line += 1;
    return this.#take();
  }

  end(): readonly Found[] {
    if (this.#token === "word" && !this.isDone) this.#finish(Buffer.alloc(0), 0);
    const isWhole = this.#token === "none" && this.#levels.length === 0;
    if (!isWhole) this.#fail("the document is torn: its end is missing");
    return this.#take();
  }

  /** Goes on from a byte, and answers with the next that is to be looked at. */
  #step(chunk: Buffer, at: number): number {
    if (this.#token === "text" || this.#token === "whole") return this.#within(chunk, at);
    const byte = chunk[at] as number;
    if (isBetween(byte)) {
      if (this.#token === "word") this.#finish(chunk, at);
      const level = this.#levels.at(-1);
      if (byte === 0x2c && level !== undefined) level.key = undefined;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (this.#token === "word") this.#finish(chunk, at);
      this.#close(byte === 0x7d);
    } else if (this.#token === "none") this.#begin(byte, at);
    return at + 1;
  }

  #begin(byte: number, at: number): void {
    const level = this.#levels.at(-1);
    const isOpening = byte === 0x7b || byte === 0x5b;
    if (isOpening && this.#levels.length < this.#depth) {
      this.#levels.push({ isObject: byte === 0x7b, key: undefined });
      return;
    }
    this.#isName = byte === QUOTE && level?.isObject === true && level.key === undefined;
    this.#token = byte === QUOTE ? "text" : isOpening ? "whole" : "word";
    this.#isText = byte === QUOTE;
    this.#open = isOpening ? 1 : 0;
    this.#openMost = this.#open;
    this.#isKept = this.#isName || this.#isWanted();
    this.#start = at;
  }

  /** Through a text, or a list or object with all that is in it, as far as the chunk goes. */
  #within(chunk: Buffer, from: number): number {
    let isText = this.#isText;
    let open = this.#open;
    let at = from;
    if (this.#isEscaped) at += 1;
    this.#isEscaped = false;
    let longAt = at + SHORT_BYTES;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isText) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) {
          isText = false;
          if (open === 0) break;
        } else if (at >= longAt) at = endOfText(chunk, at) - 1;
      } else if (byte === QUOTE) {
        isText = true;
        longAt = at + SHORT_BYTES;
      } else if (byte === 0x7b || byte === 0x5b) {
        open += 1;
        if (open > this.#openMost) this.#openMost = open;
      } else if (byte === 0x7d || byte === 0x5d) {
        open -= 1;
        if (open === 0) break;
      }
    }
    this.#isText = isText;
    this.#open = open;
    this.#isEscaped = at > chunk.length;
    if (at < chunk.length) this.#finish(chunk, at + 1);
    return at + 1;
  }

  /** The token ends before this byte. */
  #finish(chunk: Buffer, end: number): void {
    this.#token = "none";
    if (!this.#isKept) return;
    this.#keep(chunk.subarray(this.#start, end));
    const [only] = this.#pieces;
    const bytes = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
    this.#isKept = false;
    this.#pieces = [];
    this.#keptBytes = 0;
    if (!this.isDone) this.#tell(bytes);
  }

  #tell(bytes: Buffer): void {
    if (this.#openMost > limits.nesting_levels) {
      this.#refuse(`the value is nested more than ${limits.nesting_levels} levels deep`);
    } else if (!isUtf8(bytes)) this.#refuse("the value is not valid UTF-8");
    else {
      const value = parsed(bytes);
      const level = this.#levels.at(-1);
      if (value === undefined) this.#fail("the document is not valid JSON from here on");
      else if (this.#isName && level !== undefined) level.key = String(value);
      else this.#found.push({ line: this.#line, key: level?.key ?? "", value });
    }
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#keptBytes += piece.length;
    if (this.#keptBytes > LINE_BYTES_MAX) this.#fail(`one value of it is longer than ${LINE_BYTES_MAX} bytes`);
  }

  #close(isObject: boolean): void {
    const level = this.#levels.pop();
    if (level?.isObject !== isObject) this.#fail("the document is not valid JSON: a bracket closes what is not open");
  }

  get #depth(): number {
    return this.#paths[0]?.length ?? 0;
  }

  #isWanted(): boolean {
    if (this.#levels.length !== this.#depth) return false;
    return this.#paths.some((path) => path.every((name, at) => name === "*" || name === this.#levels[at]?.key));
  }

  #refuse(reason: string): void {
    this.#found.push({ line: this.#line, reason, is_end: false });
  }

  #fail(reason: string): void {
    if (this.isDone) return;
    this.isDone = true;
    this.#isKept = false;
    this.#pieces = [];
    this.#found.push({ line: this.#line, reason, is_end: true });
  }

  #take(): readonly Found[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }
}

/**
 * Where the quote stands that ends a text, from a byte on that is not escaped; where it is not in the chunk, the chunk's end, and
 * one more where the last byte escapes the next.
 */
function endOfText(chunk: Buffer, from: number): number {
  for (let quote = chunk.indexOf(QUOTE, from); ; quote = chunk.indexOf(QUOTE, quote + 1)) {
    const end = quote === -1 ? chunk.length : quote;
    let before = end;
    while (before > from && chunk[before - 1] === BACKSLASH) before -= 1;
    const isEscaped = (end - before) % 2 === 1;
    if (quote === -1) return isEscaped ? end + 1 : end;
    if (!isEscaped) return end;
  }
}

function parsed(bytes: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(bytes.toString("utf8")) as JsonValue;
  } catch {
    return undefined;
  }
}

/** White space, commas and colons. */
function isBetween(byte: number): boolean {
  return byte === 0x20 || byte === LINE_FEED || byte === 0x0d || byte === 0x09 || byte === 0x2c || byte === 0x3a;
}

export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
