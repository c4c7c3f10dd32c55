// Where imports come from: files, folders or a stream, opened read-only; their opening, which identifies the format;
// and the lines, document or tables that the importer reads.
import { createReadStream, createWriteStream, type Dirent } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { Fault } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import { limits } from "../model/limits.js";
import type { WallClock } from "../model/time.js";
import { firstValue, readDocument } from "./document.js";
import { type Tables, UnreadableTables } from "./foreign-databases.js";
import type { FileTally } from "./import-batcher.js";
import type { ImportProgress } from "./import-files.js";
import type {
  Importer,
  LogState,
  Opening,
  Resumption,
  SiblingFiles,
  SourceRecord,
  TableColumns,
  TableQuery,
  TableRow,
} from "./importer.js";
import { EXPORTED_LEVELS_MAX, isOpenAt, LINE_BYTES_MAX, oneByOne, readRecords, readTexts } from "./lines.js";
import { decompressed, isCompressed, measureUnpacked, UnpackBudget } from "./zstd.js";

/** Enough of a file to recognise its format. */
export const OPENING_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** The smallest chunk: many small files would leave much garbage in full-size chunks. */
const CHUNK_BYTES_MIN = 4 * 1024;

/** Pipes that the program inherited; any other named pipe may wait for a writer for ever. */
const HANDED_OVER = /^\/(?:dev\/(?:stdin$|fd\/)|proc\/(?:self|\d+)\/fd\/)/;
const PIPE_REASON = "it is a named pipe, which may never end; read it as a stream: hansard import - < PIPE";

export interface FoundFile {
  /** As the user will recognise it. */
  readonly file: string;
}

/** A path that cannot be read, and why. */
export interface UnreadablePath {
  readonly file: string;
  readonly reason: string;
}

/** The file itself, or all files of a folder and its subfolders, by name. */
export async function* findFiles(path: string): AsyncGenerator<FoundFile | UnreadablePath> {
  if (path === "-") {
    yield { file: path };
    return;
  }
  try {
    const found = await stat(path);
    if (!found.isDirectory()) yield { file: path };
    else yield* filesWithin(path);
  } catch (error) {
    yield { file: path, reason: reasonOf(error) };
  }
}

async function* filesWithin(folder: string): AsyncGenerator<FoundFile | UnreadablePath> {
  let items: readonly Dirent[];
  try {
    items = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    yield { file: folder, reason: reasonOf(error) };
    return;
  }
  for (const item of items.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, item.name);
    // A link to a folder is not followed: it may be a loop.
    if (item.isDirectory()) yield* filesWithin(path);
    else if (item.isFile() || (item.isSymbolicLink() && (await isFile(path)))) yield { file: path };
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

export interface OpenedFile {
  readonly opening: Buffer;
  /** Undefined for a stream or a compressed file. */
  readonly size: number | undefined;
  readonly modified_ms: number | undefined;
  /** The whole file from its start, decompressed; undefined for a stream that was already read and not kept. */
  chunks(): AsyncIterable<Buffer> | undefined;
  /** Call before reading to read it more than once: copies a stream to disk until it is closed. */
  keep(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file and reads its opening; a failure comes back as a reason. */
export async function openFile(file: string, stdin: AsyncIterable<Buffer>): Promise<OpenedFile | UnreadablePath> {
  try {
    const found = file === "-" ? undefined : await stat(file);
    if (found?.isDirectory()) return { file, reason: "it is a folder" };
    if (found?.isFIFO() && !HANDED_OVER.test(file)) return { file, reason: PIPE_REASON };
    const read = (): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: chunkBytes(found?.size ?? 0) });
    const first = (file === "-" ? stdin : read())[Symbol.asyncIterator]();
    const packed = await firstBytes(first as AsyncIterator<Buffer>);
    const isPacked = isCompressed(packed);
    // Before anything of it is recorded; a stream, which comes once, is stopped where it exceeds the limit.
    if (isPacked && found?.isFile() === true) await measureUnpacked(read());
    const bytes = resumed(packed, first as AsyncIterator<Buffer>);
    const unpacked = isPacked ? decompressed(bytes) : bytes;
    const opening = isPacked ? await firstBytes(unpacked) : packed;
    const isFile = found?.isFile() === true;
    let isRead = false;
    let kept: KeptStream | undefined;
    const chunks = (): AsyncIterable<Buffer> | undefined => {
      if (kept !== undefined) return kept.chunks();
      if (!isRead) {
        isRead = true;
        return isPacked ? resumed(opening, unpacked) : unpacked;
      }
      if (!isFile) return undefined;
      return isPacked ? decompressed(read()) : read();
    };
    return {
      opening,
      size: isFile && !isPacked ? found.size : undefined,
      modified_ms: found === undefined ? undefined : Math.floor(found.mtimeMs),
      chunks,
      async keep() {
        const stream = isFile ? undefined : chunks();
        if (stream !== undefined) kept = await keepStream(stream);
      },
      async close() {
        await first.return?.();
        await kept?.remove();
      },
    };
  } catch (error) {
    return { file, reason: reasonOf(error) };
  }
}

/** One byte more than the file, so one chunk contains all of it. */
function chunkBytes(size: number): number {
  return size === 0 ? CHUNK_BYTES : Math.min(CHUNK_BYTES, Math.max(CHUNK_BYTES_MIN, size + 1));
}

interface KeptStream {
  chunks(): AsyncIterable<Buffer>;
  remove(): Promise<void>;
}

async function keepStream(chunks: AsyncIterable<Buffer>): Promise<KeptStream> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-import-"));
  const path = join(folder, "stream");
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(chunks, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await remove();
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== "write") throw error;
    const hint = "Free disk space in TMPDIR, or import from a file.";
    throw new Fault("file_not_written", `standard input could not be saved to disk: ${message}`, {
      hint,
      cause: error,
    });
  }
  return { chunks: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }), remove };
}

