// Calls to models as documents: what entries tell of them, many in one document, so that all can be read quickly. Which of
// them tell of the same call is found out by whoever reads them, since any later entry may show that two are one.

import type { CallFacts } from "./call-facts.js";
import type { Fold } from "./fold.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

/** The collection of calls: a document for each stretch of positions, in the order of the log. */
const CALLS = "calls";

/** Large enough that a million calls are some thousand documents, small enough to be written again with each entry. */
const STRETCH = 128;

/** What one entry tells of a call. */
export interface CallTelling extends CallFacts {
  readonly position: number;
  readonly created_ms: number;
  readonly session_id?: string;
  readonly project?: string;
  readonly client?: string;
}

export const callFold: Fold = {
  collection: CALLS,
  keysOf: ({ position, facts }) => (facts?.call === undefined ? [] : [String(stretchOf(position))]),
  add: addRows,
  rowsIn: (document) => tellingsIn(document).length,
  isDone: (key, position) => Number(key) < stretchOf(position),
  positionsOf: async (index, { key, after, limit }) => {
    const [document] = await index.getDocuments({ collection: CALLS, keys: [key] });
    const positions = document === undefined ? [] : tellingsIn(document).map(({ position }) => position);
    return positions.filter((position) => position > after).slice(0, limit);
  },
};

/** So many documents at once, after which others may have their turn. */
const PAGE = 32;

/** All that was told of calls, page by page, in order of position. */
export async function* tellings(index: Pick<EntryIndex, "listDocuments">): AsyncGenerator<readonly CallTelling[]> {
  for (let last: IndexDocument | undefined; ; ) {
    const beyond = last === undefined ? {} : { beyond: { sort: last.sort } };
    const page = await index.listDocuments({ collection: CALLS, order: "asc", limit: PAGE, ...beyond });
    yield page.flatMap(tellingsIn);
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

function stretchOf(position: number): number {
  return Math.floor(position / STRETCH);
}

function addRows(key: string, document: IndexDocument | undefined, rows: readonly EntryRow[]): IndexDocument {
  const calls = [...(document === undefined ? [] : tellingsIn(document)), ...rows.map(toTelling)];
  const position = calls.at(-1)?.position ?? 0;
  return { collection: CALLS, key, sort: Number(key), position, labels: [], body: { calls } as object as Body };
}

function toTelling({ position, created_ms, session_id, project, client, facts }: EntryRow): CallTelling {
  return {
    position,
    created_ms,
    ...(session_id === "" ? {} : { session_id }),
    ...(project === "" ? {} : { project }),
    ...(client === "" ? {} : { client }),
    ...(facts?.call as object as CallFacts),
  };
}

type Body = IndexDocument["body"];

/** Nobody else writes documents of this collection. */
function tellingsIn({ body }: IndexDocument): readonly CallTelling[] {
  return (body as object as { readonly calls: readonly CallTelling[] }).calls;
}
