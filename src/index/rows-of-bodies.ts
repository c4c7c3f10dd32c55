// The rows that an index has of entries, made from their bodies; and which rows of an index are not those.
import { isDeepStrictEqual } from "node:util";
import type { EntryLog, StoredBody } from "../log/port.js";
import { idClaim } from "../model/claims.js";
import { aboutOf, type PlacedBody, readableBody, toEntryRow } from "./entry-row.js";
import type { EntryIndex, EntryRow, Reference } from "./port.js";

/** In the order of the bodies; a body that is none that was recorded has no row. */
export async function rowsOfBodies(
  log: Pick<EntryLog, "find">,
  bodies: readonly PlacedBody[],
): Promise<readonly EntryRow[]> {
  const ids = bodies.flatMap(({ kind, body }) => aboutOf(kind, body) ?? []);
  const positions = ids.length === 0 ? [] : await log.find(ids.map(idClaim));
  const positionById = new Map(ids.map((id, index) => [id, positions[index]]));
  return bodies.flatMap((placed) => {
    const about = aboutOf(placed.kind, placed.body);
    return toEntryRow(placed, about === undefined ? undefined : positionById.get(about)) ?? [];
  });
}

export interface RowComparison {
  /** What the log makes of those that have a body. */
  readonly rows: readonly EntryRow[];
  /** Positions, in order, at which the index has another row, none, or one where there should be none. */
  readonly strange: readonly number[];
}

/**
 * Compares the rows of entries with what the log makes of them; the index has come to all of them. Of an altered entry the log
 * can make nothing, and the row that the index has is taken as it is.
 */
export async function compareRows(
  { log, index }: { readonly log: Pick<EntryLog, "find">; readonly index: Pick<EntryIndex, "rowsAt"> },
  stored: readonly StoredBody[],
): Promise<RowComparison> {
  const made = await rowsOfBodies(
    log,
    stored.flatMap((one) => readableBody(one) ?? []),
  );
  const found = new Map((await index.rowsAt(stored.map(({ position }) => position))).map((row) => [row.position, row]));
  const kept = stored.flatMap(({ flaw, position }) => (flaw === undefined ? [] : (found.get(position) ?? [])));
  const rows = kept.length === 0 ? made : [...made, ...kept].sort((left, right) => left.position - right.position);
  const expected = new Map(rows.map((row) => [row.position, row]));
  const strange = stored
    .map(({ position }) => position)
    .filter((position) => !isSameRow(expected.get(position), found.get(position)));
  return { rows, strange };
}

/** References are a set, and those that count for an entry which is gone are not kept. */
function isSameRow(expected: EntryRow | undefined, found: EntryRow | undefined): boolean {
  if (expected === undefined || found === undefined) return expected === found;
  const { references, ...row } = expected;
  const { references: kept, ...own } = found;
  return isDeepStrictEqual(row, own) && (row.about !== undefined || isSameSet(references, kept));
}

function isSameSet(some: readonly Reference[], others: readonly Reference[]): boolean {
  const names = new Set(some.map(nameOf));
  return new Set(others.map(nameOf)).size === names.size && others.every((one) => names.has(nameOf(one)));
}

function nameOf({ what, reference }: Reference): string {
  return `${what}:${reference}`;
}
