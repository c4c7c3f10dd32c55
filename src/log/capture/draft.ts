// Validates untrusted input: the result is a draft that the rest can trust, or a rejection.
import type { CaptureKind, Kind } from "../../model/entry.js";
import type { Field } from "../../model/fields.js";
import { parseId, parseLabel } from "../../model/ids.js";
import { isJsonObject, type JsonFlaw, type JsonObject, jsonFlaw, type ValuesLeft } from "../../model/json.js";
import { commonFields, kindRules, parseKind } from "../../model/kinds.js";
import { limits } from "../../model/limits.js";
import { entryTooWide, nestingTooDeep, Rejection, reject } from "../../model/rejection.js";
import { formatTime, isCanonicalTime, parseTime } from "../../model/time.js";

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
    message: `${field} holds a number that JSON cannot (NaN, or one beyond the range of doubles)`,
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
    body[name] = parsed;
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
