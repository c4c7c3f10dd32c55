// How many proposals one session and one day may bring, so that no session fills the queue with what it was told, or decided, in passing.
import type { Evidence, MemorySource } from "../../model/memory.js";
import { parseTime } from "../../model/time.js";
import type { MemoriesById } from "../read/kept-memories.js";
import type { NamedEntries } from "./grounds.js";

/** Of each of these sources; agents, persons and models are asked by somebody. */
const FLOODING: ReadonlySet<MemorySource> = new Set(["rule:words", "decision"]);
const SESSION_MAX = 3;
const DAY_MAX = 5;
const DAY_MS = 24 * 60 * 60 * 1000;

interface Sourced {
  readonly source: MemorySource;
  readonly project: string;
  readonly evidence: readonly Evidence[];
}

/**
 * Why there are enough proposals of a source already; undefined while there are not. They count by the session and the day (UTC)
 * of the words that they rest on, whatever became of them, so that a later pass says the same.
 */
export function floodIn(
  { source, project, evidence }: Sourced,
  { named, memories }: { readonly named: NamedEntries; readonly memories: MemoriesById },
): string | undefined {
  const entry = named.get(evidence[0]?.entry_id ?? "")?.entry;
  if (entry === undefined || !FLOODING.has(source)) return undefined;
  const day = dayOf(parseTime(entry.created_at) ?? 0);
  let [inSession, onDay] = [0, 0];
  for (const memory of memories.values()) {
    const heard = memory.evidence[0];
    if (memory.source !== source || memory.project !== project || heard === undefined) continue;
    if (entry.session_id !== "" && heard.said_in === entry.session_id) inSession += 1;
    if (dayOf(heard.said_ms) === day) onDay += 1;
  }
  if (inSession >= SESSION_MAX) return `${SESSION_MAX} of this source were proposed from the session already.`;
  return onDay >= DAY_MAX ? `${DAY_MAX} of this source were proposed from this project and day already.` : undefined;
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}
