// The reader: lists and single entries, as every surface shows them. It never changes anything.

import type { EntryCounts, EntryIndex, RowKey, RowQuery } from "../../index/port.js";
import { SESSIONS } from "../../index/session-fold.js";
import type { EntrySource } from "../../log/port.js";
import type { AlteredEntry, Entry, Interaction, InteractionSummary, ListedEntry } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import type { Mask } from "../../model/mask.js";
import { formatTime } from "../../model/time.js";
import type { EntryList, InteractionList } from "./entry-pages.js";
import { EntryReader, type Page } from "./entry-reader.js";
import { cursorAfter, type InteractionQuery, type ListQuery } from "./list-query.js";

/** What reading needs: the log, and an index that the caller has brought up to date. */
export interface ReadingParts {
  readonly log: EntrySource;
  readonly index: EntryIndex;
  /** Hides secrets in lists. */
  readonly mask: Mask;
}

export class Reader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
  }

  async listInteractions(query: InteractionQuery): Promise<InteractionList<Interaction | InteractionSummary>> {
    const read = (positions: readonly number[]): Promise<Page<Entry | AlteredEntry | ListedEntry>> =>
      query.full ? this.#entries.wholePage(positions) : this.#entries.page(positions);
    const ofInteractions = { ...query, filter: { ...query.filter, kinds: ["interaction"] } };
    const { rows, next_cursor } = await this.#list(ofInteractions, read);
    return { interactions: rows as InteractionList<Interaction | InteractionSummary>["interactions"], next_cursor };
  }

  async listEntries(query: ListQuery): Promise<EntryList> {
    const { rows, next_cursor } = await this.#list(query, (positions) => this.#entries.page(positions));
    return { entries: rows, next_cursor };
  }

  /** Places of entries, for those who read them themselves. */
  async positions(query: RowQuery): Promise<readonly RowKey[]> {
    return this.#parts.index.list(query);
  }

  async count(): Promise<EntryCounts> {
    const { entries, first_ms, last_ms, ...others } = await this.#parts.index.count();
    const sessions = await this.#parts.index.countDocuments(SESSIONS);
    const time = (ms: number | undefined): string | null => (ms === undefined ? null : formatTime(ms));
    const period = { first_at: time(first_ms), last_at: time(last_ms) };
    return this.#parts.mask.value({ entries, sessions, ...others, ...period });
  }

  async #list<Row>(
    query: ListQuery,
    read: (positions: readonly number[]) => Promise<Page<Row>>,
  ): Promise<{ readonly rows: readonly Row[]; readonly next_cursor: string | null }> {
    if (query.limit === 0) return { rows: [], next_cursor: null };
    // One more than asked for tells whether there is a next page.
    const keys = await this.#parts.index.list({ ...query, limit: query.limit + 1 });
    const { rows, used } = await read(keys.slice(0, query.limit).map((key) => key.position));
    const next_cursor = used > 0 && used < keys.length ? cursorAfter(query, itemAt(keys, used - 1)) : null;
    return { rows, next_cursor };
  }
}
