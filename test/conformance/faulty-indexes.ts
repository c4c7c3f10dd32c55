// Indexes that are wrong in one respect each, to show that the conformance suite notices.
import { MemoryIndex } from "../../src/engines/memory/index.js";
import type {
  EntryRow,
  EntryTexts,
  IndexBatch,
  Reference,
  RowCounts,
  RowKey,
  SessionRange,
} from "../../src/index/port.js";

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
  override apply(batch: IndexBatch): Promise<boolean> {
    const rows = batch.rows.map(({ about: _, ...row }) => row);
    return super.apply({ ...batch, rows });
  }
}

class LacksPassedOver extends MemoryIndex {
  override list(query: Query): Promise<readonly RowKey[]> {
    const references = query.filter.references?.filter(({ lacks }) => lacks !== true) ?? [];
    return super.list({ ...query, filter: { ...query.filter, references } });
  }
}

class ReferencesInOrderOfPosition extends MemoryIndex {
  override async list(query: Query): Promise<readonly RowKey[]> {
    if (query.filter.references === undefined) return super.list(query);
    const keys = await super.list({ ...query, limit: 1_000_000 });
    return keys.toSorted((left, right) => right.position - left.position).slice(0, query.limit);
  }
}

class MergedReferences extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<boolean> {
    const rows = batch.rows.map((row) => {
      const sayers = batch.rows.filter(({ about }) => about === row.position);
      return { ...row, references: [...row.references, ...sayers.flatMap(({ references }) => references)] };
    });
    return super.apply({ ...batch, rows });
  }
}

class CaselessReferences extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<boolean> {
    const lower = (one: Reference): Reference => ({ ...one, reference: one.reference.toLowerCase() }) as Reference;
    return super.apply({
      ...batch,
      rows: batch.rows.map((row) => ({ ...row, references: row.references.map(lower) })),
    });
  }
}

class CaselessLabels extends MemoryIndex {
  override apply(batch: IndexBatch): Promise<boolean> {
    const lower = (row: EntryRow) => ({ ...row, project: row.project.toLowerCase() });
    return super.apply({ ...batch, rows: batch.rows.map(lower) });
  }
}

class RowsWithoutFacts extends MemoryIndex {
  override async rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]> {
    return (await super.rowsAt(positions)).map(({ facts: _, ...row }) => row);
  }
}

class RowsAsAskedFor extends MemoryIndex {
  override async rowsAt(positions: readonly number[]): Promise<readonly EntryRow[]> {
    const rows = await Promise.all(positions.map((position) => super.rowsAt([position])));
    return rows.flat();
  }
}

class NewestOfAll extends MemoryIndex {
  override sessionPlaces(query: Parameters<MemoryIndex["sessionPlaces"]>[0]) {
    return super.sessionPlaces({ ...query, through: Number.MAX_SAFE_INTEGER });
  }
}

class PositionsWithTheirPlace extends MemoryIndex {
  override sessionPositions({ after, ...range }: SessionRange): Promise<readonly number[]> {
    if (after === undefined) return super.sessionPositions(range);
    return super.sessionPositions({ ...range, after: range.order === "asc" ? after - 1 : after + 1 });
  }
}

class CheckpointAtLastRow extends MemoryIndex {
  override async apply(batch: IndexBatch): Promise<boolean> {
    const through = batch.rows.at(-1)?.position;
    return through !== undefined && super.apply({ ...batch, through });
  }
}

class TakesWhatOverlaps extends MemoryIndex {
  override async apply(batch: IndexBatch): Promise<boolean> {
    const after = await super.revision();
    const rows = batch.rows.filter(({ position }) => position > after.position);
    const isAhead = batch.through > after.position && batch.after.position <= after.position;
    return isAhead && super.apply({ ...batch, after, rows });
  }
}

class EndlessEpoch extends MemoryIndex {
  override async apply(batch: IndexBatch): Promise<boolean> {
    const { epoch } = await super.revision();
    return super.apply({ ...batch, after: { ...batch.after, epoch } });
  }
}

