// What the ancestors' files have in common: lines of JSON without ids, and a way back to the very same lines.
import { valueText } from "../model/content.js";
import type { CaptureKind } from "../model/entry.js";
import type { Field } from "../model/fields.js";
import { parseId } from "../model/ids.js";
import { isJsonObject, type JsonObject, type JsonValue, jsonEquals } from "../model/json.js";
import { kindRules } from "../model/kinds.js";
import { Rejection } from "../model/rejection.js";
import type { WallClock } from "../model/time.js";
import type { ImportedEntry } from "./importer.js";

/** An entry on its way out: its body as it is stored, so that what was null or absent still is. */
export interface StoredForm {
  readonly id: string;
  readonly kind: string;
  readonly created_ms: number;
  readonly body: JsonObject;
}

/** How a format writes an entry as a line; undefined where it has no place for it. */
export type ToLine = (form: StoredForm, clock: WallClock) => JsonObject | undefined;

/** The fields of a kind that the record has, in words where the kind takes no other shape, and all other keys. */
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
      // What is known of a session leads to others, which words would not.
      const forms = kind === "session_info" ? [value] : [value, textOf(value)];
      const taken = forms.find((form) => !(rule.parse(form, name) instanceof Rejection));
      if (taken !== undefined) fields.push([name, taken]);
    }
  }
  // Defines properties, so that a key called __proto__ stays a key.
  return { fields: Object.fromEntries(fields), rest: Object.fromEntries(rest) };
}

/** Text that a kind requires, of whatever a line has there instead. */
export function textOf(value: JsonValue | undefined): string {
  return value === null ? "" : valueText(value);
}

/** A line that Hansard wrote carries the id of the entry it came from. */
export function ownId(record: JsonObject): string | undefined {
  const { hansard_id } = record;
  return typeof hansard_id === "string" && !(parseId(hansard_id) instanceof Rejection) ? hansard_id : undefined;
}

/** The id that a line carries on its way out: none where reading the line gives the same one again. */
export function idOnLine(form: StoredForm, format: string): JsonObject {
  return form.id.startsWith(`${format}:`) ? {} : { hansard_id: form.id };
}

/**
 * The entry, with the whole record in `extra.native_record` where the fields alone would not lead back to it: what
 * the program at home wrote must come out again as it was, however odd.
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

/** The record as it came in, where it was kept whole. */
export function nativeRecord(body: JsonObject): JsonObject | undefined {
  const { extra } = body;
  return isJsonObject(extra) && isJsonObject(extra.native_record) ? extra.native_record : undefined;
}

/** What the format does not know, without names that would overwrite what it does. */
export function extraOnLine({ kind, body }: StoredForm, known: JsonObject): JsonObject {
  if (!isJsonObject(body.extra)) return {};
  const taken = { ...kindRules[kind as CaptureKind].fields, ...known, native_record: null, native_id: null };
  return Object.fromEntries(Object.entries(body.extra).filter(([key]) => !Object.hasOwn(taken, key)));
}

/** The time on a line: the one it came in with, else that of the entry on the wall's clock. */
export function timeOnLine(form: StoredForm, clock: WallClock): JsonValue {
  const { extra } = form.body;
  if (isJsonObject(extra) && extra.timestamp !== undefined) return extra.timestamp;
  return clock.format(form.created_ms);
}
