// The lines of a file of JSON objects, damaged ones included. Memory is bounded: an endless line is dropped as it is read.
import { isUtf8 } from "node:buffer";
import { isJsonObject, isNestedWithin } from "../model/json.js";
import { JsonTokenizer } from "../model/json-tokenizer.js";
import { limits } from "../model/limits.js";
import type { SourceRecord, SourceText } from "./importer.js";

/**
 * Several times an entry's limit: programs that escape everything but ASCII need twice the bytes, and transcripts repeat the
 * output of tools in fields that are not imported.
 */
export const LINE_BYTES_MAX = 6 * limits.entry_bytes;
/**
 * For lines of Hansard's own export: unknown fields were moved into `extra`, where they are nested deeper than an entry may be
 * when it is captured.
 */
export const EXPORTED_LEVELS_MAX = limits.nesting_levels + 4;
/** Below this a line cannot be nested deep enough to do harm. */
const NESTING_CHECKED_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
const NUL = 0x00;

const TOO_LONG = `the line is longer than ${LINE_BYTES_MAX} bytes (96 MiB)`;
export const UTF16_REASON = "the file is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8";

interface Line {
  readonly number: number;
  /** Undefined if the line was too long to keep. */
  readonly bytes: Buffer | undefined;
  readonly isTorn: boolean;
}

/**
 * The records of each chunk of the file, to be consumed before the next chunk. A promise for each line would take longer than
 * parsing it.
 */
export async function* readRecords(
  /** Undefined for a stream that was already read. */
  chunks: AsyncIterable<Buffer> | Iterable<Buffer> | undefined,
  levels: number = limits.nesting_levels,
): AsyncGenerator<Iterable<SourceRecord>> {
  const lines = new Lines();
  let isOther: boolean | undefined;
  function* recordsOf(cut: Iterable<Line>): Generator<SourceRecord> {
    for (const line of cut) {
      isOther ??= isUtf16(line.bytes ?? Buffer.alloc(0));
      if (line.bytes !== undefined && isBlank(line.bytes, isOther)) continue;
      yield isOther ? { line: line.number, reason: UTF16_REASON } : toRecord(line, levels);
    }
  }
  for await (const chunk of chunks ?? []) yield recordsOf(lines.cut(chunk));
  yield recordsOf(lines.rest());
}

/** The lines of each chunk of a file that is text. */
export async function* readTexts(chunks: AsyncIterable<Buffer> | undefined): AsyncGenerator<Iterable<SourceText>> {
  const lines = new Lines();
  function* textsOf(cut: Iterable<Line>): Generator<SourceText> {
    for (const { number: line, bytes } of cut) {
      if (bytes === undefined) yield { line, reason: TOO_LONG };
      else if (!isUtf8(bytes)) yield { line, reason: "the line is not valid UTF-8" };
      else yield { line, text: bytes.toString("utf8").replace(/\r$/, "") };
    }
  }
  for await (const chunk of chunks ?? []) yield textsOf(lines.cut(chunk));
  yield textsOf(lines.rest());
}

/** Record by record, for readers that await something in between. */
export async function* oneByOne(pieces: AsyncIterable<Iterable<SourceRecord>>): AsyncGenerator<SourceRecord> {
  for await (const records of pieces) yield* records;
}

/** Splits chunks into lines; an unfinished line is kept for the next chunk. */
class Lines {
  #number = 0;
  #parts: Buffer[] = [];
  #size = 0;

  *cut(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield this.#take(chunk.subarray(start, end), false);
      start = end + 1;
    }
    if (start === chunk.length) return;
    this.#size += chunk.length - start;
    if (this.#size <= LINE_BYTES_MAX) this.#parts.push(chunk.subarray(start));
    else this.#parts = [];
  }

  *rest(): Generator<Line> {
    if (this.#size > 0) yield this.#take(Buffer.alloc(0), true);
  }

  #take(last: Buffer, isTorn: boolean): Line {
    const isTooLong = this.#size + last.length > LINE_BYTES_MAX;
    const bytes = isTooLong ? undefined : joined(this.#parts, last);
    this.#number += 1;
    this.#parts = [];
    this.#size = 0;
    return { number: this.#number, bytes, isTorn };
  }
}

function joined(parts: readonly Buffer[], last: Buffer): Buffer {
  return parts.length === 0 ? last : Buffer.concat([...parts, last]);
}

/** By its byte order mark, or by the NUL bytes of ASCII characters. */
export function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  return (first === NUL) !== (second === NUL) && bytes.length > 3 && (bytes[2] === NUL) !== (bytes[3] === NUL);
}

function isBlank(bytes: Buffer, nulIsBlank: boolean): boolean {
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && !(nulIsBlank && byte === NUL)) return false;
  }
  return true;
}

function toRecord({ number: line, bytes: whole, isTorn }: Line, levels: number): SourceRecord {
  if (whole === undefined) return { line, reason: TOO_LONG };
  // A crash can leave zeros in unwritten space; what is next to them may be whole.
  const bytes = withoutNuls(whole);
  if (bytes.length === 0) return { line, reason: "the line contains only NUL bytes, as after a crash" };
  if (!isUtf8(bytes)) return { line, reason: "the line is not valid UTF-8" };
  if (bytes.length > NESTING_CHECKED_BYTES && !isShallow(bytes, levels)) return { line, reason: tooDeep(levels) };
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(line === 1 && text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (error) {
    const what = isTorn ? "the last line is torn" : "the line is not valid JSON";
    // The parser's message quotes the line, which may be long or hold a secret.
    return { line, reason: `${what}: ${brief(error)}` };
  }
  if (!isJsonObject(value)) return { line, reason: `the line is valid JSON, but ${named(value)} and not an object` };
  if (isEmpty(value)) return { line, reason: "the line is an empty object" };
  return isNestedWithin(value, levels)
    ? { line, record: value, bytes: bytes.length }
    : { line, reason: tooDeep(levels) };
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

function tooDeep(levels: number): string {
  return `the line is nested more than ${levels} levels deep`;
}

function withoutNuls(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && bytes[start] === NUL) start += 1;
  while (end > start && bytes[end - 1] === NUL) end -= 1;
  return bytes.subarray(start, end);
}

/** Checked before parsing: millions of brackets would become millions of objects. */
export function isShallow(bytes: Buffer, levels: number): boolean {
  let isTooDeep = false;
  const tokenizer = new JsonTokenizer({
    begin() {
      if (tokenizer.depth <= levels) return;
      isTooDeep = true;
      tokenizer.stop();
    },
  });
  tokenizer.write(bytes);
  return !isTooDeep;
}

/** Whether a list or an object is still open at the end of the bytes. A string cannot be: it never spans lines. */
export function isOpenAt(bytes: Buffer): boolean {
  const tokenizer = new JsonTokenizer({});
  tokenizer.write(bytes);
  return tokenizer.depth > 0 && tokenizer.unfinished !== "string";
}

function brief(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/[,. ]*"[\s\S]*$/, "").slice(0, 120);
}

function named(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
