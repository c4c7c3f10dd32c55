// Memories as documents: what a statement says, what it rests on, and what became of it, folded from the entries about it.

import { isJsonObject, type JsonObject } from "../model/json.js";
import type { Evidence, Memory, MemoryFieldsByKind } from "../model/memory.js";
import { formatTime, parseTime } from "../model/time.js";
import type { Fold } from "./fold.js";
import { type EntryIndex, type EntryRow, type IndexDocument, type RowFilter, rowPages } from "./port.js";

/** The collection of memories: by their id, sorted by the position of their proposal. */
export const MEMORIES = "memories";

/** The words of an entry, with who said them, where and when: what a candidate is ranked by. */
export interface HeardEvidence extends Evidence {
  readonly said_by: string;
  readonly said_in: string;
  readonly said_ms: number;
  /** Position of the entry that added it. */
  readonly added: number;
}

/** A memory as the index keeps it. */
export interface KeptMemory extends Omit<Memory, "evidence"> {
  readonly evidence: readonly HeardEvidence[];
  /** Position of its proposal, and when that was. */
  readonly proposed: number;
  readonly proposed_ms: number;
  /** Position of its promotion; 0 where there was none. */
  readonly promoted: number;
  /** The same of what gave it its present status. */
  readonly decided: number;
  readonly decided_ms: number;
  /** Why it has that, as far as somebody said so. */
  readonly reason: string;
  readonly superseded_by: string;
  /** Whether it came with words of entries; without them it is somebody's own word. */
  readonly is_cited: boolean;
}

const CONFIDENCE_AT_FIRST = 0.5;
/** What confirming adds, up to certainty. */
const CONFIRMED_BY = 0.02;

export const memoryFold: Fold = {
  collection: MEMORIES,
  keysOf: ({ references }) =>
    references.flatMap(({ what, reference }) => (what === "memory_history" ? [reference] : [])),
  add: addRows,
  rowsIn: (document) => toBody(document).rows,
  positionsOf,
};

export function documentToMemory(document: IndexDocument): KeptMemory {
  const { memory } = toBody(document);
  // Earlier versions knew one source for all rules. What those on commands said had one form.
  if ((memory.source as string) !== "rule") return memory;
  return { ...memory, source: /^`.+` fails; `.+` works$/s.test(memory.content) ? "rule:commands" : "rule:words" };
}

interface MemoryBody {
  /** How many entries it was folded from. */
  readonly rows: number;
  readonly memory: KeptMemory;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Writable<KeptMemory>;

/** Without its proposal nothing is left of a memory, whatever else was said about it. */
function addRows(
  key: string,
  document: IndexDocument | undefined,
  rows: readonly EntryRow[],
): IndexDocument | undefined {
  const before = document === undefined ? undefined : toBody(document);
  let memory: Draft | undefined = before === undefined ? undefined : { ...before.memory };
  let count = before?.rows ?? 0;
  for (const row of rows) {
    if (row.kind === "memory_proposed") memory = toProposed(key, row);
    if (memory === undefined) continue;
    count += 1;
    addRow(memory, row);
  }
  const last = rows.at(-1);
  if (memory === undefined || last === undefined) return undefined;
  memory.supported = !memory.is_cited || memory.evidence.length > 0;
  const body = { rows: count, memory } as unknown as JsonObject;
  return { collection: MEMORIES, key, sort: memory.proposed, position: last.position, labels: [], body };
}

function toProposed(id: string, row: EntryRow): Draft {
  const said = factsOf<"memory_proposed">(row);
  const { position: proposed, created_ms: proposed_ms } = row;
  return {
    id,
    type: said.type as KeptMemory["type"],
    content: said.content,
    project: row.project,
    confidence: said.confidence ?? CONFIDENCE_AT_FIRST,
    status: "candidate",
    source: said.source as KeptMemory["source"],
    generation: said.generation,
    given: 0,
    used: 0,
    confirmed: 0,
    tags: said.tags,
    ...(said.valid_until === "" ? {} : { valid_until: said.valid_until }),
    evidence: [],
    supported: true,
    similar_to: said.similar_to,
    conflicts_with: said.conflicts_with,
    proposed,
    proposed_ms,
    promoted: 0,
    decided: proposed,
    decided_ms: proposed_ms,
    reason: "",
    superseded_by: "",
    is_cited: said.cites !== "",
  };
}

function addRow(memory: Draft, row: EntryRow): void {
  if (row.kind === "memory_edited") {
    const { content, evidence, said_by, said_in, said_at } = factsOf<"memory_edited">(row);
    if (content !== "") memory.content = content;
    const heard = { said_by, said_in, said_ms: parseTime(said_at) ?? row.created_ms, added: row.position };
    memory.evidence = [
      ...memory.evidence,
      ...evidence.map(({ entry_id, quote }) => ({ entry_id: String(entry_id), quote: String(quote), ...heard })),
    ];
  } else if (row.kind === "memory_promoted") decide(memory, row, "active");
  else if (row.kind === "memory_rejected") decide(memory, row, "rejected");
  else if (row.kind === "memory_superseded") {
    decide(memory, row, "superseded");
    memory.superseded_by = factsOf<"memory_superseded">(row).superseded_by;
  } else if (row.kind === "memory_reinforced") reinforce(memory, row);
}

function decide(memory: Draft, row: EntryRow, status: KeptMemory["status"]): void {
  memory.status = status;
  if (status === "active") memory.promoted = row.position;
  memory.decided = row.position;
  memory.decided_ms = row.created_ms;
  memory.reason = factsOf<"memory_promoted">(row).reason;
}

function reinforce(memory: Draft, row: EntryRow): void {
  const own = factsOf<"memory_reinforced">(row).memories.find(({ memory_id }) => memory_id === memory.id);
  if (own === undefined) return;
  if (own.given === true) memory.given += 1;
  if (own.used === true) memory.used += 1;
  if (own.confirmed !== true) return;
  memory.confirmed += 1;
  // Rounded, so that fifty steps of two hundredths are one, whatever binary fractions make of them.
  memory.confidence = Math.min(1, Math.round((memory.confidence + CONFIRMED_BY) * 1e6) / 1e6);
  memory.last_confirmed_at = formatTime(row.created_ms);
}

/** All that the index knows of them, since lists are in order of time; a memory is folded again only when words of it go. */
async function positionsOf(
  index: EntryIndex,
  { key, after, limit }: { readonly key: string; readonly after: number; readonly limit: number },
): Promise<readonly number[]> {
  const filter: RowFilter = { references: [{ what: "memory_history", reference: key }] };
  const positions: number[] = [];
  for await (const page of rowPages((place) => index.list({ filter, ...place }), PAGE)) {
    positions.push(...page.map(({ position }) => position));
  }
  return positions
    .filter((position) => position > after)
    .toSorted((left, right) => left - right)
    .slice(0, limit);
}

const PAGE = 1_000;

/** Nobody else writes documents of this collection. */
function toBody({ body }: IndexDocument): MemoryBody {
  return body as unknown as MemoryBody;
}

/** What the log itself wrote has the fields of its kind, absent ones filled in. */
function factsOf<K extends keyof MemoryFieldsByKind>({ facts }: EntryRow): MemoryFieldsByKind[K] {
  return (isJsonObject(facts) ? facts : {}) as unknown as MemoryFieldsByKind[K];
}
