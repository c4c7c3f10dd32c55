// Indexes that are wrong in one respect each, to show that the conformance suite notices.
import { MemoryIndex } from "../../src/engines/memory/index.js";
import type { EntryCounts, EntryRow, IndexBatch, RowKey } from "../../src/ports/entry-index.js";

type Query = Parameters<MemoryIndex["list"]>[0];

class ExclusiveUntil extends MemoryIndex {
  override list(query: Query): Promise<readonly RowKey[]> {
    const { until_ms } = query.filter;
    if (until_ms === undefined) return super.list(query);
    return super.list({ ...query, filter: { ...query.filter, until_ms: until_ms - 1 } });
  }
}

class OldestFirstInTies extends MemoryIndex {
  override async list(query: Query): Promise<readonly RowKey[]> {
    const keys = await super.list({ ...query, limit: 1_000_000 });
    return keys
      .toSorted((left, right) => right.created_ms - left.created_ms || left.position - right.position)
      .slice(0, query.limit);
  }
}

class PagesByTimeAlone extends MemoryIndex {
  override list(query: Query): Promise<readonly RowKey[]> {
    if (query.after === undefined) return super.list(query);
    return super.list({ ...query, after: { ...query.after, position: 0 } });
  }
}

class RepeatedEdges extends MemoryIndex {
  override list(query: Query): Promise<readonly RowKey[]> {
    if (query.after === undefined) return super.list(query);
    return super.list({ ...query, after: { ...query.after, position: query.after.position + 1 } });
  }
}

class OneFilterAtATime extends MemoryIndex {
  override list(query: Query): Promise<readonly RowKey[]> {
    return super.list({ ...query, filter: Object.fromEntries(Object.entries(query.filter).slice(0, 1)) });
  }
}

class EmptyMeansAny extends MemoryIndex {
  override list(query: Query): Promise<readonly RowKey[]> {
    const given = Object.entries(query.filter).filter(([, value]) => value !== "");
    return super.list({ ...query, filter: Object.fromEntries(given) });
  }
}

class DetachedResponses extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<void> {
    const rows = batch.rows.map(({ completes: _, ...row }) => row);
    return super.apply({ ...batch, rows });
  }
}

class CaselessLabels extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<void> {
    const lower = (row: EntryRow) => ({ ...row, project: row.project.toLowerCase() });
    return super.apply({ ...batch, rows: batch.rows.map(lower) });
  }
}

class CheckpointAtLastRow extends MemoryIndex {
  override async apply(batch: IndexBatch): Promise<void> {
    const through = batch.rows.at(-1)?.position;
    if (through !== undefined) await super.apply({ ...batch, through });
  }
}

class CountsEveryBatch extends MemoryIndex {
  #applied = 0;
  override apply(batch: IndexBatch): Promise<void> {
    this.#applied += batch.rows.length;
    return super.apply(batch);
  }
  override async count(): Promise<EntryCounts> {
    return { ...(await super.count()), entries: this.#applied };
  }
}

class ForgetfulReset extends MemoryIndex {
  override async reset(): Promise<void> {}
}

/** Each with a part of the behaviour that must be found broken. */
export const faultyIndexes: readonly { readonly Faulty: new () => MemoryIndex; readonly breaks: string }[] = [
  { Faulty: ExclusiveUntil, breaks: "times are inclusive on both ends" },
  { Faulty: OldestFirstInTies, breaks: "the higher position comes first" },
  { Faulty: PagesByTimeAlone, breaks: "reach each row exactly once" },
  { Faulty: RepeatedEdges, breaks: "reach each row exactly once" },
  { Faulty: OneFilterAtATime, breaks: "filters together" },
  { Faulty: EmptyMeansAny, breaks: "the filter project alone" },
  { Faulty: DetachedResponses, breaks: "what a response used" },
  { Faulty: CaselessLabels, breaks: "labels are compared exactly" },
  { Faulty: CheckpointAtLastRow, breaks: "applying moves the checkpoint" },
  { Faulty: CountsEveryBatch, breaks: "a batch that was applied before changes nothing" },
  { Faulty: ForgetfulReset, breaks: "a reset forgets everything" },
];
