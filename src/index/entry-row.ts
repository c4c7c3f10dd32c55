// The index row of an entry, derived from its body; and which rows of an index differ from that.

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
import { carries, HAS_ALTERED, referencesOf } from "./references.js";

/** The input for a row: the entry's position and its parsed body. */
export interface PlacedBody {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly body: JsonObject;
}

/** Erased entries have no row; altered ones a bare row, see below. */
export function readableBody(stored: StoredBody): PlacedBody | undefined {
  const { position, kind, recorded_at, body: text } = stored;
  const body = parseJsonObject(text);
  return body === undefined ? undefined : { position, kind, recorded_at, body };
}

/** The row; undefined if the body is not a recorded one: damaged bodies may parse. */
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
 * The row of an altered entry, from what the chain has, so lists can show it. An entry altered after it was indexed
 * keeps its row.
 */
export function toAlteredRow({ position, kind, recorded_at, flaw }: StoredBody): EntryRow | undefined {
  const created_ms = flaw === undefined ? undefined : parseTime(recorded_at);
  if (created_ms === undefined) return undefined;
  return { position, kind, created_ms, session_id: "", project: "", client: "", references: [HAS_ALTERED] };
}

/** Folds ignore such rows. */
export function isAlteredRow(row: EntryRow): boolean {
  return carries(row, HAS_ALTERED);
}

/** Facts for folds, besides what every row has. */
function factsOf(kind: string, body: JsonObject): JsonObject | undefined {
  const { through, withdraws, entry_id } = body;
  if (kind === "session_info") return toSessionInfo(body);
  if (kind === "withdrawal" && typeof withdraws === "number") return { withdraws };
  if (kind === "feedback" && typeof entry_id === "string") return { entry_id };
  if (isMemoryKind(kind)) return fillFields(kind, body);
  const call = callFactsOf(kind, body) as JsonObject | undefined;
  if (kind === "consolidation" && typeof through === "number") return { through, ...(call && { call }) };
  return call && { call };
}

/** The id of the entry that this entry counts for. */
function aboutOf(kind: string, { interaction_id, entry_id }: JsonObject): string | undefined {
  if (kind === "response") return String(interaction_id);
  return kind === "feedback" ? String(entry_id) : undefined;
}

/** Missing and empty fields say nothing about the session. */
function toSessionInfo({ title, parent, metadata }: JsonObject): JsonObject {
  return {
    ...(typeof title === "string" && title !== "" ? { title } : {}),
    ...(typeof parent === "string" && parent !== "" ? { parent } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
}

/** In order of the bodies; invalid bodies have no row. */
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
  /** Expected rows of entries that have a body. */
  readonly rows: readonly EntryRow[];
  /** Positions, in order, where the index has a different, missing or superfluous row. */
  readonly mismatched: readonly number[];
}

/**
 * Compares index rows with those derived from the log; all entries must be indexed. Rows of altered entries are
 * accepted as they are, since nothing can be derived from them.
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

/** References are a set, and those that count for a missing entry are not stored. */
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
