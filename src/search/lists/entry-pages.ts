// Pages of entries as they are answered. Rows are by kind: the schema of each is made from the table of kinds.
import { Type } from "typebox";
import type { AlteredInteraction, Interaction, InteractionSummary, ListedEntry } from "../../model/entry.js";
import { named, pageEnd, referenceTo, schemaOf } from "../../model/schema.js";

/** A page of interactions: summaries, or whole ones where `full` was asked for. */
export interface InteractionList<Row = InteractionSummary> {
  readonly interactions: readonly (Row | AlteredInteraction)[];
  readonly next_cursor: string | null;
  /** While the index is rebuilt: older entries may be missing. */
  readonly partial?: true;
}

export interface EntryList {
  readonly entries: readonly ListedEntry[];
  readonly next_cursor: string | null;
  /** While the index is rebuilt: older entries may be missing. */
  readonly partial?: true;
}

export const entryPage = schemaOf<EntryList>(
  named("EntryPage", Type.Object({ entries: Type.Array(referenceTo<ListedEntry>("ListedEntry")), ...pageEnd })),
);

const interactionRow = Type.Union(["InteractionSummary", "InteractionEntry", "AlteredEntry"].map(referenceTo));

export const interactionPage = schemaOf<InteractionList<Interaction | InteractionSummary>>(
  named("InteractionPage", Type.Object({ interactions: Type.Array(interactionRow), ...pageEnd })),
);
