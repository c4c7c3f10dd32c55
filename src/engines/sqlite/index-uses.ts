// Which interactions used a memory or a chunk. What is used is used again and again, so that the uses of one batch lie
// together in a row: a row for each of them would cost as much as all other rows and indexes of the entry.
import type { EntryRow } from "../../ports/entry-index.js";
import type { Statements } from "./statements.js";

/** Positions of the interactions, and beside each the entry that says so: itself, or the response that completed it. */
interface Uses {
  readonly positions: readonly number[];
  readonly said_by: readonly number[];
}

interface StoredUses {
  readonly what: string;
  readonly reference: string;
  readonly low: number;
  readonly high: number;
  /** JSON; null where there is one use. */
  readonly positions: string | null;
  /** JSON; null where each interaction says so itself. */
  readonly said_by: string | null;
}

/** A condition on `position`; what and reference are to be bound, and bound once more. */
export const IS_USER = `position IN (
  SELECT low FROM uses WHERE what = ? AND reference = ? AND positions IS NULL
  UNION ALL
  SELECT value FROM uses, json_each(positions) WHERE what = ? AND reference = ?)`;

export function addUses(sql: Statements, rows: readonly EntryRow[]): void {
  for (const what of ["memory", "chunk"] as const) {
    const byReference = new Map<string, { positions: number[]; said_by: number[] }>();
    for (const row of rows) {
      for (const reference of what === "memory" ? row.memories : row.chunks) {
        const known = byReference.get(reference) ?? { positions: [], said_by: [] };
        if (known.said_by.length === 0) byReference.set(reference, known);
        // An entry may name the same one twice.
        if (known.said_by.at(-1) === row.position) continue;
        known.positions.push(row.completes ?? row.position);
        known.said_by.push(row.position);
      }
    }
    for (const [reference, uses] of byReference) {
      sql.run("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?)", what, reference, ...columnsOf(uses));
    }
  }
}

function columnsOf({ positions, said_by }: Uses): readonly (number | string | null)[] {
  const low = positions.reduce((lowest, position) => Math.min(lowest, position));
  const high = said_by.at(-1) as number;
  if (positions.length === 1) return [low, high, null, null];
  const areThemselves = positions.every((position, at) => position === said_by[at]);
  return [low, high, JSON.stringify(positions), areThemselves ? null : JSON.stringify(said_by)];
}

function usesOf({ low, high, positions, said_by }: StoredUses): Uses {
  if (positions === null) return { positions: [low], said_by: [high] };
  const users = JSON.parse(positions) as readonly number[];
  return { positions: users, said_by: said_by === null ? users : (JSON.parse(said_by) as readonly number[]) };
}

/** The rows that hold one of these are chosen by SQLite, since parsing all of them here would take far longer. */
const HOLDING = `
  WITH gone AS MATERIALIZED (SELECT value FROM json_each(?))
  SELECT * FROM uses WHERE high >= ? AND low <= ? AND (
    low IN (SELECT value FROM gone) OR high IN (SELECT value FROM gone)
    OR EXISTS (SELECT 1 FROM json_each(positions) AS each WHERE each.value IN (SELECT value FROM gone))
    OR EXISTS (SELECT 1 FROM json_each(said_by) AS each WHERE each.value IN (SELECT value FROM gone)))`;

export function eraseUses(sql: Statements, erased: readonly number[]): void {
  const gone = new Set(erased);
  const range = [
    erased.reduce((low, position) => Math.min(low, position)),
    erased.reduce((high, position) => Math.max(high, position)),
  ];
  for (const row of sql.all<StoredUses>(HOLDING, JSON.stringify(erased), ...range)) {
    const { positions, said_by } = usesOf(row);
    const left = [...positions.keys()].filter((at) => !gone.has(positions[at] ?? 0) && !gone.has(said_by[at] ?? 0));
    sql.run("DELETE FROM uses WHERE what = ? AND reference = ? AND high = ?", row.what, row.reference, row.high);
    if (left.length === 0) continue;
    const [users, sayers] = [positions, said_by].map((list) => left.map((at) => list[at] as number));
    const uses = { positions: users as readonly number[], said_by: sayers as readonly number[] };
    sql.run("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?)", row.what, row.reference, ...columnsOf(uses));
  }
}
