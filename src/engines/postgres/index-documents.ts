// Documents of the index, and their labels in the order of lists; changed within the transaction of a batch.

import type { ChangeQuery, DocumentName, DocumentQuery, IndexDocument } from "../../index/port.js";
import type { JsonObject } from "../../model/json.js";
import { columnsOf } from "./columns.js";
import type { Session } from "./driver.js";
import { Conditions, fromStoredText, toStoredText } from "./index-filter.js";

interface StoredDocument {
  readonly key: string;
  readonly sort: number;
  readonly position: number;
  /** JSON. */
  readonly labels: string;
  /** JSON. */
  readonly body: string;
}

const COLUMNS = "d.key, d.sort, d.position, array_to_json(d.labels)::text AS labels, d.body";

export async function getDocuments(
  session: Session,
  query: { readonly collection: string; readonly keys: readonly string[] },
): Promise<readonly IndexDocument[]> {
  const { collection, keys } = query;
  const text = `SELECT ${COLUMNS} FROM hansard_index_documents d WHERE collection = $1 AND key = ANY ($2::text[])`;
  const statement = { name: "hansard_index_documents_by_key", text };
  const stored = await session.query<StoredDocument>(statement, [collection, keys.map(toStoredText)]);
  return stored.map((row) => toDocument(collection, row));
}

export async function listDocuments(session: Session, query: DocumentQuery): Promise<readonly IndexDocument[]> {
  return select(session, { ...query, by: ["sort", "position", "key"] });
}

export async function changedDocuments(session: Session, query: ChangeQuery): Promise<readonly IndexDocument[]> {
  return select(session, { ...query, by: ["position", "key"], order: "asc" });
}

type Column = "sort" | "position" | "key";

/**
 * Walks documents in this order and checks the labels of each. If few documents have a label, they are fetched by key
 * and sorted instead.
 */
