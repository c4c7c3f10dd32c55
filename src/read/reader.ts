// The reader: lists and single entries, as every surface shows them. It never changes anything.
import { toEntry } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import type { Entry, EntrySummary, ErasedEntry, InteractionSummary } from "../model/entry.js";
import type { EntryCounts, EntryIndex, RowKey } from "../ports/entry-index.js";
import type { EntryLog } from "../ports/entry-log.js";
import { EntryReader } from "./entry-reader.js";
import { cursorAfter, type ListQuery } from "./list-query.js";

export interface InteractionList {
  readonly interactions: readonly InteractionSummary[];
  readonly next_cursor: string | null;
}

export interface EntryList {
  readonly entries: readonly EntrySummary[];
  readonly next_cursor: string | null;
}

/** What reading needs: the truth, what is derived from it, and a way to bring the second up to the first. */
export interface ReadingParts {
  readonly log: EntryLog;
  readonly index: EntryIndex;
  /** Returns once the index holds everything that was acknowledged before the call. */
  readonly catchUp: () => Promise<void>;
}

export class Reader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts.log);
  }

  async listInteractions(query: ListQuery): Promise<InteractionList> {
    const { rows, next_cursor } = await this.#list(query);
    return { interactions: rows as readonly InteractionSummary[], next_cursor };
  }

  async listEntries(query: ListQuery): Promise<EntryList> {
    const { rows, next_cursor } = await this.#list(query);
    return { entries: rows, next_cursor };
  }

  async getById(id: string): Promise<Entry | ErasedEntry | undefined> {
    const [position] = await this.#parts.log.find([idClaim(id)]);
    if (position === undefined) return undefined;
    const entry = await this.getByPosition(position);
    return entry !== undefined && "erased" in entry ? { ...entry, id } : entry;
  }

  async getByPosition(position: number): Promise<Entry | ErasedEntry | undefined> {
    const [stored] = await this.#parts.log.get([position]);
    if (stored === undefined) return undefined;
    const entry = toEntry(stored);
    if ("erased" in entry) return entry;
    const [completed] = await this.#entries.withResponses([entry]);
    return completed;
  }

  async count(): Promise<EntryCounts> {
    await this.#parts.catchUp();
    return this.#parts.index.count();
  }

  async #list(query: ListQuery): Promise<{
    readonly rows: readonly EntrySummary[];
    readonly next_cursor: string | null;
  }> {
    if (query.limit === 0) return { rows: [], next_cursor: null };
    await this.#parts.catchUp();
    // One more than asked for tells whether there is a next page.
    const keys = await this.#parts.index.list({ ...query, limit: query.limit + 1 });
    const { rows, used } = await this.#entries.page(keys.slice(0, query.limit).map((key) => key.position));
    const next_cursor = used > 0 && used < keys.length ? cursorAfter(query, keys[used - 1] as RowKey) : null;
    return { rows, next_cursor };
  }
}
