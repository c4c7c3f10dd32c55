// Reads what reflection looks at, newest first and a few entries at a time, whoever it is that looks. Entries are given as
// they were recorded: the onlooker masks the little of them that it shows.
import type { Entry } from "../model/entry.js";
import type { RowKey } from "../ports/entry-index.js";
import { EntryReader } from "./entry-reader.js";
import type { ReadingParts } from "./reader.js";
import type { ReflectionQuery } from "./reflection-query.js";

/** Who looks back: at the newest entries, then at as many before them. */
export interface Onlooker {
  add(entry: Entry): void;
  addBefore(entry: Entry): void;
}

const KEYS_PER_PAGE = 1_000;
/** Few at a time, since each may be as large as an entry can be. */
const CHUNK_ROWS = 8;
/** After so many chunks whatever else waits for this thread has its turn. */
const CHUNKS_PER_TURN = 8;

export class ReflectionReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
  }

  async read(query: ReflectionQuery, onlooker: Onlooker): Promise<void> {
    if (query.limit === 0) return;
    let reviewed = 0;
    let before = 0;
    for await (const chunk of this.#newestFirst(query)) {
      for (const entry of chunk) {
        if (reviewed < query.limit) {
          reviewed += 1;
          onlooker.add(entry);
        } else {
          before += 1;
          onlooker.addBefore(entry);
          if (before === reviewed) return;
        }
      }
    }
  }

  async *#newestFirst({ filter, limit }: ReflectionQuery): AsyncGenerator<readonly Entry[]> {
    let after: RowKey | undefined;
    let chunks = 0;
    const pageLimit = Math.min(limit * 2, KEYS_PER_PAGE);
    while (true) {
      const keys = await this.#parts.index.list({
        filter,
        limit: pageLimit,
        ...(after === undefined ? {} : { after }),
      });
      for (let start = 0; start < keys.length; start += CHUNK_ROWS) {
        const positions = keys.slice(start, start + CHUNK_ROWS).map((key) => key.position);
        yield await this.#entries.read(positions);
        chunks += 1;
        if (chunks % CHUNKS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      after = keys.at(-1);
      if (keys.length < pageLimit) return;
    }
  }
}
