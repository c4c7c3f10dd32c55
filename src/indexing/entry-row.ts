// What the index keeps of an entry, derived from its body alone.
import { isJsonObject, type JsonObject } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { parseTime } from "../model/time.js";
import type { EntryRow, SessionInfo } from "../ports/entry-index.js";

/** What a row is made from: where the entry stands in the log, and its body as it was parsed. */
export interface PlacedBody {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly body: JsonObject;
}

/** The row, or undefined where the body is not one that was recorded: a damaged one may parse and still be none. */
export function toEntryRow(
  { position, kind, recorded_at, body }: PlacedBody,
  completes?: number,
): EntryRow | undefined {
  const { created_at = recorded_at, session_id = "", project = "", client = "" } = body;
  const created_ms = typeof created_at === "string" ? parseTime(created_at) : undefined;
  if (created_ms === undefined || typeof body.id !== "string") return undefined;
  if (typeof session_id !== "string" || typeof project !== "string" || typeof client !== "string") return undefined;
  const uses = kind === "interaction" || kind === "response";
  const memories = uses ? toReferences(body.memories_used) : [];
  const chunks = uses ? toReferences(body.chunks_used) : [];
  if (memories === undefined || chunks === undefined) return undefined;
  const row = { position, kind, created_ms, session_id, project, client, memories, chunks };
  if (completes !== undefined) return { ...row, completes };
  if (kind === "message") return { ...row, role: readRole(body.role as string) };
  if (kind === "consolidation") return { ...row, through: body.through as number };
  return kind === "session_info" ? { ...row, info: toSessionInfo(body) } : row;
}

function toReferences(list: unknown): readonly string[] | undefined {
  if (list === undefined) return [];
  return Array.isArray(list) && list.every((reference) => typeof reference === "string") ? list : undefined;
}

/** What was not given, or is empty, says nothing about the session. */
function toSessionInfo({ title, parent, metadata }: JsonObject): SessionInfo {
  return {
    ...(typeof title === "string" && title !== "" ? { title } : {}),
    ...(typeof parent === "string" && parent !== "" ? { parent } : {}),
    metadata: isJsonObject(metadata) ? metadata : {},
  };
}
