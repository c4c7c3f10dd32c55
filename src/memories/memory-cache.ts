// All memories, cached: read from the index once, and after that only what has changed.
import { documentToMemory, type KeptMemory, MEMORIES } from "../index/memory-fold.js";
import type { IndexDocument, IndexRevision } from "../index/port.js";
import { SerialQueue } from "../model/scheduling.js";
import type { ReadingParts } from "../search/lists/reader.js";

const READ_AT_ONCE = 1_000;

export class MemoryCache {
  readonly #parts: Pick<ReadingParts, "index" | "log">;
  #memories = new MemoryMap();
  #state: IndexRevision | undefined;
  readonly #queue = new SerialQueue();
  #reloads = 0;

  constructor(parts: Pick<ReadingParts, "index" | "log">) {
    this.#parts = parts;
  }

  /** How often all were read. After a reload something may have been forgotten: other caches must be dropped. */
  get reloads(): number {
    return this.#reloads;
  }

  /**
   * All memories in the index at present. Changed ones are replaced in the same collection; after something was forgotten it is
   * a new collection. One call at a time, because two would mix what they read.
   */
  current(): Promise<MemoriesById> {
    return this.#queue.run(() => this.#update());
  }

  async #update(): Promise<MemoriesById> {
    const { index } = this.#parts;
    const revision = await index.revision();
    const known = this.#state;
    if (known?.epoch === revision.epoch && known.position === revision.position) return this.#memories;
    this.#state = undefined;
    if (known?.epoch !== revision.epoch || !(await this.#isGrownOnly(known.position))) await this.#readAll();
    else await this.#readChanges(known.position);
    this.#state = revision;
    return this.#memories;
  }

  /** Forgotten memories are in no list of changes, so a redaction makes all be read again. */
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

/** An unchanged memory stays the same object, so results for it can be cached. */
export interface MemoriesById extends ReadonlyMap<string, KeptMemory> {
  /** Grows with each change. */
  readonly version: number;
  /** The ids of those that changed after a version, oldest change first; undefined for a version too long ago. */
  changedSince(version: number): readonly string[] | undefined;
}

/** At least this many changes are known. */
const CHANGES_MIN = 10_000;

class MemoryMap extends Map<string, KeptMemory> implements MemoriesById {
  #changed: string[] = [];
  /** How many changes came before the known ones. */
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
    if (this.#changed.length <= 2 * CHANGES_MIN) return;
    this.#changed = this.#changed.slice(CHANGES_MIN);
    this.#before += CHANGES_MIN;
  }
}
