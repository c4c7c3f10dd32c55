// Reads the entries for reflection, newest first and a few at a time. They are unmasked: the visitor masks what it shows.
import { sameCallsIn } from "../../index/call-steps.js";
import { feedbackOn } from "../../index/feedback-fold.js";
import { newestFirst, type RowKey, type RowQuery } from "../../index/port.js";
import { bothHold, type RowFilter } from "../../index/row-filter.js";
import type { Entry, EntryOf } from "../../model/entry.js";
import { isDislike, states } from "../../model/states.js";
import { EntryReader } from "../../search/lists/entry-reader.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import type { ReflectionQuery } from "./reflection-query.js";

/** Visits the newest entries, then as many before them. */
export interface EntryVisitor {
  /** @param dislikes Feedback below 0, newest first. */
  add(entry: Entry, dislikes?: readonly EntryOf<"feedback">[]): void;
  addBefore(entry: Entry): void;
  /** The number of entries of other kinds among them. */
  passOver(count: number): void;
}

const KEYS_PER_PAGE = 1_000;
const COUNTED_PER_PAGE = 10_000;
/** Few at a time, since each may be as large as an entry can be. */
const CHUNK_ROWS = 8;
/** After this many chunks other work runs on the thread. */
const CHUNKS_PER_TURN = 8;
/** How much of the newest feedback on one entry is read. */
const FEEDBACK_READ = 100;

const isDisliked: RowFilter = { references: [{ what: "is", reference: states.disliked.has }] };

interface Chunk {
  readonly entries: readonly Entry[];
  /** The page's disliked entries, by position. */
  readonly disliked: ReadonlySet<number>;
}

export class ReflectionReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
  }

  async read(query: ReflectionQuery, visitor: EntryVisitor): Promise<void> {
    if (query.limit === 0) return;
    const oldest = await this.#readConversation(query, visitor);
    visitor.passOver(await this.#countFrom(query.others, oldest));
  }

  /** Returns the oldest reviewed entry; undefined if there are fewer than the limit. */
  async #readConversation(query: ReflectionQuery, visitor: EntryVisitor): Promise<RowKey | undefined> {
    let oldest: RowKey | undefined;
    let reviewed = 0;
    let before = 0;
    for await (const { entries, disliked } of this.#newestFirst(query)) {
      for (const entry of entries) {
        if (reviewed < query.limit) {
          reviewed += 1;
          if (reviewed === query.limit) oldest = { created_ms: Date.parse(entry.created_at), position: entry.position };
          visitor.add(entry, disliked.has(entry.position) ? await this.#dislikesOf(entry) : undefined);
        } else {
          before += 1;
          visitor.addBefore(entry);
          if (before === reviewed) return oldest;
        }
      }
    }
    return oldest;
  }

  /** Counts entries from the newest back to this one; without one, all of them. */
  async #countFrom(others: RowFilter, oldest: RowKey | undefined): Promise<number> {
    const filter = oldest === undefined ? others : bothHold(others, { since_ms: oldest.created_ms });
    if (filter.kinds?.length === 0) return 0;
    let count = 0;
    let after: RowKey | undefined;
    while (true) {
      const page: RowQuery = { filter, limit: COUNTED_PER_PAGE, ...(after === undefined ? {} : { after }) };
      const keys = await this.#parts.index.list(page);
      count += oldest === undefined ? keys.length : keys.filter((key) => newestFirst(key, oldest) < 0).length;
      if (keys.length < COUNTED_PER_PAGE) return count;
      after = keys.at(-1);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** The interactions among these entries that are the same call as a message: what was said is counted with that. */
  async #toldAsMessages(positions: readonly number[]): Promise<ReadonlySet<number>> {
    const { index } = this.#parts;
    const told = new Set<number>();
    const ranges = new Map<string, { from: number; through: number }>();
    for (const { kind, session_id, position } of await index.rowsAt(positions)) {
      if (kind !== "interaction" || session_id === "") continue;
      const range = ranges.get(session_id);
      if (range === undefined) ranges.set(session_id, { from: position, through: position });
      else range.through = position;
    }
    for (const [session_id, range] of ranges) {
      const { messageOf } = await sameCallsIn(index, { session_id, ...range });
      for (const position of messageOf.keys()) told.add(position);
    }
    return told;
  }

  async #dislikesOf({ id }: Entry): Promise<readonly EntryOf<"feedback">[]> {
    const positions = (await feedbackOn(this.#parts.index, [id])).get(id) ?? [];
    const feedback = await this.#entries.read(positions.slice(-FEEDBACK_READ).reverse());
    return feedback.flatMap((entry) => (entry.kind === "feedback" && isDislike(entry) ? [entry] : []));
  }

  async *#newestFirst({ filter, limit }: ReflectionQuery): AsyncGenerator<Chunk> {
    let after: RowKey | undefined;
    let chunks = 0;
    const pageLimit = Math.min(limit * 2, KEYS_PER_PAGE);
    while (true) {
      const page: RowQuery = { filter, limit: pageLimit, ...(after === undefined ? {} : { after }) };
      const keys = await this.#parts.index.list(page);
      const dislikedKeys = await this.#parts.index.list({ ...page, filter: bothHold(filter, isDisliked) });
      const dislikedHere = new Set(dislikedKeys.map(({ position }) => position));
      const told = await this.#toldAsMessages(keys.map(({ position }) => position));
      for (let start = 0; start < keys.length; start += CHUNK_ROWS) {
        const chunk = keys.slice(start, start + CHUNK_ROWS).map((key) => key.position);
        const positions = chunk.filter((position) => !told.has(position));
        for await (const entries of this.#entries.readInParts(positions)) yield { entries, disliked: dislikedHere };
        chunks += 1;
        if (chunks % CHUNKS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      after = keys.at(-1);
      if (keys.length < pageLimit) return;
    }
  }
}