/** Up to the first line end: no source has a longer line than what is searched here. */
async function firstBytes(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const opening: Buffer[] = [];
  let bytes = 0;
  let hasLine = false;
  while (bytes < OPENING_BYTES || (!hasLine && bytes <= LINE_BYTES_MAX)) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    opening.push(value);
    bytes += value.length;
    // What begins as a list is a document; the end of its line says nothing more.
    hasLine ||= value.includes(0x0a) || (bytes === value.length && /^\s*\[/.test(value.toString("latin1", 0, 64)));
  }
  return Buffer.concat(opening);
}

async function* resumed(opening: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield opening;
  for (;;) {
    const { done, value } = await rest.next();
    if (done === true) return;
    yield value;
  }
}

/** Errors of the disk or the file, not of the log: a log that fails ends the import. */
export function isReadFailure(error: unknown): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === "read" || syscall === "open" || code === "ZSTD" || error instanceof UnreadableTables;
}

export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof UnreadableTables) return message;
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return code === "ZSTD" ? message : `it cannot be read: ${message}`;
}

/** More of a document says nothing new about its format. */
const DOCUMENT_BYTES = 64 * 1024;

export async function readOpening(
  name: string,
  { opened, tables }: { readonly opened: OpenedFile; readonly tables: TableColumns | undefined },
): Promise<Opening> {
  const { opening: bytes } = opened;
  if (tables !== undefined) return { name, bytes, records: [], document: undefined, is_one_value: false, tables };
  // The last line may be incomplete; if the file ends here, it is whole.
  const end = bytes.length === opened.size ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
  const records: JsonObject[] = [];
  // A line may identify the format although the importer will reject it.
  const items = readRecords(once(bytes.subarray(0, end === 0 ? bytes.length : end)), EXPORTED_LEVELS_MAX);
  let count = 0;
  let isFirstWhole = false;
  for await (const item of oneByOne(items)) {
    const isFirst = count === 0;
    count += 1;
    if (!("record" in item)) continue;
    isFirstWhole ||= isFirst;
    records.push(item.record);
  }
  const first = firstValue(bytes.subarray(0, DOCUMENT_BYTES));
  const isOneValue = first?.is_one_value === true && !isFirstWhole && isContinued(bytes, bytes.indexOf(0x0a));
  return {
    name,
    bytes,
    records: isOneValue ? [] : records,
    document: first?.value,
    is_one_value: isOneValue,
    tables: undefined,
  };
}

