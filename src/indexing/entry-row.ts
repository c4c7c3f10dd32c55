// What the index keeps of an entry, derived from the entry alone.
import type { Entry, EntryOf } from "../model/entry.js";
import { readRole } from "../model/roles.js";
import { parseTime } from "../model/time.js";
import type { EntryRow, SessionInfo } from "../ports/entry-index.js";

/** Whether an entry has the shape it was recorded in; a damaged body may parse and still be none. */
export function isSound(entry: Entry): boolean {
  const labels = [entry.session_id, entry.project, entry.client];
  if (parseTime(entry.created_at) === undefined || !labels.every((label) => typeof label === "string")) return false;
  if (entry.kind !== "interaction" && entry.kind !== "response") return true;
  return [entry.memories_used, entry.chunks_used].every(
    (list) => Array.isArray(list) && list.every((reference) => typeof reference === "string"),
  );
}

export function toEntryRow(entry: Entry, completes: number | undefined): EntryRow {
  const uses = entry.kind === "interaction" || entry.kind === "response";
  return {
    position: entry.position,
    kind: entry.kind,
    created_ms: parseTime(entry.created_at) as number,
    session_id: entry.session_id,
    project: entry.project,
    client: entry.client,
    memories: uses ? entry.memories_used : [],
    chunks: uses ? entry.chunks_used : [],
    ...(completes === undefined ? {} : { completes }),
    ...(entry.kind === "message" ? { role: readRole(entry.role) } : {}),
    ...(entry.kind === "consolidation" ? { through: entry.through } : {}),
    ...(entry.kind === "session_info" ? { info: toSessionInfo(entry) } : {}),
  };
}

/** What reads as empty was not given, and says nothing about the session. */
function toSessionInfo(entry: EntryOf<"session_info">): SessionInfo {
  return {
    ...(entry.title === "" ? {} : { title: entry.title }),
    ...(entry.parent === "" ? {} : { parent: entry.parent }),
    metadata: entry.metadata,
  };
}
