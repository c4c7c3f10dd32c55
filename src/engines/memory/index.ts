// The index in memory: the executable specification of what an index engine answers, used by tests.

import { newestFirst } from "../../index/port/rows.js";
import type {
  CandidateQuery,
  ChangeQuery,
  DocumentQuery,
  EntryIndex,
  EntryRow,
  IndexBatch,
  IndexDocument,
  IndexSource,
  IndexStanding,
  NewestCandidates,
  NewestQuery,
  RowCounts,
  RowFilter,
  RowKey,
  RowQuery,
  SessionPlace,
  SessionPlacesQuery,
  SessionRange,
  TextBatch,
} from "../../index/port.js";
import { rowMatches, timesOfKind, withReferences } from "../../index/row-filter.js";
import { itemAt } from "../../model/item-at.js";
import { MemoryDocuments } from "./index-documents.js";
import { keptReferences, referenceTest } from "./index-uses.js";

export class MemoryIndex implements EntryIndex {
  readonly engine = "memory";
  #rows: EntryRow[] = [];
  #through = 0;
  #epoch = 1;
  #source: IndexSource | undefined;
  #earlier: readonly IndexSource[] = [];
  readonly #documents = new MemoryDocuments();
  readonly #texts = new Map<number, readonly string[]>();
  #textThrough = 0;
  readonly #erased = new Set<number>();

  async checkpoint(): Promise<number> {
    return this.#through;
  }

