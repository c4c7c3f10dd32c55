// Finds values in a long document by their brackets and quotes, and parses each as soon as its end is found. Only the value
// that is being read is held in memory.
import { isUtf8 } from "node:buffer";
import { type JsonValue, parseJson } from "../model/json.js";
import { JsonTokenizer } from "../model/json-tokenizer.js";
import { limits } from "../model/limits.js";
import { isUtf16, LINE_BYTES_MAX, UTF16_REASON } from "./lines.js";

const LINE_FEED = 0x0a;

export type Found =
  | { readonly line: number; readonly key: string; readonly value: JsonValue }
  | { readonly line: number; readonly reason: string; readonly is_end: boolean };

/** An open list or object around the requested values. */
interface Level {
  readonly isObject: boolean;
  /** The current member; undefined in lists, and in an object where a name comes next. */
  key: string | undefined;
}

/** Finds the values at paths of one length: `[]` are whole values, `["*"]` all members or items, `["messages", "*"]`. */
export class ValueScanner {
  isDone = false;
  readonly #paths: readonly (readonly string[])[];
  /** Values are searched in at most this many nested lists and objects. */
  readonly #depth: number;
  readonly #levels: Level[] = [];
  #found: Found[] = [];
  #line = 1;
  #isBegun = false;
  #chunk: Buffer = Buffer.alloc(0);
  /** Where the requested list or object that is being read begins in the chunk; undefined while there is none. */
  #start: number | undefined;
  /** The most lists and objects that were open in the tokenizer while it was read. */
  #deepest = 0;
  /** The part of the current name or value from earlier chunks. */
  #pieces: Buffer[] = [];
  #keptBytes = 0;
  readonly #tokenizer = new JsonTokenizer({
    begin: (at, isObject) => this.#begin(at, isObject),
    end: (at, isObject) => this.#end(at, isObject),
    string: (start, end) => this.#scalar(start, end, true),
    scalar: (start, end) => this.#scalar(start, end, false),
    comma: () => this.#comma(),
  });

  constructor(paths: readonly (readonly string[])[]) {
    this.#paths = paths;
    this.#depth = paths[0]?.length ?? 0;
  }

  write(given: Buffer): readonly Found[] {
    this.#chunk = this.#isBegun ? given : withoutByteOrderMark(given);
    if (!this.#isBegun && isUtf16(this.#chunk)) this.#fail(UTF16_REASON);
    this.#isBegun = true;
    this.#tokenizer.write(this.#chunk);
    if (!this.isDone) this.#keepUnfinished();
    for (let at = given.indexOf(LINE_FEED); at !== -1; at = given.indexOf(LINE_FEED, at + 1)) this.#line += 1;
    return this.#take();
  }

  end(): readonly Found[] {
    this.#chunk = Buffer.alloc(0);
    this.#tokenizer.end();
    const isWhole = this.#tokenizer.unfinished === undefined && this.#tokenizer.depth === 0;
    if (!isWhole) this.#fail("the document is incomplete: its end is missing");
    return this.#take();
  }

  #begin(at: number, isObject: boolean): void {
    const { depth } = this.#tokenizer;
    if (depth > this.#deepest) this.#deepest = depth;
    if (depth <= this.#depth) this.#levels.push({ isObject, key: undefined });
    else if (depth === this.#depth + 1) {
      this.#deepest = depth;
      this.#start = this.#isWanted() ? at : undefined;
    }
  }

  #end(at: number, isObject: boolean): void {
    const { depth } = this.#tokenizer;
    if (depth > this.#depth + 1) return;
    if (depth <= this.#depth) {
      if (this.#levels.pop()?.isObject !== isObject) {
        this.#fail("the document is not valid JSON: unexpected closing bracket");
      }
    } else if (this.#start !== undefined) {
      const value = this.#read(this.#start, at + 1, this.#deepest - this.#depth);
      if (value !== undefined) this.#found.push({ line: this.#line, key: this.#levels.at(-1)?.key ?? "", value });
      this.#start = undefined;
    }
  }

  #scalar(start: number, end: number, isString: boolean): void {
    if (this.#tokenizer.depth > this.#depth) return;
    const level = this.#levels.at(-1);
    const isName = isString && this.#isNameNext();
    if (!isName && !this.#isWanted()) return;
    const value = this.#read(start, end, 0);
    if (value === undefined) return;
    if (isName && level !== undefined) level.key = String(value);
    else this.#found.push({ line: this.#line, key: level?.key ?? "", value });
  }

  #comma(): void {
    if (this.#tokenizer.depth > this.#depth) return;
    const level = this.#levels.at(-1);
    if (level !== undefined) level.key = undefined;
  }

  /** The value that ends in the chunk. */
  #read(start: number, end: number, levels: number): JsonValue | undefined {
    this.#keep(this.#chunk.subarray(Math.max(start, 0), end));
    const [only] = this.#pieces;
    const bytes = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#keptBytes = 0;
    if (this.isDone) return undefined;
    if (levels > limits.nesting_levels) {
      return this.#refuse(`the value is nested more than ${limits.nesting_levels} levels deep`);
    }
    if (!isUtf8(bytes)) return this.#refuse("the value is not valid UTF-8");
    const value = parseJson(bytes.toString("utf8"));
    return value === undefined ? this.#fail("the document is not valid JSON from here on") : value;
  }

  /** A value that continues in the next chunk is kept so far. */
  #keepUnfinished(): void {
    const { unfinished, unfinishedStart, depth } = this.#tokenizer;
    if (depth > this.#depth) {
      if (this.#start === undefined) return;
      this.#keep(this.#chunk.subarray(this.#start));
      this.#start = 0;
    } else if (unfinished !== undefined) {
      const isKept = (unfinished === "string" && this.#isNameNext()) || this.#isWanted();
      if (isKept) this.#keep(this.#chunk.subarray(Math.max(this.#chunk.length + unfinishedStart, 0)));
    }
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#keptBytes += piece.length;
    if (this.#keptBytes > LINE_BYTES_MAX) this.#fail(`one value of it is longer than ${LINE_BYTES_MAX} bytes`);
  }

  #isNameNext(): boolean {
    const level = this.#levels.at(-1);
    return level?.isObject === true && level.key === undefined;
  }

  #isWanted(): boolean {
    if (this.#levels.length !== this.#depth) return false;
    return this.#paths.some((path) => path.every((name, at) => name === "*" || name === this.#levels[at]?.key));
  }

  #refuse(reason: string): undefined {
    this.#found.push({ line: this.#line, reason, is_end: false });
  }

  #fail(reason: string): undefined {
    if (this.isDone) return;
    this.isDone = true;
    this.#tokenizer.stop();
    this.#pieces = [];
    this.#found.push({ line: this.#line, reason, is_end: true });
  }

  #take(): readonly Found[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }
}

export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
