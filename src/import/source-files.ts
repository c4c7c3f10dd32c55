// Where imports come from: files, folders with all that is in them, or a stream; opened for reading and never touched.
import { createReadStream, createWriteStream, type Dirent } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Fault } from "../model/fault.js";
import { LINE_BYTES_MAX } from "./lines.js";
import { UnreadableTables } from "./tables.js";
import { decompressed, isCompressed } from "./zstd.js";

/** Enough of a file to know its format by, whatever stands in its first lines. */
export const OPENING_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** A small file is read into little, since of many such each would leave a whole chunk behind to be cleared away. */
const CHUNK_BYTES_MIN = 4 * 1024;

/** Pipes that the one who started the program holds the other end of, and not whoever may come. */
const HANDED_OVER = /^\/(?:dev\/(?:stdin$|fd\/)|proc\/(?:self|\d+)\/fd\/)/;
const PIPE_REASON =
  "it is a named pipe, which may never end; give what comes out of it as a stream: hansard import - < PIPE";

export interface FoundFile {
  /** As the user will recognise it. */
  readonly file: string;
}

/** A path that leads nowhere, and why. */
export interface LostPath {
  readonly file: string;
  readonly reason: string;
}

/** The file itself, or all files of a folder and of the folders in it, by name. */
export async function* findFiles(path: string): AsyncGenerator<FoundFile | LostPath> {
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

async function* filesWithin(folder: string): AsyncGenerator<FoundFile | LostPath> {
  let items: readonly Dirent[];
  try {
    items = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    yield { file: folder, reason: reasonOf(error) };
    return;
  }
  for (const item of items.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, item.name);
    // A link to a folder is not followed: it may lead back to where we are.
    if (item.isDirectory()) yield* filesWithin(path);
    else if (item.isFile() || (item.isSymbolicLink() && (await isFile(path)))) yield { file: path };
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

export interface OpenedFile {
  readonly opening: Buffer;
  /** Undefined where nobody knows how much will come. */
  readonly size: number | undefined;
  readonly modified_ms: number | undefined;
  /** The whole file from its start, unpacked; undefined for a stream that was read before and not kept. */
  chunks(): AsyncIterable<Buffer> | undefined;
  /** Makes sure that it can be read more than once, before it is read: a stream is kept until it is closed. */
  keep(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file and reads its opening; a failure comes back as a reason. */
export async function openFile(file: string, stdin: AsyncIterable<Buffer>): Promise<OpenedFile | LostPath> {
  try {
    const found = file === "-" ? undefined : await stat(file);
    if (found?.isDirectory()) return { file, reason: "it is a folder" };
    if (found?.isFIFO() && !HANDED_OVER.test(file)) return { file, reason: PIPE_REASON };
    const read = (): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: chunkBytes(found?.size ?? 0) });
    const first = (file === "-" ? stdin : read())[Symbol.asyncIterator]();
    const packed = await firstBytes(first as AsyncIterator<Buffer>);
    const isPacked = isCompressed(packed);
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

/** A byte more than a file has, so that all of it comes at once; what has no size may be anything. */
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
    const hint = "Make room where TMPDIR says, or import from a file.";
    throw new Fault("file_not_written", `what came in could not be kept: ${message}`, { hint, cause: error });
  }
  return { chunks: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }), remove };
}

/** As far as the first line goes: no line of a source is longer than what is looked through here. */
async function firstBytes(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const opening: Buffer[] = [];
  let bytes = 0;
  let hasLine = false;
  while (bytes < OPENING_BYTES || (!hasLine && bytes <= LINE_BYTES_MAX)) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    opening.push(value);
    bytes += value.length;
    // What begins as a list is a document, and has no line whose end could say more.
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

/** What the disk or the file did, and not the log: a log that fails ends the import. */
export function isReadFailure(error: unknown): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === "read" || syscall === "open" || code === "ZSTD" || error instanceof UnreadableTables;
}

export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof UnreadableTables) return message;
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "it may not be read";
  return code === "ZSTD" ? message : `it cannot be read: ${message}`;
}
