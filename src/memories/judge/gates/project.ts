// The last gate: a memory belongs to the project of what it quotes, whatever its proposer says.
import type { Evidence, MemorySource, MemoryType } from "../../../model/memory.js";
import type { Ground } from "../ground.js";
import type { Gate } from "./gate.js";

/** What may hold everywhere. */
const globalTypes: ReadonlySet<MemoryType> = new Set<MemoryType>(["preference", "identity"]);

interface Placed {
  readonly type: MemoryType;
  readonly source: MemorySource;
  readonly evidence: readonly Evidence[];
  readonly project: string;
}

export const project: Gate = (trial, { ground }) => {
  const projects = projectsOf(trial, ground);
  const own = projectOf(trial, ground);
  if (own === undefined) {
    return {
      dropped: `Its evidence is from several projects (${projects.join(", ")}), so that it belongs to none of them.`,
    };
  }
  if (own === "" && !globalTypes.has(trial.type) && trial.source !== "person") {
    return { dropped: "What it quotes has no project, and only preferences and identity may hold everywhere." };
  }
  return { passed: { ...trial, project: own } };
};

/**
 * The project that a proposal belongs to; undefined where its evidence is of several, and it cannot hold everywhere.
 * Only a person without evidence is taken at their word.
 */
export function projectOf(placed: Placed, ground: Ground): string | undefined {
  if (placed.evidence.length === 0) return placed.source === "person" ? placed.project : "";
  return projectAmong(projectsOf(placed, ground), placed.type);
}

/** The one that evidence of these projects leads to; undefined where there is none. */
export function projectAmong(projects: readonly string[], type: MemoryType): string | undefined {
  if (projects.length <= 1) return projects[0] ?? "";
  return globalTypes.has(type) ? "" : undefined;
}

/** The projects of the evidence without repetition; an entry without a project is one of none. */
function projectsOf({ evidence }: Placed, { entriesById }: Ground): readonly string[] {
  return [...new Set(evidence.map(({ entry_id }) => entriesById.get(entry_id)?.project ?? ""))];
}
