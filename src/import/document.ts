// Documents: files with one JSON value, or several in a row. A short one is parsed whole, a long one value by value:
// memory is bounded by the longest value, not by the file.
import { isUtf8 } from "node:buffer";
import { isJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from "../model/json.js";
import { JsonTokenizer } from "../model/json-tokenizer.js";
import { limits } from "../model/limits.js";
import type { SourceValue } from "./importer.js";
import { isShallow } from "./lines.js";
import { type Found, ValueScanner, withoutByteOrderMark } from "./value-scanner.js";

/** Shorter documents are parsed at once, which is many times as fast. */
const WHOLE_BYTES_MAX = 2 * limits.entry_bytes;
const LINE_FEED = 0x0a;

export interface Document {
  header(names: readonly string[]): Promise<JsonObject>;
  values(path: string): AsyncIterable<SourceValue>;
}

/**
 * `open` returns the whole file's bytes each time; for a stream, which can be read only once, it returns undefined
 * afterwards. If the number of values is known, nothing of a long document is held.
 */
export async function readDocument(
  open: () => AsyncIterable<Buffer> | undefined,
  bytesExpected = 0,
): Promise<Document> {
  if (bytesExpected > WHOLE_BYTES_MAX) return new StreamedDocument(open);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const first = open() ?? [];
  for await (const chunk of first) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > WHOLE_BYTES_MAX) return new StreamedDocument(open);
  }
  const whole = Buffer.concat(chunks);
  return parseWhole(whole) ?? new StreamedDocument(() => once(whole));
}

/** Undefined if it is not one value: the streaming parser then finds how far it can be read. */
function parseWhole(bytes: Buffer): Document | undefined {
  if (!isUtf8(bytes) || !isShallow(bytes, limits.nesting_levels)) return undefined;
  const root = parseJson(bytes.toString("utf8").replace(/^\ufeff/, ""));
  return root === undefined ? undefined : new WholeDocument(root);
}

class WholeDocument implements Document {
  readonly #root: JsonValue;

  constructor(root: JsonValue) {
    this.#root = root;
  }

  async header(names: readonly string[]): Promise<JsonObject> {
    const root = this.#root;
    if (!isJsonObject(root)) return {};
    return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(root, name) ? [[name, root[name] ?? null]] : [])));
  }

  async *values(path: string): AsyncGenerator<SourceValue> {
    let found: readonly JsonValue[] = [this.#root];
    for (const name of path === "" ? [] : path.split(".")) found = found.flatMap((value) => membersOf(value, name));
    // A document has values instead of lines; errors count values.
    for (const [index, value] of found.entries()) yield { line: index + 1, value };
  }
}

function membersOf(value: JsonValue, name: string): readonly JsonValue[] {
  if (Array.isArray(value)) return name === "*" ? value : [];
  if (!isJsonObject(value)) return [];
  if (name === "*") return Object.values(value);
  return Object.hasOwn(value, name) ? [value[name] as JsonValue] : [];
}

class StreamedDocument implements Document {
  readonly #open: () => AsyncIterable<Buffer> | undefined;

  constructor(open: () => AsyncIterable<Buffer> | undefined) {
    this.#open = open;
  }

  async header(names: readonly string[]): Promise<JsonObject> {
    const members: [string, JsonValue][] = [];
    for await (const item of this.#read(names.map((name) => [name]))) {
      if ("value" in item) members.push([item.key, item.value]);
    }
    return Object.fromEntries(members);
  }

  async *values(path: string): AsyncGenerator<SourceValue> {
    let count = 0;
    for await (const item of this.#read([path === "" ? [] : path.split(".")])) {
      count += 1;
      if ("value" in item) yield { line: count, value: item.value };
      else yield { line: item.is_end ? item.line : count, reason: item.reason };
    }
  }

  async *#read(paths: readonly (readonly string[])[]): AsyncGenerator<Found> {
    const chunks = this.#open();
    if (chunks === undefined) {
      yield { line: 0, reason: "a document of this size is read from a file, not from a stream", is_end: true };
      return;
    }
    const scanner = new ValueScanner(paths);
    for await (const chunk of chunks) {
      yield* scanner.write(chunk);
      if (scanner.isDone) return;
    }
    yield* scanner.end();
  }
}

