// Files and folders: creating a folder with its parents, writing a file atomically, and finding files of the package.
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Does nothing if it exists; throws the system's error if it cannot be created. Node's own recursive `mkdir` never ends
 * if a folder disappears right after it was made, as below /proc.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = path; !isFolder(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Another process may have created it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(folder)) throw error;
    }
  }
}

function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: "ENOTDIR" });
}

/** A file of the package, found by the package's name, because a bundle moves this module. */
export function packageFile(path: string): URL {
  return new URL(path, import.meta.resolve("hansard/package.json"));
}

interface WholeFileOptions {
  readonly path: string;
  /** Checked at the last moment: whether an existing file may be replaced. */
  readonly replaces: boolean;
}

/**
 * Writes a file atomically: `fill` gets the path of an empty file that only its owner can read, which is synced and
 * renamed into place afterwards. Returns false, and changes nothing, if a file exists that must not be replaced.
 */
export async function writeWholeFile(
  { path, replaces }: WholeFileOptions,
  fill: (draft: string) => Promise<void>,
): Promise<boolean> {
  removeAbandoned(path);
  const draft = `${path}.${process.pid}.part`;
  try {
    closeSync(openSync(draft, "wx", 0o600));
    await fill(draft);
    sync(draft);
    if (replaces) renameSync(draft, path);
    else linkSync(draft, path);
    sync(dirname(path));
    return true;
  } catch (error) {
    if (!replaces && isTaken(error)) return false;
    throw error;
  } finally {
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(draft + suffix, { force: true });
  }
}

/** Deletes leftovers of killed programs. */
function removeAbandoned(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const [, pid] = name.startsWith(prefix) ? (/^(\d+)\.part/.exec(name.slice(prefix.length)) ?? []) : [];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(dirname(path), name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isTaken(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === "EEXIST" && syscall === "link";
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
