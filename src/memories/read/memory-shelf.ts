// All memories at hand: read from the index once, and then only what has changed, so that whoever looks at every one of
// them, as recall and the gates do, need not read them again.
import { documentToMemory, MEMORIES } from "../../index/memory-fold.js";
import type { IndexDocument, IndexStanding } from "../../index/port.js";
import { SerialQueue } from "../../model/scheduling.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import { KeptMemories, type MemoriesById } from "./kept-memories.js";

const READ_AT_ONCE = 1_000;

export class MemoryShelf {
  readonly #parts: Pick<ReadingParts, "index" | "log">;
  #memories = new KeptMemories();
  #standing: IndexStanding | undefined;
  readonly #looks = new SerialQueue();
  #readings = 0;

  constructor(parts: Pick<ReadingParts, "index" | "log">) {
    this.#parts = parts;
  }

  /** How often all was read: another number means that something may have been forgotten, wherever else it is kept. */
  get readings(): number {
    return this.#readings;
  }

  /**
   * Every memory that the index knows of as it stands now. Those that change are put in their places; once something may
   * have been forgotten, it is another collection. One look at a time, or two would mix what they read.
   */
  look(): Promise<MemoriesById> {
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
    const memories = new KeptMemories();
    let last: IndexDocument | undefined;
    for (;;) {
      const beyond = last === undefined ? {} : { beyond: { sort: last.sort, position: last.position, key: last.key } };
      const page = await index.listDocuments({ collection: MEMORIES, order: "asc", limit: READ_AT_ONCE, ...beyond });
      for (const document of page) memories.set(document.key, documentToMemory(document));
      last = page.at(-1);
      if (page.length < READ_AT_ONCE) break;
    }
    this.#memories = memories;
    this.#readings += 1;
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
