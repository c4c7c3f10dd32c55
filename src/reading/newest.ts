// A view of the newest entries alone, in memory: what answers while there is no index that knows them all.
import { MemoryIndex } from "../engines/memory/index.js";
import { View, type ViewParts } from "./view.js";

/** Entries may be large, and reading thousands of those would take longer than anybody waits. */
const FILLING_MS_MAX = 2_000;
const ENTRIES_MIN = 16;
/** What has come since is kept as well, up to this many times the number it began with. */
const GROWTH_MAX = 4;

export class NewestView<R> {
  readonly #view: View<R>;
  readonly #start: number;

  private constructor(view: View<R>, start: number) {
    this.#view = view;
    this.#start = start;
  }

  /** The newest entries before a position, and all that follow it. */
  static async open<R>(
    options: ViewParts<R> & { readonly position: number; readonly entries: number },
  ): Promise<NewestView<R>> {
    for (let entries = options.entries; ; entries = Math.ceil(entries / 8)) {
      const start = Math.max(0, options.position - entries);
      const view = await startingAfter(options, start);
      if (await isFilled(view, entries <= ENTRIES_MIN)) return new NewestView(view, start);
    }
  }

  async read<T>(work: (readers: R) => Promise<T>): Promise<T> {
    await this.#view.indexer.catchUp();
    return work(this.#view.readers);
  }

  /** Whether nothing is missing, because there are no older entries. */
  get isWhole(): boolean {
    return this.#start === 0;
  }

  /** Whether it holds the newest before this position, and has not grown so much that it is better begun again. */
  suits(position: number, entries: number): boolean {
    return (this.isWhole || this.#start <= position - ENTRIES_MIN) && position - this.#start <= entries * GROWTH_MAX;
  }
}

async function startingAfter<R>(parts: ViewParts<R>, start: number): Promise<View<R>> {
  const index = new MemoryIndex();
  await index.apply({ after: await index.standing(), rows: [], through: start });
  await index.applyTexts({ texts: [], through: start });
  return new View({ ...parts, index });
}

async function isFilled(view: View<unknown>, isLeast: boolean): Promise<boolean> {
  const untilMs = performance.now() + FILLING_MS_MAX;
  while (await view.indexer.step()) if (!isLeast && performance.now() > untilMs) return false;
  return true;
}
