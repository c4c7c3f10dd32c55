// What the index keeps of an entry, derived from its body alone.

import { isDeepStrictEqual } from "node:util";
import type { EntryLog, StoredBody } from "../log/port.js";
import { fillFields } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import { isMemoryKind } from "../model/entry.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { parseTime } from "../model/time.js";
import { callFactsOf } from "./call-fold.js";
import type { EntryIndex, EntryRow, Reference } from "./port.js";
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
function aboutOf(kind: string, { interaction_id, entry_id }: JsonObject): string | undefined {
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

// The rows that an index has of entries, made from their bodies; and which rows of an index are not those.

/** In the order of the bodies; a body that is none that was recorded has no row. */
export async function rowsOfBodies(
  log: Pick<EntryLog, "find">,
  bodies: readonly PlacedBody[],
): Promise<readonly EntryRow[]> {
  const ids = bodies.flatMap(({ kind, body }) => aboutOf(kind, body) ?? []);
  const positions = ids.length === 0 ? [] : await log.find(ids.map(idClaim));
  const positionById = new Map(ids.map((id, index) => [id, positions[index]]));
  return bodies.flatMap((placed) => {
    const about = aboutOf(placed.kind, placed.body);
    return toEntryRow(placed, about === undefined ? undefined : positionById.get(about)) ?? [];
  });
}

interface RowComparison {
  /** What the log makes of those that have a body. */
  readonly rows: readonly EntryRow[];
  /** Positions, in order, at which the index has another row, none, or one where there should be none. */
  readonly mismatched: readonly number[];
}

/**
 * Compares the rows of entries with what the log makes of them; the index has come to all of them. Of an altered entry the log
 * can make nothing, and the row that the index has is taken as it is.
 */
export async function compareRows(
  { log, index }: { readonly log: Pick<EntryLog, "find">; readonly index: Pick<EntryIndex, "rowsAt"> },
  stored: readonly StoredBody[],
): Promise<RowComparison> {
  const made = await rowsOfBodies(
    log,
    stored.flatMap((one) => readableBody(one) ?? []),
  );
  const found = new Map((await index.rowsAt(stored.map(({ position }) => position))).map((row) => [row.position, row]));
  const kept = stored.flatMap(({ flaw, position }) => (flaw === undefined ? [] : (found.get(position) ?? [])));
  const rows = kept.length === 0 ? made : [...made, ...kept].sort((left, right) => left.position - right.position);
  const expected = new Map(rows.map((row) => [row.position, row]));
  const strange = stored
    .map(({ position }) => position)
    .filter((position) => !isSameRow(expected.get(position), found.get(position)));
  return { rows, mismatched: strange };
}

/** References are a set, and those that count for an entry which is gone are not kept. */
function isSameRow(expected: EntryRow | undefined, found: EntryRow | undefined): boolean {
  if (expected === undefined || found === undefined) return expected === found;
  const { references, ...row } = expected;
  const { references: kept, ...own } = found;
  return isDeepStrictEqual(row, own) && (row.about !== undefined || isSameSet(references, kept));
}

function isSameSet(some: readonly Reference[], others: readonly Reference[]): boolean {
  const names = new Set(some.map(nameOf));
  return new Set(others.map(nameOf)).size === names.size && others.every((one) => names.has(nameOf(one)));
}

function nameOf({ what, reference }: Reference): string {
  return `${what}:${reference}`;
}
