// Compares the index with the log: every row, the counts by kind, and every document.

import { hash } from "node:crypto";
import type { EntryLog } from "../log/port.js";
import { walkBodies } from "../log/walk-log.js";
import { droppedBy, parseBody } from "../model/body.js";
import { isJsonObject, type JsonValue } from "../model/json.js";
import { compareRows, isAlteredRow } from "./derivation.js";
import type { Fold } from "./fold.js";
import { folds, groupByKey } from "./folding.js";
import { type EntryIndex, type EntryRow, type IndexDocument, isSameRevision, rowPages } from "./port.js";

export interface IndexComparison {
  /** Differences in words; none if the index is correct. */
  readonly differences: readonly string[];
  /** Set if too much changed meanwhile to tell. */
  readonly is_unsettled?: true;
}

interface Sums {
  readonly by_kind: Map<string, number>;
  rows: number;
}

const TRIES_MAX = 5;
const PAGE = 5_000;

export async function compareIndex(
  parts: { readonly log: EntryLog; readonly index: EntryIndex },
  options: { readonly onProgress?: (through: number) => void } = {},
): Promise<IndexComparison> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const found = await sumsOfIndex(parts.index);
    if (found === undefined) continue;
    const { through, sums, documents } = found;
    const expected = emptySums();
    const folded = new ExpectedDocuments();
    const strange: number[] = [];
    const replaced = await replacedPositions(parts, through);
    for await (const whole of walkBodies(parts.log, { through })) {
      const batch = replaced.size === 0 ? whole : whole.filter(({ position }) => !replaced.has(position));
      const compared = await compareRows(parts, batch);
      strange.push(...compared.mismatched);
      for (const row of compared.rows) addRow(expected, row);
      folded.add(compared.rows.filter((row) => !isAlteredRow(row)));
      options.onProgress?.(whole.at(-1)?.position ?? through);
    }
    // Entries forgotten since cannot be compared.
    if ((await parts.log.redactionsAfter(through)).positions.length > 0) continue;
    const differences = [...rowDifferences(strange), ...sumDifferences(expected, sums)];
    return { differences: [...differences, ...folded.differences(documents)] };
  }
  return { differences: [], is_unsettled: true };
}

/** The positions that a newer derivation replaced: they have no rows. */
async function replacedPositions(
  { log, index }: { readonly log: EntryLog; readonly index: EntryIndex },
  through: number,
): Promise<ReadonlySet<number>> {
  const replaced = new Set<number>();
  for await (const page of rowPages((place) => index.list({ filter: { kinds: ["audit"] }, ...place }), PAGE)) {
    for (const stored of await log.get(page.map((row) => row.position))) {
      if (stored?.body === undefined || stored.position > through) continue;
      const { position, kind, body } = stored;
      for (const dropped of droppedBy(position, kind, parseBody(position, body))) replaced.add(dropped);
    }
  }
  return replaced;
}

/** The index's content at one moment; undefined if it changed meanwhile. */
async function sumsOfIndex(
  index: EntryIndex,
): Promise<{ readonly through: number; readonly sums: Sums; readonly documents: DocumentDigests } | undefined> {
  const release = index.hold?.();
  try {
    const before = await index.revision();
    const sums = emptySums();
    for (const [kind, entries] of Object.entries((await index.count()).by_kind)) sums.by_kind.set(kind, entries);
    const documents = await digestsIn(index);
    for await (const page of rowPages((place) => index.list({ filter: {}, ...place }), PAGE)) sums.rows += page.length;
    return isSameRevision(before, await index.revision()) ? { through: before.position, sums, documents } : undefined;
  } finally {
    release?.();
  }
}

function emptySums(): Sums {
  return { by_kind: new Map(), rows: 0 };
}

function addRow(sums: Sums, { kind }: EntryRow): void {
  sums.rows += 1;
  sums.by_kind.set(kind, (sums.by_kind.get(kind) ?? 0) + 1);
}

function rowDifferences(strange: readonly number[]): readonly string[] {
  if (strange.length === 0) return [];
  const what = strange.length === 1 ? "1 row is" : `${strange.length} rows are`;
  return [`${what} not what the log makes of the entry (the first at position ${strange[0]})`];
}

function sumDifferences(expected: Sums, found: Sums): readonly string[] {
  const differences: string[] = [];
  if (expected.rows !== found.rows) differences.push(`it has ${found.rows} rows of ${expected.rows} entries`);
  for (const kind of new Set([...expected.by_kind.keys(), ...found.by_kind.keys()])) {
    const [right, wrong] = [expected.by_kind.get(kind) ?? 0, found.by_kind.get(kind) ?? 0];
    if (right !== wrong) differences.push(`it counts ${wrong} entries of kind ${kind}, and there are ${right}`);
  }
  return differences;
}

/** By collection and key. */
type DocumentDigests = ReadonlyMap<string, ReadonlyMap<string, string>>;

const DOCUMENTS_PAGE = 1_000;

/** Digests of the index's documents. */
async function digestsIn(index: EntryIndex): Promise<DocumentDigests> {
  const digests = new Map<string, Map<string, string>>();
  for (const { collection } of folds) {
    const own = new Map<string, string>();
    digests.set(collection, own);
    for (let last: IndexDocument | undefined; ; ) {
      const beyond = last === undefined ? {} : { beyond: { sort: last.sort, position: last.position, key: last.key } };
      const page = await index.listDocuments({ collection, order: "asc", limit: DOCUMENTS_PAGE, ...beyond });
      for (const document of page) own.set(document.key, digestOf(document));
      last = page.at(-1);
      if (page.length < DOCUMENTS_PAGE) break;
    }
  }
  return digests;
}

/** The expected documents, from rows in order of position. */
class ExpectedDocuments {
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

  /** Differences in words. Keys are recorded text, so only their number is reported. */
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

/** Sorts members by name: engines may store them in another order. */
function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  return Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, item]) => [name, inOrder(item as JsonValue)]);
}
