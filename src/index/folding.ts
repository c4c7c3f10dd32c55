// Folding: which documents change with a batch of rows, and how, worked out from what the index holds before the batch.

import { callFold } from "./call-fold.js";
import { feedbackFold } from "./feedback-fold.js";
import type { Fold } from "./fold.js";
import { memoryFold } from "./memory-fold.js";
import type { DocumentName, EntryIndex, EntryRow, IndexBatch, IndexDocument, IndexStanding } from "./port.js";
import { sessionFold } from "./session-fold.js";

/** So many rows or documents are asked for at once; a session of any length is folded again page by page. */
const PAGE = 1_000;
/** So many documents are folded again at the same time, for a database that is some way off. */
const FOLDED_AT_ONCE = 8;

export interface Folding {
  readonly index: EntryIndex;
  readonly rows: readonly EntryRow[];
  readonly erased?: readonly number[];
  /** Documents that need not be read, because they are known to be as the index has them. */
  readonly known?: DocumentCache;
}

/**
 * The documents that a batch puts and removes. Everything is read from the index as it stands: if it moves on meanwhile,
 * the batch is passed over, and this with it.
 */
export async function foldBatch(folding: Folding): Promise<Required<Pick<IndexBatch, "put" | "removed">>> {
  const { index, rows, erased = [], known } = folding;
  const gone = new Set(erased);
  const left = gone.size === 0 ? rows : rows.filter(({ position }) => !gone.has(position));
  const put: IndexDocument[] = [];
  const removed: DocumentName[] = [];
  const lostByFold = await lostRows(index, erased);
  for (const fold of folds) {
    const lost = lostByFold.get(fold) ?? new Map<string, number>();
    const added = groupByKey(fold, left);
    const documents = await documentsOf(index, fold, [...new Set([...added.keys(), ...lost.keys()])], known);
    const change = (key: string, document: IndexDocument | undefined): void => {
      if (document !== undefined) put.push(document);
      else if (documents.has(key)) removed.push({ collection: fold.collection, key });
    };
    for (const [key, own] of added) if (!lost.has(key)) change(key, fold.add(key, documents.get(key), own));
    for (const keys of pagesOf([...lost.keys()], FOLDED_AT_ONCE)) {
      const rests = await Promise.all(keys.map((key) => restOf(index, fold, { key, gone, lost, documents })));
      for (const [at, key] of keys.entries()) {
        const own = added.get(key);
        change(key, own === undefined ? rests[at] : fold.add(key, rests[at], own));
      }
    }
  }
  return { put, removed };
}

/** A document without the rows that go: folded again from the others, unless there is none. */
async function restOf(
  index: EntryIndex,
  fold: Fold,
  parts: {
    readonly key: string;
    readonly gone: ReadonlySet<number>;
    readonly lost: ReadonlyMap<string, number>;
    readonly documents: ReadonlyMap<string, IndexDocument>;
  },
): Promise<IndexDocument | undefined> {
  const { key, gone, lost, documents } = parts;
  const before = documents.get(key);
  if (before !== undefined && fold.rowsIn(before) === lost.get(key)) return undefined;
  let document: IndexDocument | undefined;
  let after = 0;
  for (;;) {
    const positions = await fold.positionsOf(index, { key, after, limit: PAGE });
    const rows = await index.rowsAt(positions.filter((position) => !gone.has(position)));
    if (rows.length > 0) document = fold.add(key, document, rows);
    if (positions.length < PAGE) return document;
    after = positions.at(-1) as number;
  }
}

/** How many rows of each document go, for every fold; each row is read once. */
async function lostRows(
  index: EntryIndex,
  erased: readonly number[],
): Promise<ReadonlyMap<Fold, ReadonlyMap<string, number>>> {
  const lostByFold = new Map(folds.map((fold) => [fold, new Map<string, number>()]));
  for (const positions of pagesOf([...new Set(erased)], PAGE)) {
    for (const row of await index.rowsAt(positions)) {
      for (const [fold, lost] of lostByFold) {
        for (const key of fold.keysOf(row)) lost.set(key, (lost.get(key) ?? 0) + 1);
      }
    }
  }
  return lostByFold;
}

async function documentsOf(
  index: EntryIndex,
  { collection }: Fold,
  keys: readonly string[],
  known: DocumentCache | undefined,
): Promise<ReadonlyMap<string, IndexDocument>> {
  const documents = new Map<string, IndexDocument>();
  const unknown: string[] = [];
  for (const key of keys) {
    const document = known?.get({ collection, key });
    if (document === undefined) unknown.push(key);
    else documents.set(key, document);
  }
  for (const page of pagesOf(unknown, PAGE)) {
    for (const document of await index.getDocuments({ collection, keys: page })) documents.set(document.key, document);
  }
  return documents;
}

/** The rows that each document is made from, by its key. */
export function groupByKey({ keysOf }: Fold, rows: readonly EntryRow[]): ReadonlyMap<string, readonly EntryRow[]> {
  const groups = new Map<string, EntryRow[]>();
  for (const row of rows) {
    for (const key of keysOf(row)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [row]);
      else group.push(row);
    }
  }
  return groups;
}

function* pagesOf<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

// Documents as this process put them last: while nobody else moves the index on, they need not be read again.
/** A session that goes on has a document in every batch; so many are remembered, those that changed last. */
const KNOWN_MAX = 500;

export class DocumentCache {
  readonly #byName = new Map<string, IndexDocument>();
  #standing: IndexStanding | undefined;

  get({ collection, key }: DocumentName): IndexDocument | undefined {
    return this.#byName.get(nameOf({ collection, key }));
  }

  /** Forgets all unless the index still stands where it was left here: then nobody has changed anything in it since. */
  compare({ position, epoch }: IndexStanding): void {
    if (this.#standing?.position !== position || this.#standing.epoch !== epoch) this.#byName.clear();
  }

  /** Called with a batch that was taken, and no other: one that was passed over may hold what was forgotten since. */
  remember({ after, through, put = [], removed = [] }: IndexBatch): void {
    this.#standing = { position: through, epoch: after.epoch };
    for (const name of removed) this.#byName.delete(nameOf(name));
    for (const document of put) {
      this.#byName.delete(nameOf(document));
      this.#byName.set(nameOf(document), document);
    }
    for (const name of this.#byName.keys()) {
      if (this.#byName.size <= KNOWN_MAX) break;
      this.#byName.delete(name);
    }
  }
}

function nameOf({ collection, key }: DocumentName): string {
  return `${collection}:${key}`;
}

// Every fold there is: what the index keeps documents of.
export const folds: readonly Fold[] = [sessionFold, feedbackFold, callFold, memoryFold];
