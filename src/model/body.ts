// The body of an entry: how it is read back from its bytes, with absent fields filled in, and which bodies a redaction erases.
import type { AlteredEntry, Entry, ErasedEntry, Kind } from "./entry.js";
import { corruptEntry } from "./fault.js";
import { hexOf } from "./hex.js";
import { isJsonObject, type JsonObject } from "./json.js";
import { commonFields, fieldsOf } from "./kinds.js";

export interface StoredParts {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by?: string | undefined;
  readonly hash: Uint8Array;
  readonly body?: Uint8Array;
  readonly flaw?: string;
}

/** What the chain knows of an entry, with its hash in hexadecimal. */
interface PlacedParts {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by?: string | undefined;
  readonly hash: string;
}

export function parseBody(position: number, bytes: Uint8Array): JsonObject {
  return parseBodyText(position, bodyText(bytes));
}

function bodyText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

export function parseBodyText(position: number, text: string): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw corruptEntry(position, "its body does not parse", cause);
  }
  if (!isJsonObject(body) || typeof body.id !== "string") throw corruptEntry(position, "its body is not an entry");
  return body;
}

/** The entry as readers see it: envelope and fields in one object. */
export function toEntry(stored: StoredParts): Entry | ErasedEntry {
  if (stored.flaw !== undefined) throw corruptEntry(stored.position, stored.flaw);
  if (stored.body === undefined) return { ...bareEnvelope({ ...stored, hash: hexOf(stored.hash) }), erased: true };
  return bodyToEntry({ ...stored, hash: hexOf(stored.hash) }, parseBody(stored.position, stored.body));
}

/** What labels that were not given read as. */
const NO_LABELS = { user_id: "", tags: [], parent_id: "" } as const;

export function bodyToEntry(stored: PlacedParts, body: JsonObject): Entry {
  const entry = {
    position: stored.position,
    id: body.id as string,
    kind: stored.kind as Kind,
    created_at: (body.created_at as string | undefined) ?? stored.recorded_at,
    recorded_at: stored.recorded_at,
    recorded_by: stored.recorded_by ?? "",
    session_id: (body.session_id as string | undefined) ?? "",
    project: (body.project as string | undefined) ?? "",
    client: (body.client as string | undefined) ?? "",
    ...NO_LABELS,
    hash: stored.hash,
    ...fillFields(stored.kind, body),
  };
  return entry as unknown as Entry;
}

/** The entry as lists show it if its body is not the one that was recorded. */
export function toAltered(stored: PlacedParts): AlteredEntry {
  return { ...bareEnvelope(stored), altered: true };
}

/** What the chain itself holds; id and labels were in the body. */
function bareEnvelope(stored: PlacedParts): Omit<ErasedEntry, "erased"> {
  return {
    position: stored.position,
    id: "",
    kind: stored.kind as Kind,
    created_at: stored.recorded_at,
    recorded_at: stored.recorded_at,
    recorded_by: stored.recorded_by ?? "",
    session_id: "",
    project: "",
    client: "",
    ...NO_LABELS,
    hash: stored.hash,
  };
}

/** The fields of the kind and `extra`; absent ones get the defaults of docs/reference/entries.md. */
export function fillFields(kind: string, body: JsonObject): JsonObject {
  const filled: { [name: string]: unknown } = {};
  const fields = fieldsOf(kind);
  for (const name in fields) {
    const value = body[name] ?? fields[name]?.empty;
    if (value !== undefined) filled[name] = value;
  }
  for (const name in commonFields) {
    if (body[name] !== undefined) filled[name] = body[name];
  }
  filled.extra = body.extra ?? {};
  return filled as JsonObject;
}

/** No redaction erases entries of these kinds, because they record what was done to the log. */
export const lastingKinds: readonly string[] = ["redaction", "audit"];

/** The positions that an entry erases: none unless it is a redaction, and never its own or a later one. */
export function erasedBy(entry: {
  readonly position: number;
  readonly kind: string;
  readonly body?: Uint8Array;
}): readonly number[] {
  const { position, kind, body } = entry;
  return kind !== "redaction" || body === undefined ? [] : namedIn(position, parseBody(position, body));
}

/** What an audit entry says was done when a session was derived again by a newer version. */
export const REPLACED = "session_replaced";

/** The positions that views leave out from an entry on: erased ones, and those that a newer derivation replaced. */
export function droppedBy(position: number, kind: string, body: JsonObject): readonly number[] {
  if (kind === "redaction") return namedIn(position, body);
  if (kind !== "audit" || body.action !== REPLACED || !isJsonObject(body.extra)) return [];
  return namedIn(position, { positions: body.extra.replaced ?? [] });
}

/** The same for a body that is parsed already. */
export function namedIn(position: number, body: JsonObject): readonly number[] {
  const { positions } = body;
  if (!Array.isArray(positions)) return [];
  const earlier = positions.filter((named) => Number.isSafeInteger(named) && named >= 1 && named < position);
  return [...new Set(earlier as readonly number[])];
}
