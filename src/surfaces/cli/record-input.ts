// Reads entries from standard input in batches: a JSON object, an array, or NDJSON of any length.
import { itemAt } from "../../model/item-at.js";
import { isJson } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import { RecorderError } from "../../model/rejection.js";

/** Large enough that one fsync serves many entries, small enough that little is lost if a line is rejected. */
const BATCH_ENTRIES_MAX = 500;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const PAUSE_MS = 200;
const LINE_FEED = 0x0a;
const LIST_START = 0x5b;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface InputBatch {
  readonly items: readonly unknown[];
  /** The line that each item begins on; undefined if the items came as one array. */
  readonly lines: readonly number[] | undefined;
}

/** Input that cannot be read: its line, and the number of its entry, from 0. */
export class LineRejected extends Error {
  readonly line: number | undefined;
  readonly index: number | undefined;
  readonly reason: RecorderError;

  constructor(reason: RecorderError, at: { readonly line?: number; readonly index?: number | undefined } = {}) {
    super(reason.message);
    this.reason = reason;
    this.line = at.line;
    this.index = at.index;
  }
}

interface Line {
  readonly number: number;
  /** The number of non-blank lines before it; undefined if lines are not entries. */
  readonly index: number | undefined;
  readonly bytes: Buffer;
  /** Whether the line exceeds the limit, and these are only its first bytes. */
  readonly isTooLong?: true;
}

export async function* readBatches(input: AsyncIterable<Buffer>): AsyncGenerator<InputBatch, undefined> {
  const blocks = blocksOf(input);
  const opening = await blocks.next();
  if (opening.done === true) return undefined;
  const first = itemAt(opening.value, 0);
  if (isEntry(first)) yield* gather(opening.value, blocks);
  else {
    const whole = await parseWhole(opening.value, blocks);
    yield Array.isArray(whole) ? { items: whole, lines: undefined } : { items: [whole], lines: [first.number] };
  }
  return undefined;
}

/** Non-blank lines with their numbers, as many at a time as have arrived. A line may be as long as a request. */
async function* blocksOf(input: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[], undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  let number = 0;
  let index = -1;
  const take = (last: Buffer): readonly Line[] => {
    number += 1;
    const bytes = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    parts = [];
    size = 0;
    if (isBlank(bytes)) return [];
    index += 1;
    return [{ number, index, bytes }];
  };
  for await (const chunk of input) {
    const block: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      block.push(...take(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (block.length > 0) yield block;
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > limits.request_bytes) {
      yield [{ number: number + 1, index: index + 1, bytes: itemAt(parts, 0), isTooLong: true }];
      return undefined;
    }
  }
  const last = take(Buffer.alloc(0));
  if (last.length > 0) yield last;
  return undefined;
}

/** Whether the line is a complete entry, and not the beginning of a longer document. */
function isEntry(line: Line): boolean {
  return !beginsList(line.bytes) && isJson(decode(line));
}

/** Checks bytes, not text: if a list cannot be decoded, the bad item is unknown. */
function beginsList(bytes: Buffer): boolean {
  const from = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  const first = bytes.subarray(from).find((byte) => !isSpace(byte));
  return first === LIST_START;
}

/** Yields a batch when it is full, and when the input pauses: entries of a slow writer must not wait. */
async function* gather(
  opening: readonly Line[],
  rest: AsyncGenerator<readonly Line[], undefined>,
): AsyncGenerator<InputBatch> {
  let items: unknown[] = [];
  let lines: number[] = [];
  let bytes = 0;
  const takeBatch = (): InputBatch => {
    const batch = { items, lines };
    [items, lines, bytes] = [[], [], 0];
    return batch;
  };
  let block: readonly Line[] | undefined = opening;
  while (block !== undefined) {
    for (const line of block) {
      const isFull = items.length >= BATCH_ENTRIES_MAX || bytes + line.bytes.length > BATCH_BYTES_MAX;
      if (isFull && items.length > 0) yield takeBatch();
      items.push(parseLine(line));
      lines.push(line.number);
      bytes += line.bytes.length;
    }
    const next = rest.next();
    if (items.length > 0 && !(await isSettledWithin(next, PAUSE_MS))) yield takeBatch();
    block = (await next).value;
  }
  if (items.length > 0) yield takeBatch();
}

async function isSettledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const settled = promise.then(
    () => true,
    () => true,
  );
  const pause = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([settled, pause]);
  } finally {
    clearTimeout(timer);
  }
}

function parseLine(line: Line): unknown {
  const text = decode(line);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = notJson(error, "Every line must be one JSON object (NDJSON).");
    throw new LineRejected(reason, { line: line.number, index: line.index });
  }
}

/** Reads a document that spans lines. It may be as long as a request. */
async function parseWhole(opening: readonly Line[], rest: AsyncGenerator<readonly Line[]>): Promise<unknown> {
  const lines = [...opening];
  let size = lines.reduce((sum, line) => sum + line.bytes.length, 0);
  for await (const block of rest) {
    lines.push(...block);
    size += block.reduce((sum, line) => sum + line.bytes.length, 0);
    if (size > limits.request_bytes) throw new LineRejected(tooLarge());
  }
  try {
    return JSON.parse(lines.map((line) => decode({ ...line, index: undefined })).join("\n"));
  } catch (error) {
    if (error instanceof LineRejected) throw error;
    // If the second line is valid on its own, the input is NDJSON and its first line is the bad one.
    const [first, second] = lines;
    if (first !== undefined && second !== undefined && isJson(decode(second))) return parseLine(first);
    const hint = "Give one JSON object, an array of them, or one object per line (NDJSON).";
    throw new LineRejected(notJson(error, hint));
  }
}

function decode(line: Line): string {
  const at = { line: line.number, index: line.index };
  if (line.isTooLong) throw new LineRejected(tooLarge(), at);
  try {
    // A byte order mark is dropped only at the start of the input.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: line.number > 1 }).decode(line.bytes);
  } catch {
    const reason = new RecorderError({
      code: "utf8_invalid",
      message: "the input is not valid UTF-8",
      hint: "Convert it first, for example with iconv.",
    });
    throw new LineRejected(reason, at);
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (!isSpace(byte)) return false;
  return true;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function notJson(error: unknown, hint: string): RecorderError {
  const message = `the input is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  return new RecorderError({ code: "json_invalid", message, hint });
}

function tooLarge(): RecorderError {
  return new RecorderError({
    code: "request_too_large",
    message: `a line or document may have at most ${limits.request_bytes} bytes (64 MiB)`,
    hint: "Give one entry per line (NDJSON); the whole input may have any length.",
  });
}