  async standing(): Promise<IndexStanding> {
    return { position: this.#through, epoch: String(this.#epoch) };
  }

  async apply(batch: IndexBatch): Promise<boolean> {
    const { after, erased = [] } = batch;
    if (after.position !== this.#through || after.epoch !== String(this.#epoch)) return false;
    for (const position of erased) {
      this.#erased.add(position);
      this.#texts.delete(position);
    }
    this.#rows.push(...batch.rows);
    if (erased.length > 0 || batch.rows.some((row) => row.about !== undefined)) {
      this.#rows = keptReferences(this.#rows.filter((row) => !this.#erased.has(row.position)));
    }
    this.#documents.change(batch);
    this.#through = batch.through;
    this.#source = batch.source;
    return true;
  }

  async source(): Promise<IndexSource | undefined> {
    return this.#source;
  }

  async list({ filter, after, limit }: RowQuery): Promise<readonly RowKey[]> {
    const refersAsAsked = referenceTest(this.#rows, filter);
    return this.#rows
      .filter((row) => this.#matches(row, filter) && refersAsAsked(row))
      .filter((row) => after === undefined || newestFirst(after, row) < 0)
      .sort(newestFirst)
      .slice(0, limit)
      .map(({ created_ms, position }) => ({ created_ms, position }));
  }

  async rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]> {
    const wanted = new Set(positions);
    return this.#rows.filter(({ position }) => wanted.has(position));
  }

  async textCheckpoint(): Promise<number> {
    return this.#textThrough;
  }

  async applyTexts(batch: TextBatch): Promise<number> {
    if ((batch.after ?? 0) > this.#textThrough) return this.#textThrough;
    for (const { position, texts } of batch.texts) {
      if (position > this.#textThrough && !this.#erased.has(position)) this.#texts.set(position, texts);
    }
    this.#textThrough = Math.max(this.#textThrough, batch.through);
    return this.#textThrough;
  }

  async candidates(query: CandidateQuery): Promise<readonly RowKey[]> {
    const keys = await this.list({ ...query, limit: this.#rows.length });
    return keys.filter(({ position }) => this.#mayHold(position, query.needles)).slice(0, query.limit);
  }

  async newestCandidates({ kind, filter, needles, rows_max }: NewestQuery): Promise<NewestCandidates> {
    const newest = await this.list({ filter: timesOfKind(kind, filter), limit: rows_max + 1 });
    const passing = await this.list({ filter: { ...filter, kinds: [kind] }, limit: this.#rows.length });
    const looked = new Set(newest.slice(0, rows_max).map(({ position }) => position));
    const keys = passing.filter(({ position }) => looked.has(position) && this.#mayHold(position, needles));
    return { keys, is_all: newest.length <= rows_max };
  }

  async getDocuments(query: {
    readonly collection: string;
    readonly keys: readonly string[];
  }): Promise<readonly IndexDocument[]> {
    return this.#documents.get(query.collection, query.keys);
  }

  async listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]> {
    return this.#documents.list(query);
  }

  async changedDocuments(query: ChangeQuery): Promise<readonly IndexDocument[]> {
    return this.#documents.changed(query);
  }

  async countDocuments(collection: string): Promise<number> {
    return this.#documents.count(collection);
  }

  async count(): Promise<RowCounts> {
    const byKind: { [kind: string]: number } = {};
    const byProject = new Map<string, number>();
    for (const row of this.#rows) {
      byKind[row.kind] = (byKind[row.kind] ?? 0) + 1;
      byProject.set(row.project, (byProject.get(row.project) ?? 0) + 1);
    }
    const times = this.#rows.map((row) => row.created_ms).sort((left, right) => left - right);
    return {
      entries: this.#rows.length,
      by_kind: byKind,
      projects: [...byProject]
        .map(([project, entries]) => ({ project, entries }))
        .sort((left, right) => right.entries - left.entries || (left.project < right.project ? -1 : 1)),
      ...(times.length === 0 ? {} : { first_ms: itemAt(times, 0), last_ms: times.at(-1) as number }),
    };
  }

  async sessionPlaces({ session_ids, through }: SessionPlacesQuery): Promise<readonly SessionPlace[]> {
    return session_ids.flatMap((session_id) => {
      const rows = this.#rowsOf(session_id).filter(({ position }) => position <= through);
      const newest = rows.at(-1);
      if (newest === undefined || session_id === "") return [];
      return [{ session_id, last_ms: Math.max(...rows.map((row) => row.created_ms)), position: newest.position }];
    });
  }

  async sessionPositions(range: SessionRange): Promise<readonly number[]> {
    const { session_id, order, limit, after, above = 0, kinds, role } = range;
    const isBeyond = (position: number): boolean => {
      if (after === undefined) return true;
      return order === "asc" ? position > after : position < after;
    };
    if (session_id === "") return [];
    const positions = this.#rowsOf(session_id)
      .filter((row) => kinds === undefined || kinds.includes(row.kind))
      .filter((row) => role === undefined || row.role === role)
      .map((row) => row.position)
      .filter((position) => position > above && isBeyond(position));
    return (order === "asc" ? positions : positions.reverse()).slice(0, limit);
  }

  async remembered(): Promise<readonly IndexSource[]> {
    return this.#source === undefined ? this.#earlier : [...this.#earlier, this.#source];
  }

  async settle(heads: readonly IndexSource[]): Promise<void> {
    const settled = new Set(heads.map(({ hash }) => hash));
    this.#earlier = this.#earlier.filter(({ hash }) => !settled.has(hash));
  }

  async reset(): Promise<void> {
    this.#earlier = await this.remembered();
    this.#rows = [];
    this.#through = 0;
    this.#epoch += 1;
    this.#source = undefined;
    this.#documents.clear();
    this.#texts.clear();
    this.#erased.clear();
    this.#textThrough = 0;
  }

  async close(): Promise<void> {}

  #mayHold(position: number, needles: readonly string[]): boolean {
    if (position > this.#textThrough) return true;
    const texts = this.#texts.get(position) ?? [];
    return needles.every((needle) => texts.some((text) => text.includes(needle)));
  }

  #rowsOf(session_id: string): readonly EntryRow[] {
    return this.#rows.filter((row) => row.session_id === session_id);
  }

  #matches(row: EntryRow, filter: RowFilter): boolean {
    return rowMatches(row, withReferences(filter, []));
  }
}
