// Where imports come from: files, folders with all that is in them, or a stream; opened for reading and never touched.
import { createReadStream, type Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UnreadableTables } from "./tables.js";
import { decompressed, isCompressed } from "./zstd.js";

/** Enough of a file to know its format by, whatever stands in its first lines. */
const OPENING_BYTES = 64 * 1024;
/** How far the end of the first line is looked for; beyond that its beginning has to do. */
const FIRST_LINE_BYTES_MAX = 32 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

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
  /** The whole file from its start, unpacked; undefined for a stream that was read before. */
  chunks(): AsyncIterable<Buffer> | undefined;
  close(): Promise<void>;
}

/** Opens a file and reads its opening; a failure comes back as a reason. */
export async function openFile(file: string, stdin: AsyncIterable<Buffer>): Promise<OpenedFile | LostPath> {
  try {
    const found = file === "-" ? undefined : await stat(file);
    if (found?.isDirectory()) return { file, reason: "it is a folder" };
    const first = (file === "-" ? stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES }))[
      Symbol.asyncIterator
    ]();
    const packed = await readOpening(first as AsyncIterator<Buffer>);
    const isPacked = packed[0] !== undefined && isCompressed(packed[0]);
    const bytes = resumed(packed, first as AsyncIterator<Buffer>);
    const unpacked = isPacked ? decompressed(bytes) : bytes;
    const opening = isPacked ? await readOpening(unpacked) : packed;
    let isRead = false;
    return {
      opening: Buffer.concat(opening),
      size: found?.isFile() && !isPacked ? found.size : undefined,
      modified_ms: found === undefined ? undefined : Math.floor(found.mtimeMs),
      chunks() {
        if (!isRead) {
          isRead = true;
          return isPacked ? resumed(opening, unpacked) : unpacked;
        }
        if (!found?.isFile()) return undefined;
        const again: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: CHUNK_BYTES });
        return isPacked ? decompressed(again) : again;
      },
      close: async () => void (await first.return?.()),
    };
  } catch (error) {
    return { file, reason: reasonOf(error) };
  }
}

async function readOpening(chunks: AsyncIterator<Buffer>): Promise<readonly Buffer[]> {
  const opening: Buffer[] = [];
  let bytes = 0;
  let hasLine = false;
  while (bytes < OPENING_BYTES || (!hasLine && bytes <= FIRST_LINE_BYTES_MAX)) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    opening.push(value);
    bytes += value.length;
    // What begins as a list is a document, and has no line whose end could say more.
    hasLine ||= value.includes(0x0a) || (bytes === value.length && /^\s*\[/.test(value.toString("latin1", 0, 64)));
  }
  return opening;
}

async function* resumed(opening: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* opening;
  for (;;) {
    const { done, value } = await rest.next();
    if (done === true) return;
    yield value;
  }
}

export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof UnreadableTables) return message;
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "it may not be read";
  return code === "ZSTD" ? message : `it cannot be read: ${message}`;
}
