// A rebuild of the index under way: whoever asks for one meanwhile waits for the same, and can ask how far it has come.
import type { MaintenanceCalls } from "./maintenance.js";
import type { SteadyIndex } from "./steady.js";

/** How often whoever waits hears of it. */
const PROGRESS_MS = 200;

export class Rebuilding {
  readonly #index: SteadyIndex<unknown>;
  #running: Promise<void> | undefined;
  #through: number | undefined;

  constructor(index: SteadyIndex<unknown>) {
    this.#index = index;
  }

  /** Position through which it has come; undefined while there is none. */
  get through(): number | undefined {
    return this.#through;
  }

  run(): Promise<void> {
    this.#running ??= this.#index
      .rebuild((position) => {
        this.#through = position;
      })
      .finally(() => {
        this.#running = undefined;
        this.#through = undefined;
      });
    return this.#running;
  }
}

/** A rebuild that somebody waits for and wants to hear of. */
export async function rebuildWithProgress(
  calls: Pick<MaintenanceCalls, "rebuildIndex" | "rebuiltThrough">,
  onProgress: ((position: number) => void) | undefined,
): Promise<void> {
  const looking = setInterval(async () => {
    const position = await calls.rebuiltThrough().catch(() => undefined);
    if (position !== undefined) onProgress?.(position);
  }, PROGRESS_MS);
  try {
    await calls.rebuildIndex();
  } finally {
    clearInterval(looking);
  }
}
