// Feedback as documents: the feedback on an entry, by that entry's id.

import type { Fold } from "./fold.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

/** Entries with feedback, by id, sorted by the position of the newest feedback. */
const FEEDBACK = "feedback";

export const feedbackFold: Fold = {
  collection: FEEDBACK,
  keysOf: ({ facts }) => (typeof facts?.entry_id === "string" ? [facts.entry_id] : []),
  add: addRows,
  rowsIn: (document) => positionsIn(document).length,
  positionsOf: async (index, { key, after, limit }) => {
    const [document] = await index.getDocuments({ collection: FEEDBACK, keys: [key] });
    const positions = document === undefined ? [] : positionsIn(document);
    return positions.filter((position) => position > after).slice(0, limit);
  },
};

/** Positions of feedback on these entries, in order, by entry id. */
export async function feedbackOn(
  index: Pick<EntryIndex, "getDocuments">,
  entry_ids: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const documents = await index.getDocuments({ collection: FEEDBACK, keys: entry_ids });
  return new Map(documents.map((document) => [document.key, positionsIn(document)]));
}

function addRows(key: string, document: IndexDocument | undefined, rows: readonly EntryRow[]): IndexDocument {
  const known = document === undefined ? [] : positionsIn(document);
  const positions = [...known, ...rows.map(({ position }) => position)];
  const position = positions.at(-1) as number;
  return { collection: FEEDBACK, key, sort: position, position, labels: [], body: { positions } };
}

/** Only this fold writes this collection. */
function positionsIn({ body }: IndexDocument): readonly number[] {
  return (body as { readonly positions: readonly number[] }).positions;
}
