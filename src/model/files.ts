// Files and folders: making a folder with its parents, and finding the files of the package.
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Does nothing if it exists; throws the system's error if it cannot be made. Node's own recursive `mkdir` never ends where a
 * folder is missing right after it was made, as below /proc.
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
      // Another process may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isFolder(folder)) throw error;
    }
  }
}

function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: "ENOTDIR" });
}

/** A file of the package, found by the package's name: a bundle moves this module. */
export function packageFile(path: string): URL {
  return new URL(path, import.meta.resolve("hansard/package.json"));
}
