// What the formats of nanobot and Timmy have in common: lines of JSON without ids, which export restores exactly.
import { valueText } from "../model/content.js";
import type { CaptureKind } from "../model/entry.js";
import type { Field } from "../model/fields.js";
import { parseId } from "../model/ids.js";
import { isJsonObject, type JsonObject, type JsonValue, jsonEquals } from "../model/json.js";
import { kindRules } from "../model/kinds.js";
import { Rejection } from "../model/rejection.js";
import type { WallClock } from "../model/time.js";
import type { ImportedEntry } from "./importer.js";

/** An entry to export, with its body as stored: null and absent fields stay so. */
export interface StoredForm {
  readonly id: string;
  readonly kind: string;
  readonly created_ms: number;
  readonly body: JsonObject;
}

/** Writes an entry as a line of a format; undefined if the format has no form for it. */
export type ToLine = (form: StoredForm, clock: WallClock) => JsonObject | undefined;

/**
 * Splits a record into the fields of a kind, converted to text where the kind accepts nothing else, and all other keys.
 */
export function splitRecord(
  kind: CaptureKind,
  record: JsonObject,
): { readonly fields: { [name: string]: JsonValue }; readonly rest: { [key: string]: JsonValue } } {
  const rules = kindRules[kind].fields as { readonly [name: string]: Field };
  const fields: [string, JsonValue][] = [];
  const rest: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(record)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) rest.push([name, value]);
    else if (value !== null) {
      // Fields of a session are never converted to text: `parent` would be wrong.
      const forms = kind === "session_info" ? [value] : [value, textOf(value)];
      const taken = forms.find((form) => !(rule.parse(form, name) instanceof Rejection));
      if (taken !== undefined) fields.push([name, taken]);
    }
  }
  // Defines properties, because a key called __proto__ must stay a key.
  return { fields: Object.fromEntries(fields), rest: Object.fromEntries(rest) };
}

/** The text that a kind requires, from the line's value of any type. */
export function textOf(value: JsonValue | undefined): string {
  return value === null ? "" : valueText(value);
}

/** A line that Hansard wrote carries the id of the entry it came from. */
export function ownId(record: JsonObject): string | undefined {
  const { hansard_id } = record;
  return typeof hansard_id === "string" && !(parseId(hansard_id) instanceof Rejection) ? hansard_id : undefined;
}

/** The id on an exported line; none if importing the line yields the same one again. */
export function idOnLine(form: StoredForm, format: string): JsonObject {
  return form.id.startsWith(`${format}:`) ? {} : { hansard_id: form.id };
}

/**
 * The entry, with the whole record in `extra.native_record` if its fields alone would not restore the line: an export
 * has to return exactly what the program wrote.
 */
export function reversible(
  entry: ImportedEntry,
  record: JsonObject,
  way: { readonly toLine: ToLine; readonly clock: WallClock },
): ImportedEntry {
  const { kind, id, created_at, ...body } = entry;
  const form = { kind, id, created_ms: Date.parse(String(created_at)), body: body as JsonObject };
  if (jsonEquals(way.toLine(form, way.clock), record)) return entry;
  const extra = isJsonObject(entry.extra) ? entry.extra : {};
  return { ...entry, extra: { ...extra, native_record: record } };
}

/** The original record, if it was kept. */
export function nativeRecord(body: JsonObject): JsonObject | undefined {
  const { extra } = body;
  return isJsonObject(extra) && isJsonObject(extra.native_record) ? extra.native_record : undefined;
}

/** Fields in `extra` that the format does not know, without those that would overwrite known ones. */
export function extraOnLine({ kind, body }: StoredForm, known: JsonObject): JsonObject {
  if (!isJsonObject(body.extra)) return {};
  const taken = { ...kindRules[kind as CaptureKind].fields, ...known, native_record: null, native_id: null };
  return Object.fromEntries(Object.entries(body.extra).filter(([key]) => !Object.hasOwn(taken, key)));
}

/** The time on a line: the original one, otherwise the entry's in local time. */
export function timeOnLine(form: StoredForm, clock: WallClock): JsonValue {
  const { extra } = form.body;
  if (isJsonObject(extra) && extra.timestamp !== undefined) return extra.timestamp;
  return clock.format(form.created_ms);
}
