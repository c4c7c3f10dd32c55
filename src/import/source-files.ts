// Where imports come from: files, folders with all that is in them, or a stream; opened for reading and never touched.
import { createReadStream, createWriteStream, type Dirent } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Fault } from "../model/fault.js";
import { LINE_BYTES_MAX } from "./lines.js";

/** Enough of a file to know its format by, whatever stands in its first lines. */
const OPENING_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;

export interface FoundFile {
  /** As the user will recognise it. */
  readonly file: string;
  /** Named itself, and not found in a folder. */
  readonly isNamed: boolean;
}

/** A path that leads nowhere, and why. */
export interface LostPath {
  readonly file: string;
  readonly reason: string;
}

/** The file itself, or all files of a folder and of the folders in it, by name. */
export async function* findFiles(path: string): AsyncGenerator<FoundFile | LostPath> {
  if (path === "-") {
    yield { file: path, isNamed: true };
    return;
  }
  try {
    const found = await stat(path);
    if (!found.isDirectory()) yield { file: path, isNamed: true };
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
    else if (item.isFile() || (item.isSymbolicLink() && (await isFile(path)))) yield { file: path, isNamed: false };
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

export interface OpenedFile {
  readonly opening: Buffer;
  readonly size: number | undefined;
  readonly modified_ms: number | undefined;
  /** The whole file once, its opening included. */
  readonly chunks: AsyncIterable<Buffer>;
  /** The whole file once more; a stream has no such thing. */
  readonly again?: () => AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** Opens a file and reads its opening; a failure comes back as a reason. */
export async function openFile(file: string, stdin: AsyncIterable<Buffer>): Promise<OpenedFile | LostPath> {
  try {
    const found = file === "-" ? undefined : await stat(file);
    if (found?.isDirectory()) return { file, reason: "it is a folder" };
    const stream = file === "-" ? stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
    const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    const opening = await readOpening(chunks);
    return {
      opening: Buffer.concat(opening),
      size: found?.isFile() ? found.size : undefined,
      modified_ms: found === undefined ? undefined : Math.floor(found.mtimeMs),
      chunks: resumed(opening, chunks),
      ...(found?.isFile() ? { again: () => createReadStream(file, { highWaterMark: CHUNK_BYTES }) } : {}),
      close: async () => void (await chunks.return?.()),
    };
  } catch (error) {
    return { file, reason: reasonOf(error) };
  }
}

/** What has to be read twice is kept in a file of its own until it is closed, where it is a stream. */
export async function rereadable(opened: OpenedFile): Promise<OpenedFile & Required<Pick<OpenedFile, "again">>> {
  if (opened.again !== undefined) return { ...opened, again: opened.again };
  const folder = await mkdtemp(join(tmpdir(), "hansard-import-"));
  const path = join(folder, "stream");
  const close = async (): Promise<void> => {
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await pipeline(opened.chunks, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await close();
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== "write") throw error;
    const hint = "Make room where TMPDIR says, or import from a file.";
    throw new Fault("file_not_written", `what came in could not be kept: ${message}`, { hint, cause: error });
  }
  const again = (): AsyncIterable<Buffer> => createReadStream(path, { highWaterMark: CHUNK_BYTES });
  return { ...opened, chunks: again(), again, close };
}

async function readOpening(chunks: AsyncIterator<Buffer>): Promise<readonly Buffer[]> {
  const opening: Buffer[] = [];
  let bytes = 0;
  let hasLine = false;
  // Long enough to hold a whole line, however long that is.
  while (bytes < OPENING_BYTES || (!hasLine && bytes <= LINE_BYTES_MAX)) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    opening.push(value);
    bytes += value.length;
    hasLine ||= value.includes(0x0a);
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
  if (code === "ENOENT") return "there is no such file or folder";
  if (code === "EACCES" || code === "EPERM") return "it may not be read";
  return `it cannot be read: ${message}`;
}
