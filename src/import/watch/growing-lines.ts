// The lines of a file that grows, from where they were left to the last that is whole.
import { hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import { limits } from "../../model/limits.js";
import type { GrowingLines } from "../file-source.js";
import type { Resumption, SourceRecord } from "../importer.js";
import { LINE_BYTES_MAX, readRecords } from "../lines.js";
import type { Evidence, Place } from "./bookmarks.js";

const CHUNK_BYTES = 256 * 1024;
const EVIDENCE_BYTES = 4 * 1024;
/** How much is read between two places that are kept, so that whoever is killed in a long file does not begin it anew. */
const KEEP_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Thrown where the file turns out to be another one while it is read. */
export class ReplacedFile extends Error {}

/** Whether the file still begins and goes on as it did when it was read up to this place. */
export async function continues(handle: FileHandle, place: Place): Promise<boolean> {
  const { size } = await handle.stat();
  if (size < place.offset) return false;
  const head = await bytesAt(handle, 0, place.head.bytes);
  const tail = await bytesAt(handle, place.offset - place.tail.bytes, place.tail.bytes);
  return isSame(evidenceOf(head), place.head) && isSame(evidenceOf(tail), place.tail);
}

interface GrowingParts {
  readonly handle: FileHandle;
  readonly file: string;
  /** Where it was left; undefined at its start. */
  readonly place: Place | undefined;
  readonly signal: AbortSignal;
  /** Waits until all steps of what was read so far are in the log. */
  readonly flush: () => Promise<void>;
  /** Hears of places on the way, and last of where the whole lines end. */
  readonly reach: (place: Place, is_last: boolean) => Promise<void>;
}

export class GrowingFile implements GrowingLines {
  readonly resume: Resumption;
  /** How many bytes were read for good. */
  bytes = 0;
  readonly #parts: GrowingParts;
  readonly #head: Buffer;
  #know: (() => unknown) | undefined;
  #end: number | undefined;

  static async open(parts: GrowingParts): Promise<GrowingFile> {
    return new GrowingFile(parts, await bytesAt(parts.handle, 0, EVIDENCE_BYTES));
  }

  private constructor(parts: GrowingParts, head: Buffer) {
    this.#parts = parts;
    this.#head = head;
    this.resume = {
      known: parts.place === undefined ? undefined : deserialize(parts.place.known),
      note: (know) => {
        this.#know = know;
      },
    };
  }

  /** The lines from the place on; each call gives the same ones. */
  async *records(levels: number = limits.nesting_levels): AsyncGenerator<Iterable<SourceRecord>> {
    const { place, handle } = this.#parts;
    this.#end ??= (await handle.stat()).size;
    const reach = new Reach(place, this.#head);
    let keptAt = reach.offset;
    for (let at = reach.offset; at < this.#end; ) {
      const chunk = await this.#chunkAt(at, this.#end);
      at += chunk.length;
      const lines = reach.take(chunk);
      if (lines === undefined) continue;
      for await (const records of readRecords(lines, levels)) yield furtherDown(records, reach.line);
      reach.advance();
      if (reach.offset - keptAt < KEEP_BYTES) continue;
      await this.#tell(reach, false);
      keptAt = reach.offset;
    }
    await this.#tell(reach, true);
    // A last line that nobody has ended may be whole all the same. Its place stays before it, in case it goes on.
    for await (const records of readRecords(reach.rest(), levels)) {
      yield furtherDown([...records].filter(isWhole), reach.line);
    }
  }

  /** The next bytes, if the file still is the one that was opened: who truncates it may write others in its place. */
  async #chunkAt(at: number, end: number): Promise<Buffer> {
    const { handle, signal } = this.#parts;
    signal.throwIfAborted();
    const chunk = await bytesAt(handle, at, Math.min(CHUNK_BYTES, end - at));
    const head = await bytesAt(handle, 0, this.#head.length);
    if (chunk.length === 0 || !head.equals(this.#head)) throw new ReplacedFile();
    return chunk;
  }

  async #tell(reach: Reach, is_last: boolean): Promise<void> {
    const { file, place, flush, reach: tell } = this.#parts;
    // Before an importer has said how to ask it, it only looks through the lines.
    if (this.#know === undefined) return;
    await flush();
    const { offset, line, head, tail } = reach;
    const known = serialize(this.#know());
    this.bytes = offset - (place?.offset ?? 0);
    await tell({ offset, line, file, head, tail, known }, is_last);
  }
}

/** Records by the line on which they stand in the whole file. */
function* furtherDown(records: Iterable<SourceRecord>, lines: number): Generator<SourceRecord> {
  for (const item of records) yield { ...item, line: item.line + lines };
}

function isWhole(item: SourceRecord): boolean {
  return "record" in item;
}

/** How far the lines of a file were taken, and what is there of the next one. */
class Reach {
  offset: number;
  line: number;
  tail: Evidence;
  readonly #head: Buffer;
  /** The last bytes that were read. */
  #recent: Buffer = Buffer.alloc(0);
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #taken: { readonly bytes: number; readonly lines: number; readonly tail: Buffer } | undefined;

  constructor(place: Place | undefined, head: Buffer) {
    this.offset = place?.offset ?? 0;
    this.line = place?.line ?? 0;
    this.tail = place?.tail ?? evidenceOf(this.#recent);
    this.#head = head;
  }

  get head(): Evidence {
    return evidenceOf(this.#head.subarray(0, Math.min(this.#head.length, this.offset)));
  }

  /** The whole lines that this chunk ends; undefined where it ends none. */
  take(chunk: Buffer): readonly Buffer[] | undefined {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end === 0) {
      this.#hold(chunk);
      return undefined;
    }
    const ended = chunk.subarray(0, end);
    const lines = [...this.#pending, ended];
    this.#recent = lastBytes(this.#recent, ended);
    this.#taken = { bytes: this.#pendingBytes + end, lines: countLines(ended), tail: this.#recent };
    this.#pending = [];
    this.#pendingBytes = 0;
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    return lines;
  }

  /** Goes behind the lines that were taken last. */
  advance(): void {
    if (this.#taken === undefined) return;
    this.offset += this.#taken.bytes;
    this.line += this.#taken.lines;
    this.tail = evidenceOf(this.#taken.tail);
    this.#taken = undefined;
  }

  rest(): readonly Buffer[] {
    return this.#pending;
  }

  #hold(bytes: Buffer): void {
    this.#pendingBytes += bytes.length;
    this.#recent = lastBytes(this.#recent, bytes);
    // A line without end is counted, not held; what is held of it shows that it is too long.
    if (this.#pendingBytes - bytes.length <= LINE_BYTES_MAX) this.#pending.push(bytes);
  }
}

function lastBytes(before: Buffer, bytes: Buffer): Buffer {
  const all = bytes.length >= EVIDENCE_BYTES ? bytes : Buffer.concat([before, bytes]);
  return Buffer.from(all.subarray(Math.max(0, all.length - EVIDENCE_BYTES)));
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}

function evidenceOf(bytes: Buffer): Evidence {
  return { bytes: bytes.length, hash: hash("sha256", bytes, "hex") };
}

function isSame(one: Evidence, other: Evidence): boolean {
  return one.bytes === other.bytes && one.hash === other.hash;
}

async function bytesAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, length));
  let read = 0;
  while (read < bytes.length) {
    const { bytesRead } = await handle.read(bytes, read, bytes.length - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}
