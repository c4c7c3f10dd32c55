// Timmy's session logs: one file a day, lines of four types. The file's name is the session.
import type { CaptureKind } from "../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { isRole, readRole } from "../model/roles.js";
import type { WallClock } from "../model/time.js";
import type { OccurrenceCounts } from "./identity.js";
import { ContentIds, sessionOf } from "./identity.js";
import type { ImportedEntry, ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import {
  extraOnLine,
  idOnLine,
  nativeRecord,
  ownId,
  reversible,
  type StoredForm,
  splitRecord,
  textOf,
  timeOnLine,
} from "./line-form.js";
import { LineTimes } from "./line-times.js";
import { oneByOne } from "./lines.js";

const FORMAT = "timmy";

/** The required field of each type. */
const mainFieldByType = { message: "content", tool_call: "tool", error: "error", decision: "decision" } as const;
type LineType = keyof typeof mainFieldByType;

export const timmyImporter: LineImporter = {
  format: FORMAT,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => isKnown(record) && "timestamp" in record),
  read,
};

function typeOf({ type }: JsonObject): LineType | undefined {
  return typeof type === "string" && Object.hasOwn(mainFieldByType, type) ? (type as LineType) : undefined;
}

/** Lines of an unknown type, and messages of an unknown role, are kept as they are. */
function isKnown(record: JsonObject): boolean {
  const type = typeOf(record);
  if (type === undefined || !(mainFieldByType[type] in record)) return false;
  return type !== "message" || isRole(record.role);
}

interface TimmyState {
  readonly ids: OccurrenceCounts;
  readonly last_ms: number | undefined;
}

async function* read(source: ImportSource): AsyncGenerator<ImportStep> {
  const { session_id, native_id } = sessionOf(FORMAT, source.stem);
  const known = source.resume.state as TimmyState | undefined;
  const ids = new ContentIds(FORMAT, known?.ids);
  const times = new LineTimes(source, known?.last_ms);
  source.resume.onSave((): TimmyState => ({ ids: ids.state(), last_ms: times.state() }));
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) {
      yield item;
      continue;
    }
    const { line, record } = item;
    const id = ownId(record) ?? ids.idOf(session_id, record, times.isTime(record.timestamp));
    const envelope = { id, session_id, ...times.take(record.timestamp) };
    const entry = isKnown(record)
      ? reversible(toEntry(envelope, record, native_id), record, { toLine: timmyLine, clock: source.clock })
      : { kind: "raw", ...envelope, source: FORMAT, record };
    yield { line, entry };
  }
}

function toEntry(envelope: { readonly id: string }, record: JsonObject, native_id: string | undefined): ImportedEntry {
  const kind = typeOf(record) as LineType;
  const { fields, rest } = splitRecord(kind, record);
  const { type: _, hansard_id: __, ...others } = rest;
  const extra = { ...others, ...(native_id === undefined ? {} : { native_id }) };
  const main = mainFieldByType[kind];
  return {
    kind,
    ...envelope,
    ...fields,
    [main]: fields[main] ?? textOf(record[main]),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** The text that Timmy writes if there is none. */
const emptyByKind: { readonly [K in LineType]: JsonObject } = {
  message: {},
  tool_call: { args: {}, result: "" },
  error: { context: null },
  decision: { rationale: null },
};

/** A line of Timmy's log; undefined for entries that the format has no form for. */
export function timmyLine(form: StoredForm, clock: WallClock): JsonObject | undefined {
  const { kind, body } = form;
  if (kind === "raw") return body.source === FORMAT && isJsonObject(body.record) ? body.record : undefined;
  if (!Object.hasOwn(mainFieldByType, kind)) return undefined;
  const native = nativeRecord(body);
  if (native !== undefined && form.id.startsWith(`${FORMAT}:`)) return native;
  const { fields } = splitRecord(kind as CaptureKind, body);
  const known = {
    type: kind,
    ...fields,
    ...absentFrom(fields, emptyByKind[kind as LineType]),
    ...(kind === "message" ? { role: speaker(body.role), content: body.content ?? "" } : {}),
    timestamp: timeOnLine(form, clock),
    ...idOnLine(form, FORMAT),
  };
  return { ...known, ...extraOnLine(form, known) };
}

function absentFrom(fields: JsonObject, empty: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(empty).filter(([name]) => fields[name] === undefined));
}

function speaker(role: JsonValue | undefined): string {
  const read = readRole(String(role));
  return read === "assistant" ? "timmy" : read;
}