async function select(
  session: Session,
  query: Pick<DocumentQuery, "collection" | "order" | "labels" | "through" | "limit"> & {
    readonly by: readonly Column[];
    readonly beyond?: { readonly [C in Column]?: number | string };
  },
): Promise<readonly IndexDocument[]> {
  const { collection, by, beyond, order, through, limit } = query;
  const labels = (query.labels ?? []).map(toStoredText);
  const keys = await fewLabelled(session, collection, labels);
  const where = new Conditions();
  where.add(`d.collection = ${where.bind(collection)}`);
  if (keys !== undefined) where.add(`d.key = ANY (${where.bind(keys)}::text[])`);
  for (const label of labels) where.add(`${where.bind(label)} = ANY (d.labels)`);
  const [sign, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const place = by.filter((column) => beyond?.[column] !== undefined);
  if (place.length > 0) {
    const bound = place.map((column) => where.bind(exactly(beyond?.[column])));
    where.add(`(${place.map((column) => `d.${column}`).join(", ")}) ${sign} (${bound.join(", ")})`);
  }
  if (through !== undefined) where.add(`d.position <= ${where.bind(through)}`);
  const text = `SELECT ${COLUMNS} FROM hansard_index_documents d WHERE ${where.sql}
    ORDER BY ${by.map((column) => `d.${column} ${direction}`).join(", ")} LIMIT ${where.bind(limit)}`;
  const stored = await session.query<StoredDocument>({ text }, where.values);
  return stored.map((row) => toDocument(collection, row));
}

function exactly(value: number | string | undefined): number | string | undefined {
  return typeof value === "string" ? toStoredText(value) : value;
}

const FEW_MAX = 1_000;

/** The keys of the documents with the rarest label; undefined if all labels are common. */
async function fewLabelled(
  session: Session,
  collection: string,
  labels: readonly string[],
): Promise<readonly string[] | undefined> {
  if (labels.length === 0) return undefined;
  const text = `SELECT few.keys FROM unnest($2::text[]) AS given (label) CROSS JOIN LATERAL (
      SELECT json_agg(l.key)::text AS keys, count(*) AS count FROM (
        SELECT key FROM hansard_index_document_labels WHERE collection = $1 AND label = given.label LIMIT $3) l
    ) few WHERE few.count < $3 ORDER BY few.count LIMIT 1`;
  const [few] = await session.query<{ readonly keys: string | null }>({ text }, [collection, labels, FEW_MAX]);
  return few === undefined ? undefined : (JSON.parse(few.keys ?? "[]") as readonly string[]);
}

export async function countDocuments(session: Session, collection: string): Promise<number> {
  const text = "SELECT count(*) AS count FROM hansard_index_documents WHERE collection = $1";
  const [found] = await session.query<{ readonly count: number }>({ text }, [collection]);
  return found?.count ?? 0;
}

interface Labelled {
  readonly key: string;
  readonly labels: readonly string[];
}

/** A few statements per collection, however many documents change. */
export async function changeDocuments(
  session: Session,
  { put = [], removed = [] }: { readonly put?: readonly IndexDocument[]; readonly removed?: readonly DocumentName[] },
): Promise<void> {
  for (const collection of new Set([...removed, ...put].map((document) => document.collection))) {
    const gone = removed.filter((name) => name.collection === collection).map(({ key }) => toStoredText(key));
    const documents = put.filter((document) => document.collection === collection).map(toStored);
    const before = await labelsBefore(session, collection, [...gone, ...documents.map(({ key }) => key)]);
    // Labels rarely change, and are written only then.
    const relabelled = documents.filter(({ key, labels }) => !areSame(labels, before.get(key) ?? []));
    await unlabel(session, collection, [...gone, ...relabelled.map(({ key }) => key)], before);
    if (gone.length > 0) await session.query({ text: REMOVE }, [collection, gone]);
    const columns = documents.map((one) => [one.key, JSON.stringify(one.labels), one.sort, one.position, one.body]);
    if (documents.length > 0) await session.query(putStatement, [collection, ...columnsOf(columns, 5)]);
    const pairs = relabelled.flatMap(({ key, labels }) => labels.map((label) => [label, key]));
    if (pairs.length > 0) await session.query(labelStatement, [collection, ...columnsOf(pairs, 2)]);
  }
}

function toStored({
  key,
  labels,
  sort,
  position,
  body,
}: IndexDocument): Labelled & Pick<IndexDocument, "sort" | "position"> & { readonly body: string } {
  return { key: toStoredText(key), labels: labels.map(toStoredText), sort, position, body: JSON.stringify(body) };
}

async function labelsBefore(
  session: Session,
  collection: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const text = `SELECT d.key, array_to_json(d.labels)::text AS labels FROM hansard_index_documents d
    WHERE collection = $1 AND key = ANY ($2::text[])`;
  type Found = { readonly key: string; readonly labels: string };
  const found = await session.query<Found>({ name: "hansard_index_labels_before", text }, [collection, keys]);
  return new Map(found.map(({ key, labels }) => [key, JSON.parse(labels) as readonly string[]]));
}

/** Deletes all labels of these documents. */
async function unlabel(
  session: Session,
  collection: string,
  keys: readonly string[],
  before: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const keysByLabel = new Map<string, string[]>();
  for (const key of keys) {
    for (const label of before.get(key) ?? []) {
      const own = keysByLabel.get(label);
      if (own === undefined) keysByLabel.set(label, [key]);
      else own.push(key);
    }
  }
  const text = `DELETE FROM hansard_index_document_labels WHERE collection = $1 AND label = $2 AND key = ANY ($3::text[])`;
  for (const [label, own] of keysByLabel) await session.query({ text }, [collection, label, own]);
}

const REMOVE = "DELETE FROM hansard_index_documents WHERE collection = $1 AND key = ANY ($2::text[])";

const putStatement = {
  name: "hansard_index_documents",
  text: `INSERT INTO hansard_index_documents (collection, key, labels, sort, position, body)
    SELECT $1, key, ARRAY (SELECT json_array_elements_text(labels::json)), sort, position, body
    FROM unnest($2::text[], $3::text[], $4::float8[], $5::int8[], $6::text[]) AS next (key, labels, sort, position, body)
    ON CONFLICT (collection, key) DO UPDATE
      SET labels = excluded.labels, sort = excluded.sort, position = excluded.position, body = excluded.body`,
};

const labelStatement = {
  name: "hansard_index_document_labels",
  text: `INSERT INTO hansard_index_document_labels (collection, label, key)
    SELECT $1, label, key FROM unnest($2::text[], $3::text[]) AS said (label, key) ON CONFLICT DO NOTHING`,
};

function areSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((label, at) => label === right[at]);
}

function toDocument(collection: string, { key, sort, position, labels, body }: StoredDocument): IndexDocument {
  return {
    collection,
    key: fromStoredText(key),
    sort,
    position,
    labels: (JSON.parse(labels) as readonly string[]).map(fromStoredText),
    body: JSON.parse(body) as JsonObject,
  };
}
