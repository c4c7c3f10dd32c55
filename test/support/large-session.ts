// A session of entries as large as an entry may be, without the memory that they would take.
import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { composeInMemory } from "./memory-recorder.js";
import type { SessionEntry } from "./recorded-session.js";
import { repeatableContext } from "./write-context.js";

/** Read as 15 MiB of text. */
export const LARGE_MARK = "<large>";
const LARGE_CHARS = 15 * 1024 * 1024;

/** Makes its large bodies when they are read, so that a test can have more of them than memory; counts what is read. */
class LargeLog extends MemoryLog {
  chars = 0;

  override async getBodies(positions: readonly number[], bytes_max = Number.POSITIVE_INFINITY) {
    const large = "x".repeat(LARGE_CHARS);
    const found = (await super.getBodies(positions)).map((stored) => {
      const body = stored?.body?.replace(LARGE_MARK, large);
      return stored === undefined || body === undefined ? stored : { ...stored, body };
    });
    let bytes = 0;
    const end = found.findIndex((stored, at) => {
      bytes += stored?.body?.length ?? 0;
      return at > 0 && bytes > bytes_max;
    });
    const read = found.slice(0, end === -1 ? found.length : end);
    for (const stored of read) this.chars += stored?.body?.length ?? 0;
    return read;
  }
}

export async function recordLarge(entries: readonly SessionEntry[]) {
  const log = new LargeLog();
  const recorder = composeInMemory({ log, index: new MemoryIndex(), writeContext: repeatableContext() });
  await recorder.append(entries.map((entry) => ({ session_id: "s", ...entry }) as never));
  return { log, recorder, session: recorder.session("s") };
}
