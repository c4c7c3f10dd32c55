// Documents in memory, the plain way: lists look at every document of their collection.
import type { DocumentName, DocumentQuery, IndexBatch, IndexDocument } from "../../ports/entry-index.js";

export class MemoryDocuments {
  readonly #byName = new Map<string, IndexDocument>();

  change({ put = [], removed = [] }: Pick<IndexBatch, "put" | "removed">): void {
    for (const name of removed) this.#byName.delete(nameOf(name));
    for (const document of put) this.#byName.set(nameOf(document), document);
  }

  get(collection: string, keys: readonly string[]): readonly IndexDocument[] {
    return [...new Set(keys)].flatMap((key) => this.#byName.get(nameOf({ collection, key })) ?? []);
  }

  list({ collection, order, labels = [], beyond, limit }: DocumentQuery): readonly IndexDocument[] {
    const direction = order === "asc" ? 1 : -1;
    const isBeyond = ({ sort, key }: IndexDocument): boolean => {
      if (beyond === undefined) return true;
      const difference = sort - beyond.sort || (beyond.key === undefined ? 0 : compareBytes(key, beyond.key));
      return difference * direction > 0;
    };
    return this.#of(collection)
      .filter((document) => labels.every((label) => document.labels.includes(label)) && isBeyond(document))
      .sort((left, right) => direction * (left.sort - right.sort || compareBytes(left.key, right.key)))
      .slice(0, limit);
  }

  count(collection: string): number {
    return this.#of(collection).length;
  }

  clear(): void {
    this.#byName.clear();
  }

  #of(collection: string): IndexDocument[] {
    return [...this.#byName.values()].filter((document) => document.collection === collection);
  }
}

function nameOf({ collection, key }: DocumentName): string {
  return JSON.stringify([collection, key]);
}

function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
