// A file that is there whole or not at all: written under another name, synced, and put in its place at the end.
import { closeSync, fsyncSync, linkSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface WholeFileOptions {
  readonly path: string;
  /** Whether a file that is there already may be replaced, at the last moment. */
  readonly replaces: boolean;
}

/**
 * Calls `fill` with the path of an empty file that only its owner can read, and puts it into its place once that is done.
 * Answers false, and leaves everything as it was, where a file has come to lie there that must not be replaced.
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

/** What a program that was killed left behind. */
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
