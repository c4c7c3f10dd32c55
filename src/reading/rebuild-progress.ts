// A rebuild that somebody waits for and wants to hear of.
import type { Reading } from "../threads/reading.js";

/** How often whoever waits hears of it. */
const PROGRESS_MS = 200;

export async function rebuildWithProgress(
  reading: Pick<Reading, "rebuildIndex" | "rebuiltThrough">,
  onProgress: ((position: number) => void) | undefined,
): Promise<void> {
  const looking = setInterval(async () => {
    const position = await reading.rebuiltThrough().catch(() => undefined);
    if (position !== undefined) onProgress?.(position);
  }, PROGRESS_MS);
  try {
    await reading.rebuildIndex();
  } finally {
    clearInterval(looking);
  }
}
