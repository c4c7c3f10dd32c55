// Memories by their id, with word of which have changed: whoever makes something of all ten thousand of them makes it anew
// only for these.
import type { KeptMemory } from "../../index/memory-fold.js";

/** One that has not changed stays the same object, so that what was made of it can be kept beside it. */
export interface MemoriesById extends ReadonlyMap<string, KeptMemory> {
  /** Grows with each change. */
  readonly version: number;
  /** The ids of those that changed after a version, oldest change first; undefined where nobody knows any more. */
  changedSince(version: number): readonly string[] | undefined;
}

/** So many changes are known; whoever has not looked since then looks at all. */
const CHANGES_KEPT = 10_000;

export class KeptMemories extends Map<string, KeptMemory> implements MemoriesById {
  #changed: string[] = [];
  /** How many changes were before those that are known. */
  #before = 0;

  get version(): number {
    return this.#before + this.#changed.length;
  }

  changedSince(version: number): readonly string[] | undefined {
    return version < this.#before ? undefined : this.#changed.slice(version - this.#before);
  }

  put(memory: KeptMemory): void {
    this.set(memory.id, memory);
    this.#changed.push(memory.id);
    if (this.#changed.length <= 2 * CHANGES_KEPT) return;
    this.#changed = this.#changed.slice(CHANGES_KEPT);
    this.#before += CHANGES_KEPT;
  }
}
