// The reader: lists and single entries, as every surface shows them. It never changes anything.
import { toEntry } from "../model/body.js";
import { completionClaim, idClaim } from "../model/claims.js";
import type { Entry, EntryOf, EntrySummary, ErasedEntry, Interaction, InteractionSummary } from "../model/entry.js";
import type { EntryCounts, EntryIndex, RowKey } from "../ports/entry-index.js";
import type { EntryLog, StoredEntry } from "../ports/entry-log.js";
import { formatCursor, type ListQuery } from "./list-query.js";
import { complete, summarise } from "./views.js";

export interface InteractionList {
  readonly interactions: readonly InteractionSummary[];
  readonly next_cursor: string | null;
}

export interface EntryList {
  readonly entries: readonly EntrySummary[];
  readonly next_cursor: string | null;
}

/** A page ends early once it holds this much text; the cursor leads on. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;
const CHUNK_ROWS = 50;

export class Reader {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  readonly #catchUp: () => Promise<void>;

  constructor(parts: {
    readonly log: EntryLog;
    readonly index: EntryIndex;
    /** Returns once the index holds everything that was acknowledged before the call. */
    readonly catchUp: () => Promise<void>;
  }) {
    this.#log = parts.log;
    this.#index = parts.index;
    this.#catchUp = parts.catchUp;
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
    const [position] = await this.#log.find([idClaim(id)]);
    if (position === undefined) return undefined;
    const entry = await this.getByPosition(position);
    return entry !== undefined && "erased" in entry ? { ...entry, id } : entry;
  }

  async getByPosition(position: number): Promise<Entry | ErasedEntry | undefined> {
    const [stored] = await this.#log.get([position]);
    if (stored === undefined) return undefined;
    const entry = toEntry(stored);
    if ("erased" in entry || entry.kind !== "interaction") return entry;
    const [completed] = await this.#withResponses([entry]);
    return completed;
  }

  async count(): Promise<EntryCounts> {
    await this.#catchUp();
    return this.#index.count();
  }

  async indexedThrough(): Promise<number> {
    return this.#index.checkpoint();
  }

  async #list(query: ListQuery): Promise<{
    readonly rows: readonly EntrySummary[];
    readonly next_cursor: string | null;
  }> {
    if (query.limit === 0) return { rows: [], next_cursor: null };
    await this.#catchUp();
    // One more than asked for tells whether there is a next page.
    const keys = await this.#index.list({ ...query, limit: query.limit + 1 });
    const wanted = keys.slice(0, query.limit);
    const rows: EntrySummary[] = [];
    let bytes = 0;
    let used = 0;
    while (used < wanted.length && bytes < PAGE_BYTES_MAX) {
      const chunk = wanted.slice(used, used + CHUNK_ROWS);
      const stored = await this.#log.get(chunk.map((key) => key.position));
      const taken = takeUntil(stored, PAGE_BYTES_MAX - bytes);
      const entries = taken.flatMap((one) => {
        const entry = one === undefined ? undefined : toEntry(one);
        return entry === undefined || "erased" in entry ? [] : [entry];
      });
      rows.push(...(await this.#withResponses(entries)).map(summarise));
      for (const one of taken) bytes += one?.body?.byteLength ?? 0;
      used += taken.length;
    }
    const last = wanted[used - 1] as RowKey | undefined;
    const next_cursor = last !== undefined && used < keys.length ? formatCursor(query, last) : null;
    return { rows, next_cursor };
  }

  /** Interactions that were completed later carry what their response brought. */
  async #withResponses(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const waiting = entries.filter((entry) => entry.kind === "interaction" && entry.response === "");
    if (waiting.length === 0) return entries;
    const found = await this.#log.find(waiting.map((entry) => completionClaim(entry.id)));
    const positions = found.filter((position) => position !== undefined);
    if (positions.length === 0) return entries;
    const responseById = new Map<string, EntryOf<"response">>();
    for (const stored of await this.#log.get(positions)) {
      const response = stored === undefined ? undefined : toEntry(stored);
      if (response === undefined || "erased" in response || response.kind !== "response") continue;
      responseById.set(response.interaction_id, response);
    }
    return entries.map((entry) => {
      const response = entry.kind === "interaction" ? responseById.get(entry.id) : undefined;
      return response === undefined ? entry : complete(entry as Interaction, response);
    });
  }
}

/** The leading entries whose bodies fit into this many bytes, the first in any case. */
function takeUntil(
  stored: readonly (StoredEntry | undefined)[],
  bytesMax: number,
): readonly (StoredEntry | undefined)[] {
  let bytes = 0;
  let count = 0;
  for (const one of stored) {
    bytes += one?.body?.byteLength ?? 0;
    if (count > 0 && bytes > bytesMax) break;
    count += 1;
  }
  return stored.slice(0, count);
}