/**
 * The first JSON value of an opening, as far as it goes, and whether it is longer than the first line. Undefined if the
 * opening is not JSON.
 */
export function firstValue(bytes: Buffer): { readonly value: JsonValue; readonly is_one_value: boolean } | undefined {
  const text = withoutByteOrderMark(bytes);
  const start = text.findIndex((byte) => byte > 0x20);
  const end = text.indexOf(LINE_FEED, Math.max(start, 0));
  const line = new FirstValue(end === -1 ? text : text.subarray(0, end + 1));
  const { value } = line.isWhole ? line : new FirstValue(text);
  return value === undefined ? undefined : { value, is_one_value: !line.isWhole };
}

/** Bytes that contain consecutive values, or the beginning of one. */
class FirstValue {
  /** Whether they contain all of the first value. */
  isWhole = false;
  readonly #bytes: Buffer;
  #next: "value" | "first item" | "first name" | "name" | "colon" | "comma or end" = "value";
  /** The missing closing brackets. */
  readonly #closing: string[] = [];
  /** What follows of the first value is at most a name, a colon or a comma. */
  #end = 0;
  /** Before any token has ended, nothing is known of the value. */
  #isKnown = false;
  #isFailed = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const tokenizer = new JsonTokenizer({
      begin: (at, isObject) => this.#beginList(at, isObject),
      end: (at, isObject) => this.#endList(at, isObject),
      string: (start, end) => this.#scalar(start, end, true),
      scalar: (start, end) => this.#scalar(start, end, false),
      comma: () => this.#separator("comma or end", this.#closing.at(-1) === "}" ? "name" : "value"),
      colon: () => this.#separator("colon", "value"),
    });
    tokenizer.write(bytes);
    // A string never spans lines.
    const { unfinished, unfinishedStart } = tokenizer;
    if (unfinished === "string" && bytes.includes(LINE_FEED, bytes.length + unfinishedStart)) this.#isFailed = true;
  }

  /** The first value, closed if its end is missing; undefined if the bytes are not JSON. */
  get value(): JsonValue | undefined {
    if (this.#isFailed || !this.#isKnown) return undefined;
    const closing = this.isWhole ? "" : this.#closing.toReversed().join("");
    const bytes = Buffer.concat([this.#bytes.subarray(0, this.#end), Buffer.from(closing)]);
    return isUtf8(bytes) ? parseJson(bytes.toString("utf8")) : undefined;
  }

  #beginList(at: number, isObject: boolean): void {
    if (!this.#isValueNext) this.#isFailed = true;
    this.#closing.push(isObject ? "}" : "]");
    this.#next = isObject ? "first name" : "first item";
    if (!this.isWhole) this.#end = at + 1;
  }

  #endList(at: number, isObject: boolean): void {
    const isNext = this.#next === "comma or end" || this.#next === (isObject ? "first name" : "first item");
    if (!isNext || this.#closing.pop() !== (isObject ? "}" : "]")) this.#isFailed = true;
    this.#endValue(at + 1);
  }

  #scalar(start: number, end: number, isString: boolean): void {
    // Parses what belongs to the first value.
    if (this.isWhole && !isJson(this.#bytes.toString("utf8", start, end))) this.#isFailed = true;
    const isName = isString && (this.#next === "first name" || this.#next === "name");
    if (isName) this.#next = "colon";
    else if (this.#isValueNext) this.#endValue(end);
    else this.#isFailed = true;
  }

  #separator(expected: "colon" | "comma or end", next: "name" | "value"): void {
    if (this.#next !== expected) this.#isFailed = true;
    this.#next = next;
  }

  #endValue(end: number): void {
    this.#isKnown = true;
    this.#next = this.#closing.length === 0 ? "value" : "comma or end";
    if (!this.isWhole) this.#end = end;
    this.isWhole ||= this.#closing.length === 0;
  }

  get #isValueNext(): boolean {
    return this.#next === "value" || this.#next === "first item";
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
