// Memories as documents: statement, evidence and history, folded from the entries about them.

import { isJsonObject, type JsonObject } from "../model/json.js";
import type { Evidence, Memory, MemoryFieldsByKind } from "../model/memory.js";
import { formatTime, parseTime } from "../model/time.js";
import type { Fold } from "./fold.js";
import { type EntryIndex, type EntryRow, type IndexDocument, type RowFilter, rowPages } from "./port.js";

/** Memories by id, sorted by the position of their proposal. */
export const MEMORIES = "memories";

/** A quote with its speaker, session and time: candidates are ranked by these. */
export interface AttributedEvidence extends Evidence {
  readonly said_by: string;
  readonly said_in: string;
  readonly said_ms: number;
  /** Position of the entry that added it. */
  readonly added: number;
}

/** A memory as stored in the index. */
export interface KeptMemory extends Omit<Memory, "evidence"> {
  readonly evidence: readonly AttributedEvidence[];
  /** Position and time of its proposal. */
  readonly proposed: number;
  readonly proposed_ms: number;
  /** Position of its promotion; 0 if none. */
  readonly promoted: number;
  /** Position and time of its current status. */
  readonly decided: number;
  readonly decided_ms: number;
  /** The given reason, if any. */
  readonly reason: string;
  readonly superseded_by: string;
  /** Whether it was proposed with quotes; otherwise it is a person's own statement. */
  readonly is_cited: boolean;
}

const CONFIDENCE_AT_FIRST = 0.5;
/** What a confirmation adds, up to 1. */
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
  // Earlier versions had one source for all rules; statements about commands had one form.
  if ((memory.source as string) !== "rule") return memory;
  return { ...memory, source: /^`.+` fails; `.+` works$/s.test(memory.content) ? "rule:commands" : "rule:words" };
}

interface MemoryBody {
  /** Number of folded entries. */
  readonly rows: number;
  readonly memory: KeptMemory;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Writable<KeptMemory>;

/** Without its proposal, a memory does not exist. */
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
    proposed_by: said.actor,
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
  // A candidate whose project is unknown gets one with the verdict.
  if (status === "active" && memory.project === "") memory.project = row.project;
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
  // Rounded, so fifty steps of 0.02 add up to 1.
  memory.confidence = Math.min(1, Math.round((memory.confidence + CONFIRMED_BY) * 1e6) / 1e6);
  memory.last_confirmed_at = formatTime(row.created_ms);
}

/** Reads all positions, since lists are ordered by time; refolding is rare. */
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

/** Only this fold writes this collection. */
function toBody({ body }: IndexDocument): MemoryBody {
  return body as unknown as MemoryBody;
}

/** Entries written by the log have all fields of their kind. */
function factsOf<K extends keyof MemoryFieldsByKind>({ facts }: EntryRow): MemoryFieldsByKind[K] {
  return (isJsonObject(facts) ? facts : {}) as unknown as MemoryFieldsByKind[K];
}
