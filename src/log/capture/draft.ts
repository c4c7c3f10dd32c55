// Validates untrusted input: the result is a draft that the rest can trust, or a rejection.

import { randomFillSync } from "node:crypto";
import { SALT_BYTES } from "../../model/chain.js";
import { claimsOf } from "../../model/claims.js";
import type { CaptureKind, Kind, ReservedFieldsByKind, ReservedKind } from "../../model/entry.js";
import { Fault } from "../../model/fault.js";
import type { Field } from "../../model/fields.js";
import { parseId, parseLabel, uuidV7 } from "../../model/ids.js";
import { isJsonObject, type JsonFlaw, type JsonObject, jsonFlaw, type ValuesLeft } from "../../model/json.js";
import { commonFields, kindRules, parseKind } from "../../model/kinds.js";
import { limits } from "../../model/limits.js";
import { entryTooWide, nestingTooDeep, Rejection, reject } from "../../model/rejection.js";
import { formatTime, isCanonicalTime, parseTime } from "../../model/time.js";
import type { LogEntry } from "../port.js";

/** A parsed entry without a position. `body` has what the caller gave, in a fixed order of keys. */
export interface Draft {
  readonly kind: Kind;
  /** The caller's id; undefined to generate one. */
  readonly id: string | undefined;
  readonly body: DraftBody;
  /** Unknown fields, moved to `extra`; absent if there are none. */
  readonly unknown_fields?: readonly string[];
}

/** A draft and its number of JSON values. */
export interface GivenDraft extends Draft {
  readonly values: number;
}

/** The stored form: absent fields are left out, and without `created_at` the time of recording applies. */
type DraftBody = { [field: string]: unknown };

const NONE: readonly string[] = [];

/** Envelope fields that a caller may give; all others are fields of the kind, or extra. */
const ENVELOPE = new Set([
  ...["kind", "id", "created_at", "session_id", "project", "client", "extra"],
  ...Object.keys(commonFields),
]);

export function parseDraft(given: unknown, kindWhenAbsent?: CaptureKind): GivenDraft | Rejection {
  const plain = toPlain(given);
  if (plain instanceof Rejection) return plain;
  const { input, isFiniteOnly, values } = plain;
  const kind = parseKind(input.kind ?? kindWhenAbsent);
  if (kind instanceof Rejection) return kind;
  const rule = kindRules[kind];
  const body: DraftBody = {};
  const id = input.id === undefined || input.id === null ? undefined : parseId(input.id);
  if (id instanceof Rejection) return id;
  const envelope = parseEnvelope(input, rule.needs_session, body);
  if (envelope !== undefined) return envelope;
  const fields = rule.fields as { readonly [name: string]: Field };
  const refused = parseFields(input, commonFields, body) ?? parseFields(input, fields, body);
  if (refused !== undefined) return refused;
  const unknown_fields = parseExtra(input, fields, body);
  if (unknown_fields instanceof Rejection) return unknown_fields;
  const flaw = checkWhole(kind, body) ?? (isFiniteOnly ? undefined : finiteOnly(body));
  return flaw ?? { kind, id, body, values, ...(unknown_fields.length === 0 ? {} : { unknown_fields }) };
}

/** JSON would store such a number as null; the field's rule may have refused it already. */
function finiteOnly(body: DraftBody): Rejection | undefined {
  for (const name in body) {
    if (flawOf(body[name]).flaw === "not_finite") return notFinite(name);
  }
  return undefined;
}

interface PlainInput {
  readonly input: JsonObject;
  readonly isFiniteOnly: boolean;
  readonly values: number;
}

/** The input as JSON: programs may pass dates and objects with `toJSON`. */
function toPlain(given: unknown): PlainInput | Rejection {
  if (!isJsonObject(given)) return notAnObject();
  const seen = flawOf(given);
  if (seen.flaw !== "not_plain") return accepted(given, seen);
  let plain: unknown;
  try {
    const text = writtenAsJson(given);
    if (text instanceof Rejection) return text;
    plain = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return reject({ code: "field_invalid", field: "entry", message: `the entry is not JSON: ${reason}` });
  }
  return isJsonObject(plain) ? accepted(plain, flawOf(plain)) : notAnObject();
}

function writtenAsJson(given: object): string | Rejection {
  let field = "entry";
  let refusal: Rejection | undefined;
  // `JSON.stringify` passes the holder as `this`; values held by the given object are its fields.
  const text = JSON.stringify(given, function (this: unknown, key: string, value: unknown) {
    if (this === given) field = key;
    refusal ??= emptiedByJson(field, value);
    return value;
  });
  return refusal ?? text;
}

