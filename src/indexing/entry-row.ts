// What the index keeps of an entry, derived from the entry alone.
import type { Entry } from "../model/entry.js";
import { parseTime } from "../model/time.js";
import type { EntryRow } from "../ports/entry-index.js";

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
  };
}
