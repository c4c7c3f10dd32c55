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
  { collection, keys }: { readonly collection: string; readonly keys: readonly string[] },
): readonly IndexDocument[] {
  const get = "SELECT key, sort, labels, body FROM documents WHERE collection = ? AND key = ?";
  return [...new Set(keys)].flatMap((key) => {
    const stored = sql.get<StoredDocument>(get, collection, toExactText(key));
    return stored === undefined ? [] : [toDocument(collection, stored)];
  });
}

/**
 * In the order of the list, where each document is asked for its labels. A label that few have would be looked for among
 * all others for long: its documents are put in order instead.
 */
export function listDocuments(sql: Statements, query: DocumentQuery): readonly IndexDocument[] {
  const { collection, limit } = query;
  const labels = (query.labels ?? []).map(toExactText);
  const rare = labels.find((label) => isRare(sql, collection, label));
  const { place, order } = placeOf(query);
  const from = rare === undefined ? "documents" : LABELLED;
  const stored = sql.all<StoredDocument>(
    `SELECT documents.key, documents.sort, documents.labels, documents.body FROM ${from}
      WHERE documents.collection = ?${place.sql}${labels.map(() => HAS_LABEL).join("")} ORDER BY ${order} LIMIT ?`,
    ...(rare === undefined ? [] : [collection, rare]),
    ...[collection, ...place.values, ...labels, limit],
  );
  return stored.map((row) => toDocument(collection, row));
}

const RARE_MAX = 1_000;

function isRare(sql: Statements, collection: string, label: string): boolean {
  const found = sql.get<{ readonly count: number }>(
    "SELECT count(*) AS count FROM (SELECT 1 FROM document_labels WHERE collection = ? AND label = ? LIMIT ?)",
    ...[collection, label, RARE_MAX],
  );
  return (found?.count ?? 0) < RARE_MAX;
}

const LABELLED = `(SELECT key AS labelled FROM document_labels WHERE collection = ? AND label = ?) CROSS JOIN documents
  ON documents.key = labelled`;
const HAS_LABEL = ` AND EXISTS (SELECT 1 FROM document_labels
  WHERE document_labels.collection = documents.collection AND label = ? AND document_labels.key = documents.key)`;

function placeOf({ beyond, order }: DocumentQuery): {
  readonly place: { readonly sql: string; readonly values: readonly unknown[] };
  readonly order: string;
} {
  const [sign, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const ordered = `documents.sort ${direction}, documents.key ${direction}`;
  if (beyond === undefined) return { place: { sql: "", values: [] }, order: ordered };
  const { sort, key } = beyond;
  const place =
    key === undefined
      ? { sql: ` AND documents.sort ${sign} ?`, values: [sort] }
      : { sql: ` AND (documents.sort, documents.key) ${sign} (?, ?)`, values: [sort, toExactText(key)] };
  return { place, order: ordered };
}

export function countDocuments(sql: Statements, collection: string): number {
  const found = sql.get<{ readonly count: number }>(
    "SELECT count(*) AS count FROM documents WHERE collection = ?",
    collection,
  );
  return found?.count ?? 0;
}

/** Mostly there is one with the same labels, which one statement finds and changes. */
export function putDocument(sql: Statements, document: IndexDocument): void {
  const { collection, sort } = document;
  const key = toExactText(document.key);
  const [labels, body] = [JSON.stringify(document.labels), JSON.stringify(document.body)];
  const change = "UPDATE documents SET sort = ?, body = ? WHERE collection = ? AND key = ? AND labels = ?";
  if (sql.run(change, sort, body, collection, key, labels) > 0) return;
  removeDocument(sql, document);
  const add = "INSERT INTO documents (collection, key, sort, labels, body) VALUES (?, ?, ?, ?, ?)";
  sql.run(add, collection, key, sort, labels, body);
  for (const label of document.labels) {
    sql.run("INSERT INTO document_labels VALUES (?, ?, ?)", collection, toExactText(label), key);
  }
}

export function removeDocument(sql: Statements, { collection, key: given }: DocumentName): void {
  const key = toExactText(given);
  const find = "SELECT labels FROM documents WHERE collection = ? AND key = ?";
  const before = sql.get<Pick<StoredDocument, "labels">>(find, collection, key);
  if (before === undefined) return;
  const unlabel = "DELETE FROM document_labels WHERE collection = ? AND label = ? AND key = ?";
  for (const label of JSON.parse(before.labels) as readonly string[]) {
    sql.run(unlabel, collection, toExactText(label), key);
  }
  sql.run("DELETE FROM documents WHERE collection = ? AND key = ?", collection, key);
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
