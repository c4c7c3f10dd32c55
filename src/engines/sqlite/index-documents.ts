// Documents of the index, and their labels in the order of lists; changed within the transaction of a batch.

import type { ChangeQuery, DocumentName, DocumentQuery, IndexDocument } from "../../index/port.js";
import type { JsonObject } from "../../model/json.js";
import { fromStoredText, type Statements, toStoredText } from "./statements.js";

interface StoredDocument {
  readonly key: string;
  readonly sort: number;
  readonly position: number;
  /** JSON. */
  readonly labels: string;
  /** JSON. */
  readonly body: string;
}

export function getDocuments(
  sql: Statements,
  { collection, keys }: { readonly collection: string; readonly keys: readonly string[] },
): readonly IndexDocument[] {
  const get = "SELECT key, sort, position, labels, body FROM documents WHERE collection = ? AND key = ?";
  return [...new Set(keys)].flatMap((key) => {
    const stored = sql.get<StoredDocument>(get, collection, toStoredText(key));
    return stored === undefined ? [] : [toDocument(collection, stored)];
  });
}

export function listDocuments(sql: Statements, query: DocumentQuery): readonly IndexDocument[] {
  return select(sql, { ...query, by: ["sort", "position", "key"] });
}

export function changedDocuments(sql: Statements, query: ChangeQuery): readonly IndexDocument[] {
  return select(sql, { ...query, by: ["position", "key"], order: "asc" });
}

type Column = "sort" | "position" | "key";

/**
 * Walks documents in this order and checks the labels of each. If few documents have a label, they are looked up by it
 * and sorted instead.
 */
function select(
  sql: Statements,
  query: Pick<DocumentQuery, "collection" | "order" | "labels" | "through" | "limit"> & {
    readonly by: readonly Column[];
    readonly beyond?: { readonly [C in Column]?: number | string };
  },
): readonly IndexDocument[] {
  const { collection, by, beyond, order, through, limit } = query;
  const labels = (query.labels ?? []).map(toStoredText);
  const rare = labels.find((label) => isRare(sql, collection, label));
  const [sign, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const place = by.filter((column) => beyond?.[column] !== undefined);
  const stored = sql.all<StoredDocument>(
    `SELECT documents.key, documents.sort, documents.position, documents.labels, documents.body
      FROM ${rare === undefined ? "documents" : LABELLED} WHERE documents.collection = ?
      ${place.length === 0 ? "" : ` AND (${columns(place)}) ${sign} (${place.map(() => "?").join(", ")})`}
      ${through === undefined ? "" : " AND documents.position <= ?"}
      ${labels.map(() => HAS_LABEL).join("")}
      ORDER BY ${by.map((column) => `${columns([column])} ${direction}`).join(", ")} LIMIT ?`,
    ...(rare === undefined ? [] : [collection, rare]),
    ...[collection, ...place.map((column) => exactly(beyond?.[column] ?? null))],
    ...(through === undefined ? [] : [through]),
    ...[...labels, limit],
  );
  return stored.map((row) => toDocument(collection, row));
}

function columns(names: readonly Column[]): string {
  return names.map((name) => `documents.${name}`).join(", ");
}

function exactly(value: number | string | null): number | string | null {
  return typeof value === "string" ? toStoredText(value) : value;
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

export function countDocuments(sql: Statements, collection: string): number {
  const found = sql.get<{ readonly count: number }>(
    "SELECT count(*) AS count FROM documents WHERE collection = ?",
    collection,
  );
  return found?.count ?? 0;
}

/** Usually the document exists with the same labels, and one statement updates it. */
export function putDocument(sql: Statements, document: IndexDocument): void {
  const { collection, sort, position } = document;
  const key = toStoredText(document.key);
  const [labels, body] = [JSON.stringify(document.labels), JSON.stringify(document.body)];
  const change =
    "UPDATE documents SET sort = ?, position = ?, body = ? WHERE collection = ? AND key = ? AND labels = ?";
  if (sql.run(change, sort, position, body, collection, key, labels) > 0) return;
  removeDocument(sql, document);
  const add = "INSERT INTO documents (collection, key, sort, position, labels, body) VALUES (?, ?, ?, ?, ?, ?)";
  sql.run(add, collection, key, sort, position, labels, body);
  for (const label of document.labels) {
    sql.run("INSERT INTO document_labels VALUES (?, ?, ?)", collection, toStoredText(label), key);
  }
}

export function removeDocument(sql: Statements, { collection, key: given }: DocumentName): void {
  const key = toStoredText(given);
  const find = "SELECT labels FROM documents WHERE collection = ? AND key = ?";
  const before = sql.get<Pick<StoredDocument, "labels">>(find, collection, key);
  if (before === undefined) return;
  const unlabel = "DELETE FROM document_labels WHERE collection = ? AND label = ? AND key = ?";
  for (const label of JSON.parse(before.labels) as readonly string[]) {
    sql.run(unlabel, collection, toStoredText(label), key);
  }
  sql.run("DELETE FROM documents WHERE collection = ? AND key = ?", collection, key);
}

function toDocument(collection: string, { key, sort, position, labels, body }: StoredDocument): IndexDocument {
  return {
    collection,
    key: fromStoredText(key),
    sort,
    position,
    labels: JSON.parse(labels) as readonly string[],
    body: JSON.parse(body) as JsonObject,
  };
}
