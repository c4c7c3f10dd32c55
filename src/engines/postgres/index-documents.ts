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

/**
 * In the order of the list, where each document is asked for its labels. A label that few have would be looked for among
 * all others for long: its documents are put in order instead.
 */
export async function listDocuments(session: Session, query: DocumentQuery): Promise<readonly IndexDocument[]> {
  const { collection, order, beyond, limit } = query;
  const labels = (query.labels ?? []).map(storable);
  const rare = await rareAmong(session, collection, labels);
  const where = new Conditions();
  where.add(`d.collection = ${where.bind(collection)}`);
  if (rare !== undefined) where.add(`l.collection = d.collection AND l.label = ${where.bind(rare)}`);
  for (const label of labels) where.add(`${where.bind(label)} = ANY (d.labels)`);
  const [sign, direction] = order === "asc" ? [">", "ASC"] : ["<", "DESC"];
  if (beyond?.key !== undefined) {
    where.add(`(d.sort, d.key) ${sign} (${where.bind(beyond.sort)}, ${where.bind(storable(beyond.key))})`);
  } else if (beyond !== undefined) where.add(`d.sort ${sign} ${where.bind(beyond.sort)}`);
  const labelled = rare === undefined ? "" : "JOIN hansard_index_document_labels l ON l.key = d.key";
  const text = `SELECT ${COLUMNS} FROM hansard_index_documents d ${labelled} WHERE ${where.sql}
    ORDER BY d.sort ${direction}, d.key ${direction} LIMIT ${where.bind(limit)}`;
  const stored = await session.query<StoredDocument>({ text }, where.values);
  return stored.map((row) => toDocument(collection, row));
}

const RARE_MAX = 1_000;

async function rareAmong(session: Session, collection: string, labels: readonly string[]): Promise<string | undefined> {
  if (labels.length === 0) return undefined;
  const text = `SELECT given.label FROM unnest($2::text[]) AS given (label) CROSS JOIN LATERAL (SELECT count(*) AS count
      FROM (SELECT 1 FROM hansard_index_document_labels l WHERE l.collection = $1 AND l.label = given.label LIMIT $3) AS few
    ) known WHERE known.count < $3 ORDER BY known.count LIMIT 1`;
  const [rare] = await session.query<{ readonly label: string }>({ text }, [collection, labels, RARE_MAX]);
  return rare?.label;
}

export async function countDocuments(session: Session, collection: string): Promise<number> {
  const text = "SELECT count(*) AS count FROM hansard_index_documents WHERE collection = $1";
  const [found] = await session.query<{ readonly count: number }>({ text }, [collection]);
  return found?.count ?? 0;
}

/** A few statements, however many documents a batch changes. */
export async function changeDocuments(
  session: Session,
  { put = [], removed = [] }: { readonly put?: readonly IndexDocument[]; readonly removed?: readonly DocumentName[] },
): Promise<void> {
  const gone = removed.map(({ collection, key }) => [collection, storable(key), "[]"]);
  const documents = put.map(({ collection, key, sort, labels, body }) => [
    ...[collection, storable(key), JSON.stringify(labels.map(storable)), sort, JSON.stringify(body)],
  ]);
  if (gone.length + documents.length === 0) return;
  await session.query(unlabelStatement, columnsOf([...gone, ...documents], 3));
  if (gone.length > 0) await session.query(removeStatement, columnsOf(gone, 2));
  if (documents.length === 0) return;
  await session.query(putStatement, columnsOf(documents, 5));
  await session.query(labelStatement, columnsOf(documents, 3));
}

/** Takes away the labels that documents will no longer have. */
const unlabelStatement = {
  name: "hansard_index_document_labels_gone",
  text: `DELETE FROM hansard_index_document_labels l
    USING unnest($1::text[], $2::text[], $3::text[]) AS next (collection, key, labels)
    JOIN hansard_index_documents d USING (collection, key) CROSS JOIN unnest(d.labels) AS had (label)
    WHERE l.collection = d.collection AND l.label = had.label AND l.key = d.key
      AND NOT EXISTS (SELECT 1 FROM json_array_elements_text(next.labels::json) AS kept (label)
        WHERE kept.label = had.label)`,
};

const removeStatement = {
  name: "hansard_index_documents_gone",
  text: `DELETE FROM hansard_index_documents d USING unnest($1::text[], $2::text[]) AS gone (collection, key)
    WHERE d.collection = gone.collection AND d.key = gone.key`,
};

const putStatement = {
  name: "hansard_index_documents",
  text: `INSERT INTO hansard_index_documents (collection, key, labels, sort, body)
    SELECT collection, key, ARRAY (SELECT json_array_elements_text(labels::json)), sort, body
    FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::text[]) AS next (collection, key, labels, sort, body)
    ON CONFLICT (collection, key) DO UPDATE SET labels = excluded.labels, sort = excluded.sort, body = excluded.body`,
};

const labelStatement = {
  name: "hansard_index_document_labels",
  text: `INSERT INTO hansard_index_document_labels (collection, label, key)
    SELECT next.collection, said.label, next.key
    FROM unnest($1::text[], $2::text[], $3::text[]) AS next (collection, key, labels)
    CROSS JOIN json_array_elements_text(next.labels::json) AS said (label) ON CONFLICT DO NOTHING`,
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
