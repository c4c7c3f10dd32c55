// A file that takes up the disk but for a given rest; removing it is what frees the space again.
import { closeSync, openSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export function placeBallast(path: string, leave: { readonly free_bytes: number }): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  const file = openSync(path, "w");
  const megabyte = Buffer.alloc(1024 * 1024);
  try {
    for (let left = bavail * bsize - leave.free_bytes; left > 0; left -= megabyte.length) {
      writeSync(file, megabyte, 0, Math.min(left, megabyte.length));
    }
  } catch (error) {
    // Another program has taken the rest meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
}
