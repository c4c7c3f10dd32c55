// Folding: computes which documents change with a batch of rows, from what the index contains before the batch.

import { callFold } from "./call-fold.js";
import { feedbackFold } from "./feedback-fold.js";
import type { Fold } from "./fold.js";
import { memoryFold } from "./memory-fold.js";
import { outlineFold } from "./outline-fold.js";
import type { DocumentName, EntryIndex, EntryRow, IndexBatch, IndexDocument, IndexRevision } from "./port.js";
import { metadataFold, sessionFold } from "./session-fold.js";
import { traceFold } from "./trace-fold.js";

/** Rows or documents per request; sessions of any length are folded page by page. */
const PAGE = 1_000;
/** Documents folded concurrently, for databases with latency. */
const FOLDED_AT_ONCE = 8;

export interface Folding {
  readonly index: EntryIndex;
  readonly rows: readonly EntryRow[];
  readonly erased?: readonly number[];
  /** Cached documents, known to be as in the index. */
  readonly known?: DocumentCache;
}

/**
 * The documents that a batch puts and removes, based on the current index: if that moves on, the batch is rejected as a
 * whole.
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

/** A document without its erased rows: folded again from the others. */
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

/** Number of erased rows per document for every fold; each row is read once. */
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

/** Groups rows by document key. */
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

// Documents as this process last wrote them: valid until another process changes the index.
/** An active session has a document in every batch; the most recent ones are cached. */
const KNOWN_MAX = 500;

export class DocumentCache {
  readonly #byName = new Map<string, IndexDocument>();
  #revision: IndexRevision | undefined;

  get({ collection, key }: DocumentName): IndexDocument | undefined {
    return this.#byName.get(nameOf({ collection, key }));
  }

  /** Clears the cache unless the index is as this process left it. */
  compare({ position, epoch }: IndexRevision): void {
    if (this.#revision?.position !== position || this.#revision.epoch !== epoch) this.#byName.clear();
  }

  /** Call it only with accepted batches: a rejected one may contain what was forgotten since. */
  remember({ after, through, put = [], removed = [] }: IndexBatch): void {
    this.#revision = { position: through, epoch: after.epoch };
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

export const folds: readonly Fold[] = [
  ...[sessionFold, metadataFold, outlineFold, feedbackFold, callFold, memoryFold],
  traceFold,
];
