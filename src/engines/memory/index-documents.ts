// Documents in memory, the plain way: lists look at every document of their collection.
import type {
  ChangeQuery,
  DocumentName,
  DocumentPlace,
  DocumentQuery,
  IndexBatch,
  IndexDocument,
} from "../../index/port.js";

export class MemoryDocuments {
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
    // As if they all sorted alike, position and key alone decide.
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

/** What the place leaves out is no difference. */
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
