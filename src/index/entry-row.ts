// What the index keeps of an entry, derived from its body alone.

import type { StoredBody } from "../log/port.js";
import { fillFields } from "../model/body.js";
import { isMemoryKind } from "../model/entry.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { parseTime } from "../model/time.js";
import { callFactsOf } from "./call-facts.js";
import type { EntryRow } from "./port.js";
import { HAS_ALTERED, referencesOf } from "./references.js";

/** What a row is made from: where the entry stands in the log, and its body as it was parsed. */
export interface PlacedBody {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly body: JsonObject;
}

/** An erased entry has no row; an altered one has a bare row, see below. */
export function readableBody(stored: StoredBody): PlacedBody | undefined {
  const { position, kind, recorded_at, body: text } = stored;
  const body = parseJsonObject(text);
  return body === undefined ? undefined : { position, kind, recorded_at, body };
}

/** The row, or undefined where the body is not one that was recorded: a damaged one may parse and still be none. */
export function toEntryRow({ position, kind, recorded_at, body }: PlacedBody, about?: number): EntryRow | undefined {
  const { created_at = recorded_at, session_id = "", project = "", client = "" } = body;
  const created_ms = typeof created_at === "string" ? parseTime(created_at) : undefined;
  if (created_ms === undefined || typeof body.id !== "string") return undefined;
  if (typeof session_id !== "string" || typeof project !== "string" || typeof client !== "string") return undefined;
  const references = referencesOf(kind, body);
  if (references === undefined) return undefined;
  const facts = factsOf(kind, body);
  return {
    position,
    kind,
    created_ms,
    session_id,
    project,
    client,
    references,
    ...(about === undefined ? {} : { about }),
    ...(kind === "message" ? { role: readRole(body.role as string) } : {}),
    ...(facts === undefined ? {} : { facts }),
  };
}

/**
 * The row of an entry whose body is not the one that was recorded: what the chain says of it, so that lists show it as altered.
 * Where it was altered after it was indexed, it keeps the row that it had.
 */
export function toAlteredRow({ position, kind, recorded_at, flaw }: StoredBody): EntryRow | undefined {
  const created_ms = flaw === undefined ? undefined : parseTime(recorded_at);
  if (created_ms === undefined) return undefined;
  return { position, kind, created_ms, session_id: "", project: "", client: "", references: [HAS_ALTERED] };
}

/** Folds make nothing of such a row. */
export function isAlteredRow({ references }: EntryRow): boolean {
  return references.some(({ what, reference }) => what === HAS_ALTERED.what && reference === HAS_ALTERED.reference);
}

/** What a fold needs of an entry beside what every row has. */
function factsOf(kind: string, body: JsonObject): JsonObject | undefined {
  const { through, withdraws, entry_id } = body;
  if (kind === "session_info") return toSessionInfo(body);
  if (kind === "consolidation" && typeof through === "number") return { through };
  if (kind === "withdrawal" && typeof withdraws === "number") return { withdraws };
  if (kind === "feedback" && typeof entry_id === "string") return { entry_id };
  if (isMemoryKind(kind)) return fillFields(kind, body);
  const call = callFactsOf(kind, body);
  return call === undefined ? undefined : { call: call as JsonObject };
}

/** The id of the entry that an entry is about, whose row it counts for. */
export function aboutOf(kind: string, { interaction_id, entry_id }: JsonObject): string | undefined {
  if (kind === "response") return String(interaction_id);
  return kind === "feedback" ? String(entry_id) : undefined;
}

/** What was not given, or is empty, says nothing about the session. */
function toSessionInfo({ title, parent, metadata }: JsonObject): JsonObject {
  return {
    ...(typeof title === "string" && title !== "" ? { title } : {}),
    ...(typeof parent === "string" && parent !== "" ? { parent } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
}
