// Output of any length: to standard output as fast as its reader takes it, or to a file that appears only when it is complete.
import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isStoreFileName, storeFiles } from "../../model/store-location.js";
import { Failed } from "./failures.js";

const CHUNK_CHARS = 64 * 1024;
/** The disk, the quota, or the file size limit. */
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export async function writeOut(lines: AsyncIterable<string>): Promise<void> {
  for await (const chunk of inChunks(lines)) {
    if (process.stdout.destroyed || process.stdout.errored) return;
    if (process.stdout.write(chunk)) continue;
    // A reader that has gone never drains.
    await new Promise<void>((resolve) => {
      const go = (): void => {
        process.stdout.off("drain", go).off("close", go).off("error", go);
        resolve();
      };
      process.stdout.on("drain", go).on("close", go).on("error", go);
    });
  }
}

/** Rejects existing files, unless they may be replaced, and the files of a store in any case. */
export function refuseExisting(paths: readonly string[], replaces: boolean): void {
  const own = paths.find((path) => isStoreFileName(basename(path)) && existsSync(storeFiles(dirname(path)).log));
  if (own !== undefined) throw belongsToStore(own);
  const taken = replaces ? undefined : paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (taken === undefined) return;
  throw new Failed({
    code: "file_exists",
    field: "--out",
    message: `${taken} already exists`,
    hint: "Give another path with --out, or replace it with --force.",
  });
}

/** Only the owner may read the file, as with the record itself. An older file stays until the new one is complete. */
export async function writeWhole(path: string, lines: AsyncIterable<string>): Promise<void> {
  const isPlain = (await stat(path).catch(() => undefined))?.isFile() ?? true;
  // A device or a pipe is written to directly: it cannot be replaced.
  const target = isPlain ? `${path}.${randomBytes(8).toString("hex")}.part` : path;
  try {
    // Opened before entries are read, so an export that cannot be written gets no audit entry. "wx" never opens an existing
    // file or link: another user of the folder could have placed it there to read the export.
    const file = await open(target, isPlain ? "wx" : "w", 0o600);
    const stream = Readable.from(inChunks(lines), { objectMode: false });
    await pipeline(stream, file.createWriteStream({ flush: isPlain }));
    if (isPlain) await rename(target, path);
  } catch (error) {
    if (isPlain) await rm(target, { force: true });
    const { syscall, message, code } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new Failed({
      code: FULL.has(code ?? "") ? "disk_full" : "file_not_written",
      message: `cannot write the file: ${message}`,
      hint: "Give another path with --out.",
    });
  }
}

async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

function belongsToStore(path: string): Failed {
  return new Failed({
    code: "file_not_written",
    message: `${path} belongs to a store and cannot be replaced`,
    hint: "Give another path with --out.",
  });
}