class EveryBatchTaken extends MemoryIndex {
  override async apply(batch: IndexBatch): Promise<boolean> {
    await super.apply(batch);
    return true;
  }
}

class CountsEveryBatch extends MemoryIndex {
  #applied = 0;
  override apply(batch: IndexBatch): Promise<boolean> {
    this.#applied += batch.rows.length;
    return super.apply(batch);
  }
  override async count(): Promise<RowCounts> {
    return { ...(await super.count()), entries: this.#applied };
  }
}

class ForgetfulReset extends MemoryIndex {
  override async reset(): Promise<void> {}
}

type TextQuery = Parameters<MemoryIndex["candidates"]>[0];
type TextBatch = Parameters<MemoryIndex["applyTexts"]>[0];

class WholeWordsOnly extends MemoryIndex {
  override candidates(query: TextQuery): Promise<readonly RowKey[]> {
    return super.candidates({ ...query, needles: query.needles.map((needle) => ` ${needle} `) });
  }
}

class ThreeCharactersAtLeast extends MemoryIndex {
  override async candidates(query: TextQuery): Promise<readonly RowKey[]> {
    return query.needles.some((needle) => needle.length < 3) ? [] : super.candidates(query);
  }
}

class AsciiTexts extends MemoryIndex {
  override applyTexts(batch: TextBatch): Promise<number> {
    const texts = batch.texts.map((entry) => ({
      ...entry,
      texts: entry.texts.map((text) => text.replace(/[^ -~]/g, "?")),
    }));
    return super.applyTexts({ ...batch, texts });
  }
}

class FirstTextOnly extends MemoryIndex {
  override applyTexts(batch: TextBatch): Promise<number> {
    return super.applyTexts({
      ...batch,
      texts: batch.texts.map((entry) => ({ ...entry, texts: entry.texts.slice(0, 1) })),
    });
  }
}

class NeedlesWithoutFilter extends MemoryIndex {
  override candidates(query: TextQuery): Promise<readonly RowKey[]> {
    return super.candidates({ ...query, filter: {} });
  }
}

type NewestQuery = Parameters<MemoryIndex["newestCandidates"]>[0];

class NewestWithoutFilter extends MemoryIndex {
  override newestCandidates(query: NewestQuery): ReturnType<MemoryIndex["newestCandidates"]> {
    return super.newestCandidates({ ...query, filter: {} });
  }
}

class NewestTakenForAll extends MemoryIndex {
  override async newestCandidates(query: NewestQuery): ReturnType<MemoryIndex["newestCandidates"]> {
    return { ...(await super.newestCandidates(query)), is_all: true };
  }
}

class TailLeftOut extends MemoryIndex {
  override async candidates(query: TextQuery): Promise<readonly RowKey[]> {
    const through = await this.textCheckpoint();
    return (await super.candidates(query)).filter(({ position }) => position <= through);
  }
}

class RankedCandidates extends MemoryIndex {
  override async candidates(query: TextQuery): Promise<readonly RowKey[]> {
    return (await super.candidates(query)).toSorted((left, right) => left.position - right.position);
  }
}

class TextsOutliveReset extends MemoryIndex {
  #kept: TextBatch | undefined;
  override applyTexts(batch: TextBatch): Promise<number> {
    this.#kept ??= batch;
    return super.applyTexts(batch);
  }
  override async reset(): Promise<void> {
    await super.reset();
    if (this.#kept !== undefined) await super.applyTexts(this.#kept);
  }
}

class TextsTakenForApplied extends MemoryIndex {
  override async applyTexts(batch: TextBatch): Promise<number> {
    return (await super.applyTexts(batch)) + 1;
  }
}

class TextsWithGaps extends MemoryIndex {
  override applyTexts({ after: _, ...batch }: TextBatch): Promise<number> {
    return super.applyTexts(batch);
  }
}

class KeptRows extends MemoryIndex {
  override apply({ erased: _, ...batch }: IndexBatch): Promise<boolean> {
    return super.apply(batch);
  }
}

class ForgetfulOfHeads extends MemoryIndex {
  override async reset(): Promise<void> {
    const heads = await this.rememberedHeads();
    await super.reset();
    await this.forgetHeads(heads);
  }
}

class SettlesEverything extends MemoryIndex {
  override async forgetHeads(): Promise<void> {
    await super.forgetHeads(await this.rememberedHeads());
  }
}

class LateTexts extends MemoryIndex {
  readonly #held: EntryTexts[] = [];
  override async applyTexts(batch: TextBatch): Promise<number> {
    this.#held.push(...batch.texts);
    return super.applyTexts(batch);
  }
  override async candidates(query: TextQuery): Promise<readonly RowKey[]> {
    const known = new Set((await super.candidates(query)).map(({ position }) => position));
    const late = this.#held.filter(({ position }) => !known.has(position));
    return [...(await super.candidates(query)), ...late.map(({ position }) => ({ created_ms: 0, position }))];
  }
}

/** Each with a part of the behaviour that must be found broken. */
export const faultyIndexes: readonly { readonly Faulty: new () => MemoryIndex; readonly breaks: string }[] = [
  { Faulty: TextsWithGaps, breaks: "texts beyond the text checkpoint are skipped" },
  { Faulty: ExclusiveUntil, breaks: "times are inclusive on both ends" },
  { Faulty: OldestFirstInTies, breaks: "the higher position comes first" },
  { Faulty: PagesByTimeAlone, breaks: "reach each row exactly once" },
  { Faulty: RepeatedEdges, breaks: "reach each row exactly once" },
  { Faulty: OneFilterAtATime, breaks: "filters together" },
  { Faulty: EmptyMeansAny, breaks: "the filter project alone" },
  { Faulty: DetachedResponses, breaks: "a response's references" },
  { Faulty: LacksPassedOver, breaks: "an entry lacks a reference" },
  { Faulty: ReferencesInOrderOfPosition, breaks: "entries with a reference come newest first" },
  { Faulty: MergedReferences, breaks: "the references of an erased entry" },
  { Faulty: CaselessReferences, breaks: "references are compared exactly" },
  { Faulty: CaselessLabels, breaks: "labels are compared exactly" },
  { Faulty: RowsWithoutFacts, breaks: "the values of an erased session_info are gone" },
  { Faulty: RowsAsAskedFor, breaks: "rows are returned unchanged" },
  { Faulty: NewestOfAll, breaks: "pages of sessions are stable" },
  { Faulty: PositionsWithTheirPlace, breaks: "positions within a session" },
  { Faulty: TakesWhatOverlaps, breaks: "a batch computed from another state" },
  { Faulty: EveryBatchTaken, breaks: "a batch computed from another state" },
  { Faulty: EndlessEpoch, breaks: "a batch computed before a reset" },
  { Faulty: CheckpointAtLastRow, breaks: "applying moves the checkpoint" },
  { Faulty: CountsEveryBatch, breaks: "a batch that was applied before is skipped" },
  { Faulty: ForgetfulOfHeads, breaks: "remembered across resets" },
  { Faulty: SettlesEverything, breaks: "remembered across resets" },
  { Faulty: ForgetfulReset, breaks: "a reset removes everything" },
  { Faulty: WholeWordsOnly, breaks: "every substring of a text" },
  { Faulty: ThreeCharactersAtLeast, breaks: "every substring of a text" },
  { Faulty: AsciiTexts, breaks: "every entry that holds all needles" },
  { Faulty: FirstTextOnly, breaks: "every entry that holds all needles" },
  { Faulty: NeedlesWithoutFilter, breaks: "candidates pass the filter" },
  { Faulty: NewestWithoutFilter, breaks: "the newest candidates of a kind" },
  { Faulty: NewestTakenForAll, breaks: "the newest candidates of a kind" },
  { Faulty: TailLeftOut, breaks: "not applied yet are candidates" },
  { Faulty: RankedCandidates, breaks: "every entry that holds all needles" },
  { Faulty: TextsTakenForApplied, breaks: "texts in many small batches" },
  { Faulty: TextsOutliveReset, breaks: "a reset removes the texts" },
  { Faulty: KeptRows, breaks: "those of an index that never had the rows" },
  { Faulty: LateTexts, breaks: "an erased entry is no candidate" },
];
