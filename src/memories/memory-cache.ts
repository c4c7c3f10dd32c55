// All memories at hand: read from the index once, and then only what has changed, so that whoever looks at every one of
// them, as recall and the gates do, need not read them again.
import { documentToMemory, type KeptMemory, MEMORIES } from "../index/memory-fold.js";
import type { IndexDocument, IndexStanding } from "../index/port.js";
import { SerialQueue } from "../model/scheduling.js";
import type { ReadingParts } from "../search/lists/reader.js";

const READ_AT_ONCE = 1_000;

export class MemoryCache {
  readonly #parts: Pick<ReadingParts, "index" | "log">;
  #memories = new MemoryMap();
  #standing: IndexStanding | undefined;
  readonly #looks = new SerialQueue();
  #reloads = 0;

  constructor(parts: Pick<ReadingParts, "index" | "log">) {
    this.#parts = parts;
  }

  /** How often all was read: another number means that something may have been forgotten, wherever else it is kept. */
  get reloads(): number {
    return this.#reloads;
  }

  /**
   * Every memory that the index knows of as it stands now. Those that change are put in their places; once something may
   * have been forgotten, it is another collection. One look at a time, or two would mix what they read.
   */
  current(): Promise<MemoriesById> {
    return this.#looks.run(() => this.#look());
  }

  async #look(): Promise<MemoriesById> {
    const { index } = this.#parts;
    const standing = await index.standing();
    const known = this.#standing;
    if (known?.epoch === standing.epoch && known.position === standing.position) return this.#memories;
    this.#standing = undefined;
    if (known?.epoch !== standing.epoch || !(await this.#isGrownOnly(known.position))) await this.#readAll();
    else await this.#readChanges(known.position);
    this.#standing = standing;
    return this.#memories;
  }

  /** What was forgotten is in no list of changes, so that all is read again. */
  async #isGrownOnly(position: number): Promise<boolean> {
    return (await this.#parts.log.redactionsAfter(position)).positions.length === 0;
  }

  async #readAll(): Promise<void> {
    const { index } = this.#parts;
    const memories = new MemoryMap();
    let last: IndexDocument | undefined;
    for (;;) {
      const beyond = last === undefined ? {} : { beyond: { sort: last.sort, position: last.position, key: last.key } };
      const page = await index.listDocuments({ collection: MEMORIES, order: "asc", limit: READ_AT_ONCE, ...beyond });
      for (const document of page) memories.set(document.key, documentToMemory(document));
      last = page.at(-1);
      if (page.length < READ_AT_ONCE) break;
    }
    this.#memories = memories;
    this.#reloads += 1;
  }

  async #readChanges(position: number): Promise<void> {
    const { index } = this.#parts;
    let beyond: { readonly position: number; readonly key?: string } = { position };
    for (;;) {
      const page = await index.changedDocuments({ collection: MEMORIES, beyond, limit: READ_AT_ONCE });
      for (const document of page) this.#memories.put(documentToMemory(document));
      const last = page.at(-1);
      if (last === undefined || page.length < READ_AT_ONCE) break;
      beyond = { position: last.position, key: last.key };
    }
  }
}

// Memories by their id, with word of which have changed: whoever makes something of all ten thousand of them makes it anew
// only for these.

/** One that has not changed stays the same object, so that what was made of it can be kept beside it. */
export interface MemoriesById extends ReadonlyMap<string, KeptMemory> {
  /** Grows with each change. */
  readonly version: number;
  /** The ids of those that changed after a version, oldest change first; undefined where nobody knows any more. */
  changedSince(version: number): readonly string[] | undefined;
}

/** So many changes are known; whoever has not looked since then looks at all. */
const CHANGES_KEPT = 10_000;

class MemoryMap extends Map<string, KeptMemory> implements MemoriesById {
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
