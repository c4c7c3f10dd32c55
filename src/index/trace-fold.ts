// Traces whose spans have not been derived yet, as documents: a trace leaves the collection once a note says that all of it
// was derived. So the collection is as large as what is open, however large the log is.
import type { JsonObject } from "../model/json.js";
import type { TelemetryFacts } from "../model/telemetry.js";
import type { Fold } from "./fold.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

/** Open traces by their id, sorted by when they are to be derived. */
export const TRACES = "traces";

/** A moment after its root, in which the other spans of a request may come. */
const AFTER_ROOT_MS = 300;
/** After its newest span, where no root has come. */
const AFTER_LAST_MS = 5_000;
/** After its first span: a trace may never end. */
const AFTER_FIRST_MS = 60_000;
/** A longer one is derived in parts. */
const WAITING_MAX = 1_000;

export interface OpenTrace {
  readonly group: string;
  /** Positions of raw entries that have not been derived, in order. */
  readonly waiting: readonly number[];
  readonly due_ms: number;
}

export const traceFold: Fold = {
  collection: TRACES,
  keysOf: (row) => {
    const facts = factsIn(row);
    return facts === undefined ? [] : [facts.group];
  },
  add: addRows,
  // What was derived is counted nowhere: a document that lost rows is always folded again.
  rowsIn: () => Number.POSITIVE_INFINITY,
  positionsOf: async (index, { key, after, limit }) => {
    const [document] = await index.getDocuments({ collection: TRACES, keys: [key] });
    const waiting = document === undefined ? [] : toBody(document).waiting;
    return waiting.filter((position) => position > after).slice(0, limit);
  },
};

/** The open traces, those to be derived first coming first. */
export async function listOpenTraces(
  index: Pick<EntryIndex, "listDocuments">,
  limit: number,
): Promise<readonly OpenTrace[]> {
  const documents = await index.listDocuments({ collection: TRACES, order: "asc", limit });
  return documents.map((document) => ({
    group: document.key,
    waiting: toBody(document).waiting,
    due_ms: document.sort,
  }));
}

function addRows(
  key: string,
  document: IndexDocument | undefined,
  rows: readonly EntryRow[],
): IndexDocument | undefined {
  const body = document === undefined ? undefined : toBody(document);
  let waiting = body === undefined ? [] : [...body.waiting];
  let root = body?.root;
  let first_ms = body?.first_ms ?? 0;
  let last_ms = body?.last_ms ?? 0;
  for (const row of rows) {
    const { through, received_ms = 0, is_root } = factsIn(row) as TelemetryFacts;
    if (through !== undefined) {
      waiting = waiting.filter((one) => one > through);
      if (root !== undefined && root <= through) root = undefined;
      continue;
    }
    if (waiting.length === 0) first_ms = received_ms;
    waiting.push(row.position);
    if (is_root) root = row.position;
    last_ms = Math.max(last_ms, received_ms);
  }
  const position = waiting.at(-1);
  if (position === undefined) return undefined;
  const made: TraceBody = { waiting, first_ms, last_ms, ...(root === undefined ? {} : { root }) };
  return { collection: TRACES, key, sort: dueOf(made), position, labels: [], body: made as object as JsonObject };
}

function dueOf({ waiting, root, first_ms, last_ms }: TraceBody): number {
  if (waiting.length >= WAITING_MAX) return first_ms;
  return Math.min(last_ms + (root === undefined ? AFTER_LAST_MS : AFTER_ROOT_MS), first_ms + AFTER_FIRST_MS);
}

function factsIn({ facts }: EntryRow): TelemetryFacts | undefined {
  return facts?.telemetry as object | undefined as TelemetryFacts | undefined;
}

/** Only this fold writes this collection. */
function toBody({ body }: IndexDocument): TraceBody {
  return body as object as TraceBody;
}

interface TraceBody {
  readonly waiting: readonly number[];
  /** The position of the root, where it waits too. */
  readonly root?: number;
  readonly first_ms: number;
  readonly last_ms: number;
}
