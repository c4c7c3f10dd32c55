// One look at a watched file: reads what is new since the last one, line by line from the resume point, or the whole file.

import { hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { deserialize, serialize } from "node:v8";
import { limits } from "../../model/limits.js";
import { isDatabase } from "../foreign-databases.js";
import { FileTally, ImportBatcher, type ImportTarget } from "../import-batcher.js";
import { type ImportedFile, type ImportPlan, importFiles, REJECTED_MAX, type RejectedLine } from "../import-files.js";
import type { LineImporter, Opening, Resumption, SourceRecord } from "../importer.js";
import { LINE_BYTES_MAX, readRecords } from "../lines.js";
import { findImporter, importerNamed, isAllowed, nameOf, whyRefused } from "../registry.js";
import { FileSource, type GrowingLines, OPENING_BYTES, openFile, readOpening } from "../source-files.js";
import { isCompressed } from "../zstd.js";
import type { Bookmark, Bookmarks, Fingerprint, ResumePoint, StoredBookmark } from "./bookmarks.js";
import { type SeenFile, toSeen } from "./seen-files.js";

/**
 * A file that was not written to for this long counts as finished for now. One that is read whole waits longer: its
 * session may continue in other files.
 */
export const SETTLE_MS = { lines: 60_000, whole: 600_000 } as const;
/** Enough to recognise a database and a compressed file. */
const OPENING_MAGIC_BYTES = 16;

export interface LookParts {
  readonly plan: ImportPlan;
  readonly target: ImportTarget;
  readonly bookmarks: Bookmarks;
  readonly nowMs: number;
  /** Ends reading of a long file early. */
  readonly signal: AbortSignal;
}

/** What a look at a file found. */
export interface LookResult {
  readonly format: string;
  readonly added: number;
  readonly existing: number;
  readonly bytes: number;
  readonly rejected: readonly RejectedLine[];
  readonly bookmark: Bookmark;
  /** What was known of a file that is shorter than what was read of it. */
  readonly shortened?: Pick<StoredBookmark, "path" | "place" | "sessions" | "saved_ms">;
}

const nothing = { format: "", added: 0, existing: 0, bytes: 0, rejected: [] };

/** A file that cannot be read; the message is for users. */
export class UnreadableFile extends Error {}

/** Reads what is new in a file. Failures of the file and of the log are thrown. */
export async function lookAt(path: string, parts: LookParts): Promise<LookResult> {
  const handle = await open(path, "r");
  try {
    const found = toSeen(path, await handle.stat(), false);
    const bookmark = parts.bookmarks.find(found.key, path);
    const quiet_ms = quietMs(found, bookmark, parts.nowMs);
    const sessions = bookmark?.sessions ?? [];
    const seen: Seen = { ...found, handle, quiet_ms, generation: parts.bookmarks.generation, sessions };
    const place = bookmark?.place;
    const known = bookmark === undefined ? undefined : importerNamed(bookmark.importer);
    const importer = known !== undefined && isAllowed(known.format, parts.plan.formats) ? known : undefined;
    if (place !== undefined && importer?.reads === "lines" && (await continues(handle, place))) {
      return await readOn(seen, { importer, place, opening: unopened(path) }, parts);
    }
    const looked = await readAnew(seen, parts);
    const isShortened = bookmark !== undefined && place !== undefined && found.bytes < place.offset;
    return isShortened ? { ...looked, shortened: { ...bookmark, path } } : looked;
  } finally {
    await handle.close();
  }
}

interface Seen extends SeenFile {
  readonly handle: FileHandle;
  /** How long it was not written to. */
  readonly quiet_ms: number;
  readonly generation: number;
  /** What was read from it before. */
  readonly sessions: readonly string[];
}

/** A file's own time may be in the future: then the time since the last look counts. */
function quietMs(found: SeenFile, last: StoredBookmark | undefined, nowMs: number): number {
  const since = last?.stamp === found.stamp ? last.saved_ms : nowMs;
  return nowMs - Math.min(found.modified_ms, since);
}

/** Resuming in the middle needs no opening: the importer's state has everything from there. */
function unopened(path: string): Opening {
  const name = basename(path);
  return { name, bytes: Buffer.alloc(0), records: [], document: undefined, is_one_value: false, tables: undefined };
}

async function readAnew(seen: Seen, parts: LookParts): Promise<LookResult> {
  const { path, handle } = seen;
  const { buffer: first, bytesRead } = await handle.read(Buffer.alloc(OPENING_MAGIC_BYTES), 0, OPENING_MAGIC_BYTES, 0);
  const magic = first.subarray(0, bytesRead);
  if (isDatabase(magic) || isCompressed(magic)) return readWhole(seen, parts);
  const opened = await openFile(path, process.stdin as AsyncIterable<Buffer>);
  if ("reason" in opened) throw new UnreadableFile(opened.reason);
  const opening = await readOpening(basename(path), { opened, tables: undefined });
  await opened.close();
  const importer = findImporter(opening, parts.plan);
  if (importer === undefined) {
    // Its first lines may be incomplete: an unknown format is reported once the file has settled.
    const isKnown = whyRefused(opening, parts.plan) !== undefined;
    if (isKnown || seen.quiet_ms >= SETTLE_MS.lines || seen.bytes >= OPENING_BYTES) return readWhole(seen, parts);
    return { ...nothing, bookmark: await keep(seen, parts, { is_settled: false }) };
  }
  // A format that is checked as a whole cannot be read in parts.
  const grows = importer.reads === "lines" && importer.check === undefined;
  return grows ? readOn(seen, { importer, place: undefined, opening }, parts) : readWhole(seen, parts);
}

/** Reads lines from the resume point. */
async function readOn(
  seen: Seen,
  source: { readonly importer: LineImporter; readonly place: ResumePoint | undefined; readonly opening: Opening },
  parts: LookParts,
): Promise<LookResult> {
  const { importer, place, opening } = source;
  const { handle, bytes: size, modified_ms } = seen;
  const file = place?.file ?? seen.path;
  const rejected: RejectedLine[] = [];
  const tally = new FileTally((line, reason) => {
    if (rejected.length < REJECTED_MAX) rejected.push({ file: seen.path, line, reason });
  });
  const batcher = new ImportBatcher({ target: parts.target, tally });
  const name = nameOf(importer);
  const growth = new GrowthCheck(seen.quiet_ms < SETTLE_MS.lines);
  let reached = place;
  const growing = await GrowingFile.open({
    handle,
    file,
    place,
    signal: parts.signal,
    flush: () => batcher.flush(),
    reach: async (next, is_last) => {
      reached = next;
      // The empty stamp makes a later look find that there is more to read.
      if (is_last) return;
      const { sessions } = tally;
      await keep({ ...seen, stamp: "" }, parts, { importer: name, place: next, is_settled: false, sessions });
    },
  });
  const read = new FileSource(file, {
    opened: { size, modified_ms: Math.floor(modified_ms), chunks: () => undefined },
    opening,
    clock: parts.plan.clock,
    log: parts.target,
    as_new: false,
    restores: false,
    tell: undefined,
    tally,
    database: undefined,
    growing,
    isGrowing: growth.isGrowing,
  });
  await batcher.takeAll(await read.read(importer));
  await batcher.flush();
  const { added, existing } = tally;
  const is_settled = !growth.wasGrowing;
  const bookmark = await keep(seen, parts, { importer: name, place: reached, is_settled, sessions: tally.sessions });
  return { format: importer.format, added, existing, bytes: growing.bytes, rejected, bookmark };
}

/** Remembers whether an importer was told that the file is growing, and so may have left something out. */
class GrowthCheck {
  wasGrowing = false;
  readonly isGrowing: () => boolean;

  constructor(isGrowing: boolean) {
    this.isGrowing = () => {
      this.wasGrowing ||= isGrowing;
      return isGrowing;
    };
  }
}

/** Reads the whole file, because it has no lines or cannot be read in parts. */
async function readWhole(seen: Seen, parts: LookParts): Promise<LookResult> {
  let format = "";
  const onFile = (file: ImportedFile): void => {
    format = file.format;
  };
  const onProgress = (): void => parts.signal.throwIfAborted();
  const growth = new GrowthCheck(seen.quiet_ms < SETTLE_MS.whole);
  const plan = { ...parts.plan, isGrowing: growth.isGrowing, signal: parts.signal };
  const options = { onFile, onProgress };
  const sessions = new Set<string>();
  const onSession = (session: string): void => void sessions.add(session);
  const { added, existing, rejected } = await importFiles([seen.path], {
    ...{ target: parts.target, plan, options, onSession },
  });
  const bookmark = await keep(seen, parts, { importer: format, is_settled: !growth.wasGrowing, sessions });
  return { format, added, existing, bytes: seen.bytes, rejected, bookmark };
}

async function keep(
  { key, path, stamp, generation, sessions: before }: Seen,
  { bookmarks }: LookParts,
  found: Pick<Bookmark, "is_settled"> & Partial<Omit<Bookmark, "sessions">> & { readonly sessions?: Iterable<string> },
): Promise<Bookmark> {
  const { importer = "", place, is_settled } = found;
  const sessions = [...new Set([...before, ...(found.sessions ?? [])])];
  const bookmark = { key, path, stamp, importer, is_settled, sessions, place };
  await bookmarks.save(bookmark, generation);
  return bookmark;
}

const CHUNK_BYTES = 256 * 1024;
const FINGERPRINT_BYTES = 4 * 1024;
/** How often a resume point is stored while a long file is read. */
const KEEP_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Thrown when the file is replaced while it is read. */
export class ReplacedFile extends Error {}

/** Whether the file up to the resume point is still what was read. */
async function continues(handle: FileHandle, place: ResumePoint): Promise<boolean> {
  const { size } = await handle.stat();
  if (size < place.offset) return false;
  const head = await bytesAt(handle, 0, place.head.bytes);
  const tail = await bytesAt(handle, place.offset - place.tail.bytes, place.tail.bytes);
  return isSame(fingerprintOf(head), place.head) && isSame(fingerprintOf(tail), place.tail);
}

interface GrowingParts {
  readonly handle: FileHandle;
  readonly file: string;
  /** Where reading stopped; undefined at the start. */
  readonly place: ResumePoint | undefined;
  readonly signal: AbortSignal;
  /** Waits until everything that was read so far is in the log. */
  readonly flush: () => Promise<void>;
  /** Called with resume points, last with the end of the complete lines. */
  readonly reach: (place: ResumePoint, is_last: boolean) => Promise<void>;
}

class GrowingFile implements GrowingLines {
  readonly resume: Resumption;
  /** How many bytes of complete lines were read. */
  bytes = 0;
  readonly #parts: GrowingParts;
  readonly #head: Buffer;
  #takeState: (() => unknown) | undefined;
  #end: number | undefined;

  static async open(parts: GrowingParts): Promise<GrowingFile> {
    return new GrowingFile(parts, await bytesAt(parts.handle, 0, FINGERPRINT_BYTES));
  }

  private constructor(parts: GrowingParts, head: Buffer) {
    this.#parts = parts;
    this.#head = head;
    this.resume = {
      state: parts.place === undefined ? undefined : deserialize(parts.place.known),
      onSave: (take) => {
        this.#takeState = take;
      },
    };
  }

  /** The lines from the resume point on; each call gives the same ones. */
  async *records(levels: number = limits.nesting_levels): AsyncGenerator<Iterable<SourceRecord>> {
    const { place, handle } = this.#parts;
    this.#end ??= (await handle.stat()).size;
    const reach = new LineCursor(place, this.#head);
    let keptAt = reach.offset;
    for (let at = reach.offset; at < this.#end; ) {
      const chunk = await this.#chunkAt(at, this.#end);
      at += chunk.length;
      const lines = reach.take(chunk);
      if (lines === undefined) continue;
      for await (const records of readRecords(lines, levels)) yield withOffset(records, reach.line);
      reach.advance();
      if (reach.offset - keptAt < KEEP_BYTES) continue;
      await this.#tell(reach, false);
      keptAt = reach.offset;
    }
    await this.#tell(reach, true);
    // A last line without a line feed may be complete all the same. The resume point stays before it, in case it continues.
    for await (const records of readRecords(reach.rest(), levels)) {
      yield withOffset([...records].filter(isWhole), reach.line);
    }
  }

  /** The next bytes, if the file is still the same: other lines may have been written after a truncation. */
  async #chunkAt(at: number, end: number): Promise<Buffer> {
    const { handle, signal } = this.#parts;
    signal.throwIfAborted();
    const chunk = await bytesAt(handle, at, Math.min(CHUNK_BYTES, end - at));
    const head = await bytesAt(handle, 0, this.#head.length);
    if (chunk.length === 0 || !head.equals(this.#head)) throw new ReplacedFile();
    return chunk;
  }

  async #tell(reach: LineCursor, is_last: boolean): Promise<void> {
    const { file, place, flush, reach: tell } = this.#parts;
    // An importer that has not offered its state yet is still searching the lines.
    if (this.#takeState === undefined) return;
    await flush();
    const { offset, line, head, tail } = reach;
    const known = serialize(this.#takeState());
    this.bytes = offset - (place?.offset ?? 0);
    await tell({ offset, line, file, head, tail, known }, is_last);
  }
}

/** Records with their line numbers in the whole file. */
function* withOffset(records: Iterable<SourceRecord>, lines: number): Generator<SourceRecord> {
  for (const item of records) yield { ...item, line: item.line + lines };
}

function isWhole(item: SourceRecord): boolean {
  return "record" in item;
}

/** How far complete lines were read, and the bytes of the next one. */
class LineCursor {
  offset: number;
  line: number;
  tail: Fingerprint;
  readonly #head: Buffer;
  /** The last bytes that were read. */
  #recent: Buffer = Buffer.alloc(0);
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #taken: { readonly bytes: number; readonly lines: number; readonly tail: Buffer } | undefined;

  constructor(place: ResumePoint | undefined, head: Buffer) {
    this.offset = place?.offset ?? 0;
    this.line = place?.line ?? 0;
    this.tail = place?.tail ?? fingerprintOf(this.#recent);
    this.#head = head;
  }

  get head(): Fingerprint {
    return fingerprintOf(this.#head.subarray(0, Math.min(this.#head.length, this.offset)));
  }

  /** The lines that this chunk completes; undefined if it completes none. */
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

  /** Moves past the lines that were taken last. */
  advance(): void {
    if (this.#taken === undefined) return;
    this.offset += this.#taken.bytes;
    this.line += this.#taken.lines;
    this.tail = fingerprintOf(this.#taken.tail);
    this.#taken = undefined;
  }

  rest(): readonly Buffer[] {
    return this.#pending;
  }

  #hold(bytes: Buffer): void {
    this.#pendingBytes += bytes.length;
    this.#recent = lastBytes(this.#recent, bytes);
    // The rest of an endless line is counted but not held in memory.
    if (this.#pendingBytes - bytes.length <= LINE_BYTES_MAX) this.#pending.push(bytes);
  }
}

function lastBytes(before: Buffer, bytes: Buffer): Buffer {
  const all = bytes.length >= FINGERPRINT_BYTES ? bytes : Buffer.concat([before, bytes]);
  return Buffer.from(all.subarray(Math.max(0, all.length - FINGERPRINT_BYTES)));
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}

function fingerprintOf(bytes: Buffer): Fingerprint {
  return { bytes: bytes.length, hash: hash("sha256", bytes, "hex") };
}

function isSame(one: Fingerprint, other: Fingerprint): boolean {
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
