// The documents of an index held against what the folds make of the log's rows. Digests are compared, so that neither side
// is ever held whole.
import { hash } from "node:crypto";
import { isJsonObject, type JsonValue } from "../model/json.js";
import type { Fold } from "./fold.js";
import { groupByKey } from "./folding.js";
import { folds } from "./folds.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

/** Of each collection, by key. */
export type DocumentDigests = ReadonlyMap<string, ReadonlyMap<string, string>>;

const PAGE = 1_000;

/** What the index has. */
export async function digestsIn(index: EntryIndex): Promise<DocumentDigests> {
  const digests = new Map<string, Map<string, string>>();
  for (const { collection } of folds) {
    const own = new Map<string, string>();
    digests.set(collection, own);
    for (let last: IndexDocument | undefined; ; ) {
      const beyond = last === undefined ? {} : { beyond: { sort: last.sort, position: last.position, key: last.key } };
      const page = await index.listDocuments({ collection, order: "asc", limit: PAGE, ...beyond });
      for (const document of page) own.set(document.key, digestOf(document));
      last = page.at(-1);
      if (page.length < PAGE) break;
    }
  }
  return digests;
}

/** What the index should have, from rows in order of position. */
export class ExpectedDocuments {
  readonly #open = new Map<Fold, Map<string, IndexDocument>>(folds.map((fold) => [fold, new Map()]));
  readonly #done = new Map<string, Map<string, string>>(folds.map(({ collection }) => [collection, new Map()]));

  add(rows: readonly EntryRow[]): void {
    const position = rows.at(-1)?.position ?? 0;
    for (const [fold, documents] of this.#open) {
      for (const [key, own] of groupByKey(fold, rows)) {
        const document = fold.add(key, documents.get(key), own);
        if (document !== undefined) documents.set(key, document);
      }
      if (fold.isDone !== undefined) this.#finish(fold, (key) => fold.isDone?.(key, position) === true);
    }
  }

  /** How what is found differs, in words. Keys are recorded text, so that only their number is told. */
  differences(found: DocumentDigests): readonly string[] {
    for (const fold of folds) this.#finish(fold, () => true);
    return [...this.#done].flatMap(([collection, expected]) => {
      const own = found.get(collection) ?? new Map<string, string>();
      const keys = [...new Set([...expected.keys(), ...own.keys()])];
      const count = keys.filter((key) => expected.get(key) !== own.get(key)).length;
      const documents = count === 1 ? "1 document" : `${count} documents`;
      return count === 0 ? [] : [`its ${collection} are not what the log makes of them (${documents})`];
    });
  }

  #finish(fold: Fold, isDone: (key: string) => boolean): void {
    const documents = this.#open.get(fold);
    for (const [key, document] of documents ?? []) {
      if (!isDone(key)) continue;
      this.#done.get(fold.collection)?.set(key, digestOf(document));
      documents?.delete(key);
    }
  }
}

function digestOf({ sort, position, labels, body }: IndexDocument): string {
  return hash("sha256", JSON.stringify([sort, position, labels, inOrder(body)]), "base64");
}

/** The same value with its members in the order of their names: an engine may keep them in another one. */
function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, item]) => [name, inOrder(item as JsonValue)]);
}
