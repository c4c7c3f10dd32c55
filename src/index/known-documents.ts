// Documents as this process put them last: while nobody else moves the index on, they need not be read again.
import type { DocumentName, IndexBatch, IndexDocument, IndexStanding } from "./port.js";

/** A session that goes on has a document in every batch; so many are remembered, those that changed last. */
const KNOWN_MAX = 500;

export class KnownDocuments {
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
