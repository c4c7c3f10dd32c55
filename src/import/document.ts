// Documents: files that are one JSON value, or several one after the other. A short one is parsed whole, a longer one
// value by value, so that memory is bounded by the longest value and not by the file.
import { isUtf8 } from "node:buffer";
import { JSONParser } from "@streamparser/json";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { limits } from "../model/limits.js";
import type { SourceValue } from "./importer.js";
import { isShallow } from "./lines.js";
import { type Found, ValueScanner, withoutMark } from "./value-scanner.js";

/** Below this a document is held whole: parsing it at once is many times as fast. */
const WHOLE_BYTES_MAX = 2 * limits.entry_bytes;
const LINE_FEED = 0x0a;

export interface Document {
  header(names: readonly string[]): Promise<JsonObject>;
  values(path: string): AsyncIterable<SourceValue>;
}

/**
 * `open` gives the whole file's bytes each time; a stream, which can be read once only, gives undefined afterwards. Where it is
 * known how many there will be, nothing of a long one is held.
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

/** Undefined where it is not one value: the streaming parser then says how far it can be read. */
function parseWhole(bytes: Buffer): Document | undefined {
  if (!isUtf8(bytes) || !isShallow(bytes, limits.nesting_levels)) return undefined;
  try {
    return new WholeDocument(JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, "")) as JsonValue);
  } catch {
    return undefined;
  }
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
    // A document has values and no lines of its own; they are counted.
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
 * The first JSON value of an opening, as far as it goes, and whether it is longer than the first line. Undefined where
 * what stands there is no JSON.
 */
export function firstValue(bytes: Buffer): { readonly value: JsonValue; readonly is_one_value: boolean } | undefined {
  let root: unknown;
  let isWhole = false;
  let isFailed = false;
  const parser = new JSONParser({ keepStack: true, separator: "" });
  parser.onError = () => {
    isFailed = true;
  };
  parser.onValue = ({ value, parent, stack }) => {
    if (isWhole) return;
    // Objects and lists are filled in place, so that holding the outermost one shows all that came of it.
    root = stack.length === 0 ? value : stack.length === 1 ? parent : stack[1]?.value;
    isWhole = stack.length === 0;
  };
  const marked = withoutMark(bytes);
  const start = marked.findIndex((byte) => !isSpace(byte));
  const text = marked.subarray(Math.max(start, 0));
  const end = text.indexOf(LINE_FEED);
  parser.write(text.subarray(0, end === -1 ? text.length : end + 1));
  const isLine = isWhole;
  if (end !== -1 && !isLine && !isFailed) parser.write(text.subarray(end + 1));
  if (isFailed || root === undefined) return undefined;
  return { value: root as JsonValue, is_one_value: !isLine };
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
