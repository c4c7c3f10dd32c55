// Documents of the index, and their labels in the order of lists; changed within the transaction of a batch.
import type { JsonObject } from "../../model/json.js";
import type { DocumentName, DocumentQuery, IndexDocument } from "../../ports/entry-index.js";
import { columnsOf } from "./columns.js";
import type { Session } from "./connection.js";
import { Conditions, storable, unstored } from "./index-filter.js";

interface StoredDocument {
  readonly key: string;
  readonly sort: number;
  /** JSON. */
  readonly labels: string;
  /** JSON. */
  readonly body: string;
}

const COLUMNS = "d.key, d.sort, array_to_json(d.labels)::text AS labels, d.body";

export async function getDocuments(
  session: Session,
  query: { readonly collection: string; readonly keys: readonly string[] },
): Promise<readonly IndexDocument[]> {
  const { collection, keys } = query;
  const text = `SELECT ${COLUMNS} FROM hansard_index_documents d WHERE collection = $1 AND key = ANY ($2::text[])`;
  const statement = { name: "hansard_index_documents_by_key", text };
  const stored = await session.query<StoredDocument>(statement, [collection, keys.map(storable)]);
  return stored.map((row) => toDocument(collection, row));
}

/** One statement, led by the first label where there are any. */
export async function listDocuments(session: Session, query: DocumentQuery): Promise<readonly IndexDocument[]> {
  const { collection, order, labels = [], beyond, limit } = query;
  const [label, ...others] = labels.map(storable);
  const where = new Conditions();
  const lead = label === undefined ? "d" : "l";
  where.add(`${lead}.collection = ${where.bind(collection)}`);
  if (label !== undefined) where.add(`l.label = ${where.bind(label)}`);
  for (const other of others) where.add(`${where.bind(other)} = ANY (d.labels)`);
  const sign = order === "asc" ? ">" : "<";
  if (beyond?.key !== undefined) {
    where.add(`(${lead}.sort, ${lead}.key) ${sign} (${where.bind(beyond.sort)}, ${where.bind(storable(beyond.key))})`);
  } else if (beyond !== undefined) where.add(`${lead}.sort ${sign} ${where.bind(beyond.sort)}`);
  const from = label === undefined ? "hansard_index_documents d" : LABELLED;
  const direction = order === "asc" ? "ASC" : "DESC";
  const text = `SELECT ${COLUMNS} FROM ${from} WHERE ${where.sql}
    ORDER BY ${lead}.sort ${direction}, ${lead}.key ${direction} LIMIT ${where.bind(limit)}`;
  const stored = await session.query<StoredDocument>({ text }, where.values);
  return stored.map((row) => toDocument(collection, row));
}

const LABELLED = "hansard_index_document_labels l JOIN hansard_index_documents d USING (collection, key)";

export async function countDocuments(session: Session, collection: string): Promise<number> {
  const text = "SELECT count(*) AS count FROM hansard_index_documents WHERE collection = $1";
  const [found] = await session.query<{ readonly count: number }>({ text }, [collection]);
  return found?.count ?? 0;
}

/** One statement for each table, however many documents a batch changes. */
export async function changeDocuments(
  session: Session,
  { put = [], removed = [] }: { readonly put?: readonly IndexDocument[]; readonly removed?: readonly DocumentName[] },
): Promise<void> {
  if (put.length === 0 && removed.length === 0) return;
  const names = [...put, ...removed].map(({ collection, key }) => [collection, storable(key)]);
  await session.query(unlabelStatement, columnsOf(names, 2));
  if (removed.length > 0) await session.query(removeStatement, columnsOf(names.slice(put.length), 2));
  if (put.length === 0) return;
  const documents = put.map(({ collection, key, sort, labels, body }) => [
    ...[collection, storable(key), sort, JSON.stringify(labels.map(storable)), JSON.stringify(body)],
  ]);
  await session.query(putStatement, columnsOf(documents, 5));
  await session.query(labelStatement, columnsOf(names.slice(0, put.length), 2));
}

const putStatement = {
  name: "hansard_index_documents",
  text: `INSERT INTO hansard_index_documents (collection, key, sort, labels, body)
    SELECT collection, key, sort, ARRAY (SELECT json_array_elements_text(labels::json)), body
    FROM unnest($1::text[], $2::text[], $3::float8[], $4::text[], $5::text[]) AS p (collection, key, sort, labels, body)
    ON CONFLICT (collection, key) DO UPDATE SET sort = excluded.sort, labels = excluded.labels, body = excluded.body`,
};

const removeStatement = {
  name: "hansard_index_documents_gone",
  text: `DELETE FROM hansard_index_documents d USING unnest($1::text[], $2::text[]) AS n (collection, key)
    WHERE d.collection = n.collection AND d.key = n.key`,
};

const unlabelStatement = {
  name: "hansard_index_document_labels_gone",
  text: `DELETE FROM hansard_index_document_labels l
    USING unnest($1::text[], $2::text[]) AS n (collection, key)
    JOIN hansard_index_documents d USING (collection, key) CROSS JOIN unnest(d.labels) AS said (label)
    WHERE l.collection = d.collection AND l.label = said.label AND l.sort = d.sort AND l.key = d.key`,
};

const labelStatement = {
  name: "hansard_index_document_labels",
  text: `INSERT INTO hansard_index_document_labels (collection, label, sort, key)
    SELECT d.collection, said.label, d.sort, d.key FROM unnest($1::text[], $2::text[]) AS n (collection, key)
    JOIN hansard_index_documents d USING (collection, key) CROSS JOIN unnest(d.labels) AS said (label)`,
};

function toDocument(collection: string, { key, sort, labels, body }: StoredDocument): IndexDocument {
  return {
    collection,
    key: unstored(key),
    sort,
    labels: (JSON.parse(labels) as readonly string[]).map(unstored),
    body: JSON.parse(body) as JsonObject,
  };
}
