// Documents of the index, and their labels in the order of lists; changed within the transaction of a batch.
import type { JsonObject } from "../../model/json.js";
import type { DocumentName, DocumentQuery, IndexDocument } from "../../ports/entry-index.js";
import { fromExactText, toExactText } from "./exact-text.js";
import type { Statements } from "./statements.js";

interface StoredDocument {
  readonly key: string;
  readonly sort: number;
  /** JSON. */
  readonly labels: string;
  /** JSON. */
  readonly body: string;
}

export function getDocuments(
  sql: Statements,
  query: { readonly collection: string; readonly keys: readonly string[] },
): readonly IndexDocument[] {
  const { collection, keys } = query;
  const stored = sql.all<StoredDocument>(
    "SELECT * FROM documents WHERE collection = ? AND key IN (SELECT value FROM json_each(?))",
    collection,
    JSON.stringify(keys.map(toExactText)),
  );
  return stored.map((row) => toDocument(collection, row));
}

/** One statement, led by the first label where there are any. */
export function listDocuments(sql: Statements, query: DocumentQuery): readonly IndexDocument[] {
  const { collection, order, labels = [], limit } = query;
  const [label, ...others] = labels.map(toExactText);
  const place = placeOf(query, label === undefined ? "documents" : "document_labels");
  const leading =
    label === undefined
      ? { from: "documents", where: "collection = ?", values: [collection] }
      : { from: LABELLED, where: "document_labels.collection = ? AND label = ?", values: [collection, label] };
  const direction = order === "asc" ? "ASC" : "DESC";
  const stored = sql.all<StoredDocument>(
    `SELECT documents.key, documents.sort, labels, body FROM ${leading.from}
      WHERE ${leading.where}${place.where}${others.map(() => HAS_LABEL).join("")}
      ORDER BY ${place.table}.sort ${direction}, ${place.table}.key ${direction} LIMIT ?`,
    ...[...leading.values, ...place.values, ...others, limit],
  );
  return stored.map((row) => toDocument(collection, row));
}

const LABELLED = `document_labels CROSS JOIN documents
  ON documents.collection = document_labels.collection AND documents.key = document_labels.key`;
const HAS_LABEL = ` AND EXISTS (SELECT 1 FROM document_labels AS other WHERE other.collection = documents.collection
  AND other.label = ? AND other.sort = documents.sort AND other.key = documents.key)`;

function placeOf({ beyond, order }: DocumentQuery, table: "documents" | "document_labels") {
  const sign = order === "asc" ? ">" : "<";
  if (beyond === undefined) return { table, where: "", values: [] };
  const { sort, key } = beyond;
  if (key === undefined) return { table, where: ` AND ${table}.sort ${sign} ?`, values: [sort] };
  return { table, where: ` AND (${table}.sort, ${table}.key) ${sign} (?, ?)`, values: [sort, toExactText(key)] };
}

export function countDocuments(sql: Statements, collection: string): number {
  const found = sql.get<{ readonly count: number }>(
    "SELECT count(*) AS count FROM documents WHERE collection = ?",
    collection,
  );
  return found?.count ?? 0;
}

export function putDocument(sql: Statements, document: IndexDocument): void {
  const { collection, sort } = document;
  const key = toExactText(document.key);
  const before = find(sql, collection, key);
  const [labels, body] = [JSON.stringify(document.labels), JSON.stringify(document.body)];
  if (before === undefined) {
    const add = "INSERT INTO documents (collection, key, sort, labels, body) VALUES (?, ?, ?, ?, ?)";
    sql.run(add, collection, key, sort, labels, body);
  } else {
    sql.run("UPDATE documents SET sort = ?, labels = ?, body = ? WHERE number = ?", sort, labels, body, before.number);
  }
  if (before?.sort === sort && before.labels === labels) return;
  if (before !== undefined) removeLabels(sql, collection, key, before);
  for (const label of document.labels) {
    sql.run("INSERT INTO document_labels VALUES (?, ?, ?, ?)", collection, toExactText(label), sort, key);
  }
}

export function removeDocument(sql: Statements, { collection, key: given }: DocumentName): void {
  const key = toExactText(given);
  const before = find(sql, collection, key);
  if (before === undefined) return;
  removeLabels(sql, collection, key, before);
  sql.run("DELETE FROM documents WHERE number = ?", before.number);
}

interface Known {
  readonly number: number;
  readonly sort: number;
  readonly labels: string;
}

function find(sql: Statements, collection: string, key: string): Known | undefined {
  return sql.get<Known>("SELECT number, sort, labels FROM documents WHERE collection = ? AND key = ?", collection, key);
}

function removeLabels(sql: Statements, collection: string, key: string, { sort, labels }: Known): void {
  const gone = "DELETE FROM document_labels WHERE collection = ? AND label = ? AND sort = ? AND key = ?";
  for (const label of JSON.parse(labels) as readonly string[]) sql.run(gone, collection, toExactText(label), sort, key);
}

function toDocument(collection: string, { key, sort, labels, body }: StoredDocument): IndexDocument {
  return {
    collection,
    key: fromExactText(key),
    sort,
    labels: JSON.parse(labels) as readonly string[],
    body: JSON.parse(body) as JsonObject,
  };
}
