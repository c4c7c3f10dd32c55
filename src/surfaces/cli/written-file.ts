// Output of any length: to standard output at the pace of its reader, or to a file that is there only once it is whole.
import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isStoreFileName, storeFiles } from "../../model/store-location.js";
import { Failed } from "./failures.js";

const CHUNK_CHARS = 64 * 1024;
/** No room on the disk, none left for this user, or a file as long as this process may make one. */
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export async function writeOut(lines: AsyncIterable<string>): Promise<void> {
  for await (const chunk of inChunks(lines)) {
    if (process.stdout.destroyed || process.stdout.errored) return;
    if (process.stdout.write(chunk)) continue;
    // A reader that went away never drains what was written for it.
    await new Promise<void>((resolve) => {
      const go = (): void => {
        process.stdout.off("drain", go).off("close", go).off("error", go);
        resolve();
      };
      process.stdout.on("drain", go).on("close", go).on("error", go);
    });
  }
}

/**
 * What is there already stays unless it is to be replaced, and a file of a store in any case; looked at before anything is
 * asked for or written.
 */
export function refuseTaken(paths: readonly string[], replaces: boolean): void {
  const own = paths.find((path) => isStoreFileName(basename(path)) && existsSync(storeFiles(dirname(path)).log));
  if (own !== undefined) throw belongsToStore(own);
  const taken = replaces ? undefined : paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (taken === undefined) return;
  throw new Failed({
    code: "file_exists",
    field: "--out",
    message: `${taken} exists already`,
    hint: "Name another place with --out, or replace what is there with --force.",
  });
}

/** Only its owner may read it, as with the record itself. An older file of that name stays until the new one is whole. */
export async function writeWhole(path: string, lines: AsyncIterable<string>): Promise<void> {
  const isPlain = (await stat(path).catch(() => undefined))?.isFile() ?? true;
  // A device or a pipe is written to as it is: nothing can take its place.
  const target = isPlain ? `${path}.${randomBytes(8).toString("hex")}.part` : path;
  try {
    // Opened before anything is asked for: what cannot be written is no export, and is not written down as one.
    // Never a file or a link that is there already: whoever may write to the folder could have laid it out to read along.
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
      message: `the file cannot be written: ${message}`,
      hint: "Name another one with --out.",
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
    message: `${path} is a file of a store, and nothing may take its place`,
    hint: "Name another one with --out.",
  });
}
