// Which interactions used a memory or a chunk. What is used is used again and again, so that the uses of one batch lie
// together in a row: a row for each of them would cost as much as all other rows and indexes of the entry.
import type { EntryRow } from "../../ports/entry-index.js";
import type { Statements } from "./statements.js";

/** Positions of the interactions, and beside each the entry that says so: itself, or the response that completed it. */
interface Uses {
  low: number;
  readonly positions: number[];
  readonly said_by: number[];
}

interface StoredUses {
  readonly what: string;
  readonly reference: string;
  readonly high: number;
  readonly positions: string;
  readonly said_by: string;
}

/** A condition on `position`, with what and reference to be bound. */
export const IS_USER = "position IN (SELECT value FROM uses, json_each(positions) WHERE what = ? AND reference = ?)";

export function addUses(sql: Statements, rows: readonly EntryRow[]): void {
  for (const what of ["memory", "chunk"] as const) {
    const byReference = new Map<string, Uses>();
    for (const row of rows) {
      for (const reference of what === "memory" ? row.memories : row.chunks) note(byReference, reference, row);
    }
    for (const [reference, { low, positions, said_by }] of byReference) {
      const lists = [JSON.stringify(positions), JSON.stringify(said_by)];
      sql.run("INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?)", what, reference, low, said_by.at(-1), ...lists);
    }
  }
}

function note(byReference: Map<string, Uses>, reference: string, row: EntryRow): void {
  const user = row.completes ?? row.position;
  const known = byReference.get(reference) ?? { low: user, positions: [], said_by: [] };
  if (known.positions.length === 0) byReference.set(reference, known);
  // An entry may name the same one twice.
  if (known.said_by.at(-1) === row.position) return;
  known.low = Math.min(known.low, user);
  known.positions.push(user);
  known.said_by.push(row.position);
}

export function eraseUses(sql: Statements, erased: readonly number[]): void {
  const gone = new Set(erased);
  const range = [
    erased.reduce((low, position) => Math.min(low, position)),
    erased.reduce((high, position) => Math.max(high, position)),
  ];
  for (const row of sql.all<StoredUses>("SELECT * FROM uses WHERE high >= ? AND low <= ?", ...range)) {
    const positions = JSON.parse(row.positions) as readonly number[];
    const saidBy = JSON.parse(row.said_by) as readonly number[];
    const left = [...positions.keys()].filter((at) => !gone.has(positions[at] ?? 0) && !gone.has(saidBy[at] ?? 0));
    if (left.length === positions.length) continue;
    const key = [row.what, row.reference, row.high];
    if (left.length === 0) sql.run("DELETE FROM uses WHERE what = ? AND reference = ? AND high = ?", ...key);
    else {
      const lists = [positions, saidBy].map((list) => JSON.stringify(left.map((at) => list[at])));
      const text = "UPDATE uses SET positions = ?, said_by = ? WHERE what = ? AND reference = ? AND high = ?";
      sql.run(text, ...lists, ...key);
    }
  }
}
