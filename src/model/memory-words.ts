// Entries about memories in a line, as every surface says it.
import type { MemoryFieldsByKind } from "./memory-fields.js";

/** Which memory, by whom, and why where somebody said so. */
export function verdictWords({ memory_id, actor, reason }: MemoryFieldsByKind["memory_promoted"]): string {
  return `${memory_id} by ${actor}${reason === "" ? "" : `: ${reason}`}`;
}

const uses = ["given", "used", "confirmed"] as const;

export function reinforcedWords({ turn_id, memories }: MemoryFieldsByKind["memory_reinforced"]): string {
  const counts = uses.map((use) => [use, memories.filter((memory) => memory[use] === true).length] as const);
  const said = counts.filter(([, count]) => count > 0).map(([use, count]) => `${count} ${use}`);
  return `${said.join(", ")} in ${turn_id}`;
}
