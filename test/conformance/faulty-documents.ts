// Indexes whose documents are wrong in one respect each, to show that the conformance suite notices.
import { MemoryIndex } from "../../src/engines/memory/index.js";
import type { DocumentQuery, IndexBatch, IndexDocument } from "../../src/index/port.js";

class AnyLabelWillDo extends MemoryIndex {
  override async listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]> {
    const { labels = [], ...others } = query;
    const documents = await super.listDocuments({ ...others, limit: 1_000 });
    const isLabelled = (document: IndexDocument): boolean => labels.some((label) => document.labels.includes(label));
    return documents.filter((document) => labels.length === 0 || isLabelled(document)).slice(0, query.limit);
  }
}

class LabelsOnlyAdd extends MemoryIndex {
  override async apply(batch: IndexBatch): Promise<boolean> {
    const put: IndexDocument[] = [];
    for (const document of batch.put ?? []) {
      const [before] = await super.getDocuments({ collection: document.collection, keys: [document.key] });
      put.push({ ...document, labels: [...new Set([...(before?.labels ?? []), ...document.labels])] });
    }
    return super.apply({ ...batch, put });
  }
}

class KeysByCodeUnit extends MemoryIndex {
  override async listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]> {
    const direction = query.order === "asc" ? 1 : -1;
    const documents = await super.listDocuments({ ...query, limit: 1_000 });
    return documents
      .toSorted((left, right) => direction * (left.sort - right.sort || (left.key < right.key ? -1 : 1)))
      .slice(0, query.limit);
  }
}

class BeyondSortAlone extends MemoryIndex {
  override listDocuments({ beyond, ...query }: DocumentQuery): Promise<readonly IndexDocument[]> {
    return super.listDocuments(beyond === undefined ? query : { ...query, beyond: { sort: beyond.sort } });
  }
}

class SortAndKeyAlone extends MemoryIndex {
  override async listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]> {
    const direction = query.order === "asc" ? 1 : -1;
    const documents = await super.listDocuments({ ...query, limit: 1_000 });
    return documents
      .toSorted(
        (left, right) => direction * (left.sort - right.sort || Buffer.from(left.key).compare(Buffer.from(right.key))),
      )
      .slice(0, query.limit);
  }
}

class ThroughWhatever extends MemoryIndex {
  override listDocuments({ through: _, ...query }: DocumentQuery): Promise<readonly IndexDocument[]> {
    return super.listDocuments(query);
  }
}

class WholeSorts extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<boolean> {
    return super.apply({
      ...batch,
      put: (batch.put ?? []).map((document) => ({ ...document, sort: Math.trunc(document.sort) })),
    });
  }
}

class OneCollection extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<boolean> {
    const put = (batch.put ?? []).map((document) => ({ ...document, collection: "made" }));
    return super.apply({ ...batch, put });
  }
}

class KeepsWhatIsRemoved extends MemoryIndex {
  override apply({ removed: _, ...batch }: IndexBatch): Promise<boolean> {
    return super.apply(batch);
  }
}

class DocumentsFirst extends MemoryIndex {
  override async apply({ put = [], removed = [], ...batch }: IndexBatch): Promise<boolean> {
    const after = await super.revision();
    await super.apply({ after, rows: [], through: after.position, put, removed });
    return super.apply(batch);
  }
}

class DocumentsOutliveReset extends MemoryIndex {
  override async reset(): Promise<void> {
    const put = await super.listDocuments({ collection: "made", order: "asc", limit: 1_000 });
    await super.reset();
    await super.apply({ after: await super.revision(), rows: [], through: 0, put });
  }
}

class TextBodies extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<boolean> {
    const clean = (document: IndexDocument): IndexDocument => ({
      ...document,
      body: JSON.parse(JSON.stringify(document.body).replaceAll("\\u0000", "")),
    });
    return super.apply({ ...batch, put: (batch.put ?? []).map(clean) });
  }
}

/** Each with a part of the behaviour that must be found broken. */
export const faultyDocuments: readonly { readonly Faulty: new () => MemoryIndex; readonly breaks: string }[] = [
  { Faulty: AnyLabelWillDo, breaks: "with every combination of labels" },
  { Faulty: LabelsOnlyAdd, breaks: "a document that is put again replaces" },
  { Faulty: KeysByCodeUnit, breaks: "by the bytes of their keys" },
  { Faulty: BeyondSortAlone, breaks: "a list continues strictly after" },
  { Faulty: SortAndKeyAlone, breaks: "where sorts are equal the position decides" },
  { Faulty: ThroughWhatever, breaks: "a list leaves out documents changed after a position" },
  { Faulty: WholeSorts, breaks: "documents are listed by sort" },
  { Faulty: OneCollection, breaks: "each in its own collection" },
  { Faulty: KeepsWhatIsRemoved, breaks: "a removed document" },
  { Faulty: DocumentsFirst, breaks: "a batch computed from another state" },
  { Faulty: DocumentsOutliveReset, breaks: "a reset removes the documents" },
  { Faulty: TextBodies, breaks: "a body of any JSON" },
];
