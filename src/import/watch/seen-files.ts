// Lists the files of watched folders without opening them.
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { FormatsRead } from "../importer.js";

/** The event loop runs after this many files. */
const SLICE_FILES = 256;
const DATABASE = /\.(?:db|sqlite3?)$/;
/** SQLite's files next to a database belong to it. */
const COMPANION = /-(?:wal|shm|journal)$/;

export interface WatchedRoot {
  /** A folder, or a file that is watched by itself. */
  readonly path: string;
  /** Whether a file, by its relative path with slashes, is to be read. */
  readonly matches: (name: string) => boolean;
  readonly formats: FormatsRead;
}

export interface SeenFile {
  readonly path: string;
  /** Device and inode, which identify a file under any name. */
  readonly key: string;
  /** Changes whenever the file does. */
  readonly stamp: string;
  readonly modified_ms: number;
  readonly bytes: number;
  /** Whether it is a link: the events of its folder do not report its changes. */
  readonly is_link: boolean;
}

/** The part of Node's `Stats` that is used: users of the library need not have Node's types. */
interface FileFacts {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** All files of a root. Unreadable folders are reported to `lost`. */
export async function* seeFiles(
  root: WatchedRoot,
  lost: (path: string, error: unknown) => void,
): AsyncGenerator<SeenFile> {
  const found = statOf(root.path, lost);
  if (found?.isFile()) yield toSeen(root.path, found, true);
  if (!found?.isDirectory()) return;
  let count = 0;
  for (const { path, is_link } of pathsWithin(root.path, lost)) {
    count += 1;
    if (count % SLICE_FILES === 0) await setImmediate();
    if (!isRead(root, path)) continue;
    const stats = statOf(path, lost);
    if (stats?.isFile()) yield toSeen(path, stats, is_link);
  }
}

/** One file; undefined if there is none. */
export function seeFile(path: string, lost: (path: string, error: unknown) => void): SeenFile | undefined {
  const stats = statOf(path, lost);
  return stats?.isFile() ? toSeen(path, stats, false) : undefined;
}

/** Whether a file of a root is read. */
export function isRead(root: WatchedRoot, path: string): boolean {
  if (path === root.path) return true;
  return !COMPANION.test(path) && root.matches(nameIn(root, path));
}

/** The innermost of the roots that a file is in. */
export function rootOf<R extends WatchedRoot>(path: string, roots: readonly R[]): R | undefined {
  return roots
    .filter((root) => path === root.path || path.startsWith(root.path.endsWith(sep) ? root.path : root.path + sep))
    .reduce<R | undefined>((found, root) => (root.path.length > (found?.path.length ?? -1) ? root : found), undefined);
}

/** A file's path relative to its root, with slashes. */
export function nameIn(root: WatchedRoot, path: string): string {
  return relative(root.path, path).split(sep).join("/");
}

/** The file that a change belongs to: a change of a database's WAL is one of the database. */
export function ownerOf(path: string): string {
  return path.replace(COMPANION, (ending, at: number) => (DATABASE.test(path.slice(0, at)) ? "" : ending));
}

/** A file by its stats; a database together with its WAL. */
export function toSeen(path: string, facts: FileFacts, is_link: boolean): SeenFile {
  const { dev, ino, size, mtimeMs, ctimeMs } = facts;
  const log = DATABASE.test(path) ? statSync(`${path}-wal`, { throwIfNoEntry: false }) : undefined;
  const logStamp = log === undefined ? "" : `+${log.size}:${log.mtimeMs}`;
  const stamp = `${size}:${mtimeMs}:${ctimeMs}${logStamp}`;
  const modified_ms = Math.max(mtimeMs, log?.mtimeMs ?? 0);
  return { path, key: `${dev}:${ino}`, stamp, modified_ms, bytes: size, is_link };
}

/** The stats of a path; undefined if there is nothing, or if it cannot be read, which is reported to `lost`. */
export function statOf(path: string, lost: (path: string, error: unknown) => void): FileFacts | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (!isAbsent(error)) lost(path, error);
    return undefined;
  }
}

/** Whether a path does not exist, for instance because a file is where a folder was. */
function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

function* pathsWithin(
  folder: string,
  lost: (path: string, error: unknown) => void,
): Generator<{ readonly path: string; readonly is_link: boolean }> {
  let items: readonly Dirent[];
  try {
    items = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // It may have been deleted since it was listed.
    if (!isAbsent(error)) lost(folder, error);
    return;
  }
  for (const item of items) {
    const path = join(folder, item.name);
    // A link to a folder is not followed: it may be a loop.
    if (item.isDirectory()) yield* pathsWithin(path, lost);
    else if (item.isFile() || item.isSymbolicLink()) yield { path, is_link: item.isSymbolicLink() };
  }
}
