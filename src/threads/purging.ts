// Purges a file of a store in its own thread, so neither capture nor reads wait for it.
import { Thread, threadFile } from "./thread.js";

export interface PurgeOptions {
  readonly file: "log" | "index";
  readonly path: string;
}

/** Returns what is left in the file, in words; undefined if nothing is. */
export async function purgeFile(options: PurgeOptions): Promise<string | undefined> {
  const thread = new Thread({ file: threadFile("purge"), options });
  try {
    return await thread.call<string | undefined>("purge", undefined);
  } finally {
    await thread.close();
  }
}
