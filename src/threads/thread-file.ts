// The files that worker threads are started with: bundled, since every thread loads its modules for itself.
import { packageFile } from "../model/files.js";

export function threadFile(name: "checkpoint" | "log" | "purge" | "read" | "tail"): URL {
  return packageFile(`dist/bundle/${name}-thread.js`);
}