/** JSON would write these as `{}` and silently lose their content. */
function emptiedByJson(field: string, value: unknown): Rejection | undefined {
  const emptied = (what: string, hint: string): Rejection =>
    reject({ code: "field_invalid", field, message: `${field}: ${what} cannot be stored as JSON`, hint });
  if (value instanceof Error) return emptied("an Error", "Give its text: error.message, or error.stack.");
  if (value instanceof Map) return emptied("a Map", "Give Object.fromEntries(map).");
  return value instanceof Set ? emptied("a Set", "Give [...set].") : undefined;
}

interface Seen {
  readonly flaw: JsonFlaw | undefined;
  readonly values: number;
}

function flawOf(value: unknown): Seen {
  const left: ValuesLeft = { values: limits.entry_values };
  const flaw = jsonFlaw(value, limits.nesting_levels, left);
  return { flaw, values: limits.entry_values - left.values };
}

function accepted(input: JsonObject, { flaw, values }: Seen): PlainInput | Rejection {
  if (flaw === "too_deep") return nestingTooDeep();
  if (flaw === "too_wide") return entryTooWide();
  return { input, isFiniteOnly: flaw === undefined, values };
}

function notAnObject(): Rejection {
  return reject({ code: "field_invalid", field: "entry", message: "an entry must be a JSON object" });
}

function notFinite(field: string): Rejection {
  return reject({
    code: "field_invalid",
    field,
    message: `${field} contains a number that JSON cannot represent (NaN, or out of the range of doubles)`,
    hint: "Give it as text.",
  });
}

function parseEnvelope(input: JsonObject, needsSession: boolean, body: DraftBody): Rejection | undefined {
  const { created_at } = input;
  if (created_at !== undefined && created_at !== null) {
    const isWritten = typeof created_at === "string" && isCanonicalTime(created_at);
    const ms = isWritten || typeof created_at !== "string" ? undefined : parseTime(created_at);
    if (!isWritten && ms === undefined) {
      return reject({
        code: "time_invalid",
        field: "created_at",
        message: "created_at must be an ISO 8601 time",
        hint: "For example 2026-11-15T06:39:37.123Z; leave it out for the time of recording.",
      });
    }
    body.created_at = ms === undefined ? created_at : formatTime(ms);
  }
  for (const name of ["session_id", "project", "client"] as const) {
    const label = parseLabel(name, input[name]);
    if (label instanceof Rejection) return label;
    if (label !== "") body[name] = label;
  }
  if (needsSession && body.session_id === undefined) {
    return reject({ code: "session_id_invalid", field: "session_id", message: "session_id is needed for this kind" });
  }
  return undefined;
}

function parseFields(
  input: JsonObject,
  fields: { readonly [name: string]: Field },
  body: DraftBody,
): Rejection | undefined {
  for (const name in fields) {
    const field = fields[name] as Field;
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined || (value === null && name !== "content")) {
      if (!field.required || name === "content") continue;
      return reject({ code: "field_missing", field: name, message: `${name} is missing` });
    }
    const parsed = field.parse(value, name);
    if (parsed instanceof Rejection) return parsed;
    if (parsed !== undefined) body[name] = parsed;
  }
  return undefined;
}

/** Keeps unknown fields next to the caller's own `extra`; returns their names. */
function parseExtra(
  input: JsonObject,
  fields: { readonly [name: string]: Field },
  body: DraftBody,
): readonly string[] | Rejection {
  const given = input.extra ?? undefined;
  if (given !== undefined && !isJsonObject(given)) {
    return reject({ code: "field_invalid", field: "extra", message: "extra must be an object" });
  }
  let extra: { [name: string]: unknown } | undefined;
  let unknown: string[] | undefined;
  for (const name in input) {
    if (ENVELOPE.has(name) || Object.hasOwn(fields, name)) continue;
    if (given !== undefined && Object.hasOwn(given, name)) {
      return reject({ code: "field_invalid", field: name, message: `${name} is given twice, also in extra` });
    }
    extra ??= { ...given };
    unknown ??= [];
    unknown.push(name);
    // `__proto__` is a key like any other.
    if (name !== "__proto__") extra[name] = input[name];
    else
      Object.defineProperty(extra, name, { value: input[name], enumerable: true, writable: true, configurable: true });
  }
  if (extra !== undefined) body.extra = extra;
  else if (given !== undefined) body.extra = given;
  return unknown ?? NONE;
}

/** Rules that look at more than one field. */
function checkWhole(kind: CaptureKind, body: DraftBody): Rejection | undefined {
  return kind === "feedback" ? checkFeedback(body) : checkMessage(kind, body);
}

function checkFeedback({ score, label = "", comment = "" }: DraftBody): Rejection | undefined {
  if (score !== undefined || label !== "" || comment !== "") return undefined;
  return reject({
    code: "field_missing",
    field: "score",
    message: "feedback is empty",
    hint: "Give a score from -1 to 1, a label or a comment.",
  });
}