/** Whether the value that begins on the first line continues on the next one; not so for a torn line or one nested too deep. */
function isContinued(bytes: Buffer, end: number): boolean {
  if (end === -1) return false;
  // A shorter one was parsed, and is known not to end there.
  return end < DOCUMENT_BYTES || isOpenAt(bytes.subarray(0, end));
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Lines of a growing file, from where reading stopped. */
export interface GrowingLines {
  readonly resume: Resumption;
  records(levels?: number): AsyncIterable<Iterable<SourceRecord>>;
}

interface SourceParts {
  readonly opened: Pick<OpenedFile, "size" | "modified_ms" | "chunks">;
  readonly opening: Opening;
  readonly clock: WallClock;
  readonly log: LogState;
  readonly as_new: boolean;
  readonly restores: boolean;
  readonly isGrowing: () => boolean;
  /** Called with the progress. */
  readonly tell: ((progress: ImportProgress) => void) | undefined;
  readonly tally: FileTally;
  readonly database: Tables | undefined;
  readonly growing?: GrowingLines;
}

/** For a source that is read once, from start to end. */
const fromStart: Resumption = { state: undefined, onSave: () => undefined };

export class FileSource {
  readonly #file: string;
  readonly #source: SourceParts;

  constructor(file: string, source: SourceParts) {
    this.#file = file;
    this.#source = source;
  }

  async read(importer: Importer): Promise<ReturnType<Importer["read"]>> {
    const { opened, opening, clock, log, as_new, restores, isGrowing, database } = this.#source;
    const facts = {
      path: this.#file,
      stem: stemOf(this.#file),
      modified_ms: opened.modified_ms,
      opening,
      clock,
      log,
      as_new,
      restores,
      isGrowing,
      unpacking: new UnpackBudget(),
      siblings: siblingFiles(this.#file),
    };
    if (importer.reads === "lines") {
      const { growing } = this.#source;
      const records = (levels?: number) => growing?.records(levels) ?? readRecords(this.#chunks(), levels);
      return importer.read({ ...facts, resume: growing?.resume ?? fromStart, records });
    }
    if (importer.reads === "text") return importer.read({ ...facts, texts: () => readTexts(this.#chunks()) });
    if (importer.reads === "document") {
      const document = await readDocument(() => this.#chunks(), opened.size);
      const header = (names: readonly string[]) => document.header(names);
      return importer.read({ ...facts, header, values: (path) => document.values(path) });
    }
    return importer.read({ ...facts, tables: database?.tables ?? {}, rows: (query) => this.#rows(query) });
  }

  /** The file's bytes, counted as they are read, for batches and progress. */
  #chunks(): AsyncIterable<Buffer> | undefined {
    const { opened, tally } = this.#source;
    const chunks = opened.chunks();
    if (chunks === undefined) return undefined;
    const tell = (): void => this.#tell();
    return (async function* counted() {
      for await (const chunk of chunks) {
        yield chunk;
        tally.bytes += chunk.length;
        tell();
      }
    })();
  }

  async *#rows(query: TableQuery): AsyncGenerator<TableRow> {
    const { tally, database } = this.#source;
    for await (const { row, left_out } of database?.rows(query) ?? []) {
      for (const value of Object.values(row)) {
        if (typeof value === "string" || value instanceof Uint8Array) tally.bytes += value.length;
      }
      if (left_out !== undefined) tally.reject(0, `a value is too long and was left out: ${left_out}`);
      this.#tell();
      yield row;
    }
  }

  #tell(): void {
    const { tally, opened, tell } = this.#source;
    const { added, existing } = tally;
    // A long document is read twice, and decompressed bytes exceed the file's size.
    const bytes = Math.min(tally.bytes, opened.size ?? tally.bytes);
    tell?.({ file: this.#file, bytes, bytes_total: opened.size, added, existing });
  }
}

/** The name without folder and extension; a rotated file has its old name. */
function stemOf(file: string): string {
  if (file === "-") return "stdin";
  const name = basename(file).replace(/(?<=\.(?:jsonl?|ndjson|log))\.\d+$/, "");
  return name.replace(/(?<=.)\.[^.]*$/, "");
}

/** A record may contain any path: nothing more than three levels up is read. */
function siblingFiles(file: string): SiblingFiles {
  const folder = resolve(dirname(file));
  const outermost = resolve(folder, "../../..");
  const within = (path: string): string | undefined => {
    const full = resolve(folder, path);
    return file !== "-" && full.startsWith(outermost.endsWith(sep) ? outermost : outermost + sep) ? full : undefined;
  };
  return {
    async read(path) {
      const full = within(path);
      const found = full === undefined ? undefined : await stat(full).catch(() => undefined);
      if (full === undefined || found?.isFile() !== true || found.size > limits.request_bytes) return undefined;
      return readFile(full, "utf8").catch(() => undefined);
    },
    async list(path) {
      const full = within(path);
      return full === undefined ? [] : (await readdir(full).catch((): string[] => [])).sort();
    },
  };
}
