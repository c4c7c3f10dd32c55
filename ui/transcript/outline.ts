// The rows of a session's outline: turns, where the context was compacted or cleared, and child sessions.
import type { OutlineAnswer } from "../api.js";

export type OutlineRow =
  | {
      readonly is: "turn";
      readonly position: number;
      readonly number: number;
      readonly prompt: string;
      readonly failures: number;
      readonly cost: number;
    }
  | { readonly is: "break"; readonly position: number; readonly entry: OutlineAnswer["breaks"][number] }
  | { readonly is: "child"; readonly position: number; readonly session: OutlineAnswer["children"][number] };

/** In the order of the session; a child follows the turn in which it began. */
export function outlineRows({ first_at, turns, breaks, children }: OutlineAnswer): readonly OutlineRow[] {
  const firstMs = Date.parse(first_at);
  const rows: OutlineRow[] = turns.rows.map(([position, , prompt, , failures, , cost], at) => {
    return { is: "turn", position, number: at + 1, prompt, failures, cost: cost ?? 0 };
  });
  for (const entry of breaks) rows.push({ is: "break", position: entry.position, entry });
  for (const session of children) {
    const ms = Date.parse(session.first_at) - firstMs;
    const turn = turns.rows.findLast((row) => row[1] <= ms);
    rows.push({ is: "child", position: turn?.[0] ?? 0, session });
  }
  // Sorting keeps the order of rows with one position: a turn, then its children.
  return rows.sort((one, other) => one.position - other.position);
}

/** The row of the turn that has this position, or -1 before the first. */
export function turnRowAt(rows: readonly OutlineRow[], position: number): number {
  return rows.findLastIndex((row) => row.is === "turn" && row.position <= position);
}