function checkMessage(kind: CaptureKind, body: DraftBody): Rejection | undefined {
  if (kind !== "message" || (body.content !== undefined && body.content !== null)) return undefined;
  const calls = body.tool_calls as readonly unknown[] | undefined;
  if (calls !== undefined && calls.length > 0) return undefined;
  return reject({
    code: "field_missing",
    field: "content",
    message: "content is missing",
    hint: "A message without content needs tool_calls.",
  });
}

// Turns a draft into what the log stores: body, salt and claims. Also for entries that only the log itself writes.

/** Clock, randomness, and the key that entries come in with; tests pass their own. */
export interface WriteContext {
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** The id of the key; undefined if keys are not required. */
  readonly recorded_by?: string | undefined;
}

export interface Packed {
  readonly id: string;
  readonly created_at: string;
  readonly draft: Draft;
  readonly entry: LogEntry;
}

/**
 * Encodes a text as UTF-8, with room for the salt in front. (The library's declarations must not need Node's types.)
 */
export type Room = (text: string) => Uint8Array;

export function pack(draft: Draft, writeContext: WriteContext, room: Room = ownRoom): Packed | Rejection {
  const nowMs = writeContext.nowMs();
  const id = draft.id ?? uuidV7({ nowMs, random: writeContext.randomBytes(10) });
  const text = encodeBody(id, draft);
  if (typeof text !== "string") return text;
  // Salt and body are adjacent, as they are hashed together.
  const bytes = room(text);
  bytes.set(writeContext.randomBytes(SALT_BYTES));
  const salt = bytes.subarray(0, SALT_BYTES);
  const body = bytes.subarray(SALT_BYTES);
  if (body.byteLength > limits.entry_bytes) return tooLarge(body.byteLength);
  const recorded_at = formatTime(nowMs);
  const claims = claimsOf(draft.kind, draft.body as JsonObject, id);
  return {
    id,
    created_at: (draft.body.created_at as string | undefined) ?? recorded_at,
    draft,
    entry: { kind: draft.kind, recorded_at, recorded_by: writeContext.recorded_by ?? "", salt, body, claims },
  };
}

function encodeBody(id: string, draft: Draft): string | Rejection {
  try {
    return JSON.stringify({ id, ...draft.body });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return reject({ code: "field_invalid", field: "entry", message: `the entry is not JSON: ${reason}` });
  }
}

function tooLarge(bytes: number): Rejection {
  return reject({
    code: "entry_too_large",
    message: `the entry's JSON has ${bytes} bytes; at most ${limits.entry_bytes} (16 MiB) are allowed`,
    hint: "Store large blobs elsewhere and record where they are.",
  });
}

const SHARED_ROOM_BYTES = 256 * 1024;
/** The most UTF-8 bytes per UTF-16 unit. */
const CHAR_BYTES_MAX = 3;

function ownRoom(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(SALT_BYTES + Buffer.byteLength(text));
  bytes.write(text, SALT_BYTES, "utf8");
  return bytes;
}

/**
 * Buffers for a batch of entries: thousands of single buffers would have to be allocated and collected. If a text fits
 * in any case, its bytes are not counted first.
 */
export function sharedRoom(): Room {
  let rest = Buffer.alloc(0);
  return (text) => {
    const bytesMax = SALT_BYTES + text.length * CHAR_BYTES_MAX;
    if (bytesMax > SHARED_ROOM_BYTES / 4) return ownRoom(text);
    if (bytesMax > rest.length) rest = Buffer.allocUnsafeSlow(SHARED_ROOM_BYTES);
    const end = SALT_BYTES + rest.write(text, SALT_BYTES, "utf8");
    const taken = rest.subarray(0, end);
    rest = rest.subarray(end);
    return taken;
  };
}

/** Random bytes from a pool, since asking the system for sixteen at a time costs more than the entry's hash. */
export function pooledRandomBytes(): (count: number) => Uint8Array {
  const pool = Buffer.allocUnsafe(8192);
  let used = pool.length;
  return (count) => {
    if (used + count > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = Uint8Array.prototype.slice.call(pool, used, used + count);
    used += count;
    return bytes;
  };
}

export interface OwnEntry {
  readonly id: string;
  readonly entry: LogEntry;
}

/** Packs an entry of a reserved kind. Its project is that of what it is about, and is forgotten with it. */
export function packOwn<K extends ReservedKind>(
  kind: K,
  fields: ReservedFieldsByKind[K],
  writeContext: WriteContext,
  labels: { readonly id?: string | undefined; readonly project?: string; readonly client?: string } = {},
): OwnEntry {
  const { id, project = "", client = "" } = labels;
  const where = { ...(project !== "" && { project }), ...(client !== "" && { client }) };
  const packed = pack({ kind, id, body: { ...where, ...fields } }, writeContext);
  // Only its size could be refused, and callers keep it small.
  if (packed instanceof Rejection) throw new Fault("store_failed", packed.message, { hint: packed.hint ?? "" });
  return packed;
}
