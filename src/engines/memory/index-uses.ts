// References in memory, the plain way: which entries they count for is found by looking at every row.
import type { EntryRow, Reference, RowFilter } from "../../index/port.js";

/** Whether all that a filter says of references holds for a row. */
export function referenceTest(rows: readonly EntryRow[], filter: RowFilter): (row: EntryRow) => boolean {
  const conditions = (filter.references ?? []).map((condition) => ({
    holders: holdersOf(rows, condition),
    isWanted: condition.lacks !== true,
  }));
  return ({ position }) => conditions.every(({ holders, isWanted }) => holders.has(position) === isWanted);
}

/** Rows about an entry that has none refer to nothing. */
export function keptReferences(rows: readonly EntryRow[]): EntryRow[] {
  const positions = new Set(rows.map((row) => row.position));
  return rows.map((row) => (row.about === undefined || positions.has(row.about) ? row : { ...row, references: [] }));
}

function holdersOf(rows: readonly EntryRow[], { what, reference }: Reference): ReadonlySet<number> {
  const sayers = rows.filter((row) => row.references.some((own) => own.what === what && own.reference === reference));
  return new Set(sayers.map((row) => row.about ?? row.position));
}
