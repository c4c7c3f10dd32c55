// nanobot's sessions: one file each, a header line with the session's key, then its messages.
import { isJsonObject, type JsonObject } from "../model/json.js";
import { isRole, readRole } from "../model/roles.js";
import type { WallClock } from "../model/time.js";
import type { OccurrenceCounts } from "./identity.js";
import { ContentIds, hashedId, sessionOf } from "./identity.js";
import type { ImportedEntry, ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import {
  extraOnLine,
  idOnLine,
  nativeRecord,
  ownId,
  reversible,
  type StoredForm,
  splitRecord,
  timeOnLine,
} from "./line-form.js";
import { LineTimes } from "./line-times.js";
import { oneByOne } from "./lines.js";

const FORMAT = "nanobot";

export const nanobotImporter: LineImporter = {
  format: FORMAT,
  reads: "lines",
  recognises: ({ records }: Opening) =>
    records.some(isHeader) || records.some((record) => isMessage(record) && isBare(record)),
  read,
};

/** Only a line with the metadata type and without a role is the header; a message may contain anything. */
function isHeader(record: JsonObject): boolean {
  return record._type === "metadata" && record.role === undefined;
}

function isMessage(record: JsonObject): boolean {
  return typeof record.role === "string" && ("content" in record || "tool_calls" in record);
}

/** Other programs write messages of this form too, but name the session on each line. */
function isBare(record: JsonObject): boolean {
  return ["type", "sessionID", "sessionId", "session_id", "conversation_id"].every((name) => !(name in record));
}

async function* read(source: ImportSource): AsyncGenerator<ImportStep> {
  const known = source.resume.state as SessionFileState | undefined;
  const header = source.opening.records.find(isHeader);
  let session = new SessionFile(source, known?.key ?? textKey(header) ?? source.stem, known);
  source.resume.onSave(() => session.state());
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) {
      // It once was a message, and the count of consolidated messages includes it.
      session.skip();
      yield item;
    } else if (isHeader(item.record)) {
      if (session.hasHeader) {
        // Concatenated files: another session begins.
        yield* session.end();
        session = new SessionFile(source, textKey(item.record) ?? source.stem);
      }
      yield session.header(item.line, item.record);
    } else yield session.message(item.line, item.record);
  }
  yield* session.end();
}

function textKey(header: JsonObject | undefined): string | undefined {
  return typeof header?.key === "string" && header.key !== "" ? header.key : undefined;
}

interface SessionFileState {
  readonly key: string;
  readonly ids: OccurrenceCounts;
  readonly last_ms: number | undefined;
  readonly header: { readonly line: number; readonly record: JsonObject } | undefined;
  readonly messages: number;
  readonly through: number;
  readonly through_message: number;
}

/** One session during import, from its header to its last message. */
class SessionFile {
  readonly #key: string;
  readonly #session: ReturnType<typeof sessionOf>;
  readonly #ids: ContentIds;
  readonly #times: LineTimes;
  readonly #clock: WallClock;
  #header: SessionFileState["header"];
  #messages: number;
  /** Positions by the order of their messages, as far as the header counts them as consolidated. */
  #through: number;
  #throughMessage: number;

  constructor(source: ImportSource, key: string, known?: SessionFileState) {
    this.#key = key;
    this.#session = sessionOf(FORMAT, key);
    this.#ids = new ContentIds(FORMAT, known?.ids);
    this.#times = new LineTimes(source, known?.last_ms);
    this.#clock = source.clock;
    this.#header = known?.header;
    this.#messages = known?.messages ?? 0;
    this.#through = known?.through ?? 0;
    this.#throughMessage = known?.through_message ?? 0;
  }

  state(): SessionFileState {
    return {
      key: this.#key,
      ids: this.#ids.state(),
      last_ms: this.#times.state(),
      header: this.#header,
      messages: this.#messages,
      through: this.#through,
      through_message: this.#throughMessage,
    };
  }

  get hasHeader(): boolean {
    return this.#header !== undefined;
  }

  header(line: number, record: JsonObject): ImportStep {
    this.#header = { line, record };
    const { session_id, native_id } = this.#session;
    const { fields } = splitRecord("session_info", record);
    const entry = {
      ...fields,
      kind: "session_info",
      id: hashedId(FORMAT, ["header", session_id, record]),
      session_id,
      ...this.#times.take(record.created_at),
      extra: { ...(native_id === undefined ? {} : { native_id }), native_record: record },
    };
    return { line, entry };
  }

  skip(): void {
    this.#messages += 1;
  }

  message(line: number, record: JsonObject): ImportStep {
    this.#messages += 1;
    const ordinal = this.#messages;
    const { session_id } = this.#session;
    const envelope = {
      id: ownId(record) ?? this.#ids.idOf(session_id, record, this.#times.isTime(record.timestamp)),
      session_id,
      ...this.#times.take(record.timestamp),
    };
    const entry = isRole(record.role)
      ? reversible(toMessage(envelope, record), record, { toLine: nanobotLine, clock: this.#clock })
      : { kind: "raw", ...envelope, source: FORMAT, record };
    return { line, entry, onPlaced: (position) => this.#note(ordinal, position) };
  }

  /** The header has the number of summarised messages; the entry needs their last position. */
  *end(): Generator<ImportStep> {
    if (this.#header === undefined || consolidatedCount(this.#header.record) === 0) return;
    const { line, record } = this.#header;
    yield {
      line,
      deferred: () => {
        if (this.#through === 0) return [];
        const { session_id } = this.#session;
        const id = hashedId(FORMAT, ["consolidated", session_id, consolidatedCount(record)]);
        const time = this.#times.take(record.updated_at);
        return [{ kind: "consolidation", id, session_id, ...time, through: this.#through }];
      },
    };
  }

  #note(ordinal: number, position: number): void {
    const count = this.#header === undefined ? 0 : consolidatedCount(this.#header.record);
    if (ordinal > count || ordinal < this.#throughMessage) return;
    this.#throughMessage = ordinal;
    this.#through = Math.max(this.#through, position);
  }
}

function consolidatedCount({ last_consolidated: count }: JsonObject): number {
  return typeof count === "number" && count > 0 ? Math.floor(count) : 0;
}

function toMessage(envelope: { readonly id: string }, record: JsonObject): ImportedEntry {
  const { fields, rest } = splitRecord("message", record);
  const { hansard_id: _, ...extra } = rest;
  const hasCalls = Array.isArray(fields.tool_calls) && fields.tool_calls.length > 0;
  // A message that only calls tools has null content; other empty ones have empty text.
  const content = fields.content ?? (hasCalls ? null : "");
  const given = hasCalls && record.content === undefined ? {} : { content };
  return {
    kind: "message",
    ...envelope,
    ...fields,
    ...given,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** A line of nanobot's file; undefined for entries that the format has no form for. */
export function nanobotLine(form: StoredForm, clock: WallClock): JsonObject | undefined {
  const { kind, body } = form;
  if (kind === "raw") return body.source === FORMAT && isJsonObject(body.record) ? body.record : undefined;
  if (kind !== "message") return undefined;
  const native = nativeRecord(body);
  if (native !== undefined && form.id.startsWith(`${FORMAT}:`)) return native;
  const { role, content, tool_calls, tool_call_id, name, confidence } = body;
  const known = {
    role: readRole(String(role)),
    ...given({ content }),
    timestamp: timeOnLine(form, clock),
    ...given({ tool_calls, tool_call_id, name, confidence }),
    ...idOnLine(form, FORMAT),
  };
  return { ...known, ...extraOnLine(form, known) };
}

function given(fields: { readonly [name: string]: JsonObject[string] | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
