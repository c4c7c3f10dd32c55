// The index in memory: the executable specification of what an index engine answers, used by tests.

import {
  type CandidateQuery,
  type ChangeQuery,
  type DocumentName,
  type DocumentPlace,
  type DocumentQuery,
  type EntryIndex,
  type EntryRow,
  type IndexBatch,
  type IndexDocument,
  type IndexRevision,
  type IndexSource,
  type NewestCandidates,
  type NewestQuery,
  newestFirst,
  type Reference,
  type RowCounts,
  type RowFilter,
  type RowKey,
  type RowQuery,
  type SessionPlace,
  type SessionPlacesQuery,
  type SessionRange,
  type TextBatch,
} from "../../index/port.js";
import { referencesIn } from "../../index/references.js";
import { rowMatches, timesOfKind, withReferences } from "../../index/row-filter.js";
import { itemAt } from "../../model/item-at.js";

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

  async revision(): Promise<IndexRevision> {
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

  async rememberedHeads(): Promise<readonly IndexSource[]> {
    return this.#source === undefined ? this.#earlier : [...this.#earlier, this.#source];
  }

  async forgetHeads(heads: readonly IndexSource[]): Promise<void> {
    const settled = new Set(heads.map(({ hash }) => hash));
    this.#earlier = this.#earlier.filter(({ hash }) => !settled.has(hash));
  }

  async reset(): Promise<void> {
    this.#earlier = await this.rememberedHeads();
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

/** Whether a row satisfies the filter's reference conditions; scans every row. */
function referenceTest(rows: readonly EntryRow[], filter: RowFilter): (row: EntryRow) => boolean {
  const conditions = (filter.references ?? []).map((condition) => ({
    holders: new Set(referencesIn(condition).flatMap((one) => [...holdersOf(rows, one)])),
    isWanted: condition.lacks !== true,
  }));
  return ({ position }) => conditions.every(({ holders, isWanted }) => holders.has(position) === isWanted);
}

/** Drops references about entries that have no row. */
function keptReferences(rows: readonly EntryRow[]): EntryRow[] {
  const positions = new Set(rows.map((row) => row.position));
  return rows.map((row) => (row.about === undefined || positions.has(row.about) ? row : { ...row, references: [] }));
}

function holdersOf(rows: readonly EntryRow[], { what, reference }: Reference): ReadonlySet<number> {
  const sayers = rows.filter((row) => row.references.some((own) => own.what === what && own.reference === reference));
  return new Set(sayers.map((row) => row.about ?? row.position));
}

class MemoryDocuments {
  readonly #byName = new Map<string, IndexDocument>();

  change({ put = [], removed = [] }: Pick<IndexBatch, "put" | "removed">): void {
    for (const name of removed) this.#byName.delete(nameOf(name));
    for (const document of put) this.#byName.set(nameOf(document), document);
  }

  get(collection: string, keys: readonly string[]): readonly IndexDocument[] {
    return [...new Set(keys)].flatMap((key) => this.#byName.get(nameOf({ collection, key })) ?? []);
  }

  list({ collection, order, labels, beyond, through, limit }: DocumentQuery): readonly IndexDocument[] {
    const direction = order === "asc" ? 1 : -1;
    return this.#labelled(collection, labels)
      .filter(({ position }) => through === undefined || position <= through)
      .filter((document) => beyond === undefined || compare(document, beyond) * direction > 0)
      .sort((left, right) => direction * compare(left, right))
      .slice(0, limit);
  }

  changed({ collection, labels, beyond, limit }: ChangeQuery): readonly IndexDocument[] {
    // With equal sorts, only position and key decide.
    const place = { ...beyond, sort: 0 };
    return this.#labelled(collection, labels)
      .filter((document) => compare({ ...document, sort: 0 }, place) > 0)
      .sort((left, right) => compare({ ...left, sort: 0 }, { ...right, sort: 0 }))
      .slice(0, limit);
  }

  count(collection: string): number {
    return this.#of(collection).length;
  }

  clear(): void {
    this.#byName.clear();
  }

  #labelled(collection: string, labels: readonly string[] = []): IndexDocument[] {
    return this.#of(collection).filter((document) => labels.every((label) => document.labels.includes(label)));
  }

  #of(collection: string): IndexDocument[] {
    return [...this.#byName.values()].filter((document) => document.collection === collection);
  }
}

function nameOf({ collection, key }: DocumentName): string {
  return JSON.stringify([collection, key]);
}

/** Missing fields of the place count as equal. */
function compare(document: IndexDocument, { sort, position, key }: DocumentPlace): number {
  return (
    document.sort - sort ||
    (position === undefined ? 0 : document.position - position) ||
    (key === undefined ? 0 : compareBytes(document.key, key))
  );
}

function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
