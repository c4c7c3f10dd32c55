// Names of what OpenTelemetry brings: the sources of raw entries, and ids that are the same however often it is sent.
import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "./json.js";

/** The sources of raw entries. */
export const telemetrySources = {
  span: "otlp.span",
  log: "otlp.log",
  /** A model call that was sent without its content. */
  call: "otlp.call",
  /** Notes that a trace, or what came of it later, was derived. */
  settled: "otlp.settled",
} as const;

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
const HASH_CHARS = 32;

/** Ids of zeros mean that there is none. */
export function isTraceId(id: unknown): id is string {
  return typeof id === "string" && TRACE_ID.test(id) && !/^0+$/.test(id);
}

export function isSpanId(id: unknown): id is string {
  return typeof id === "string" && SPAN_ID.test(id) && !/^0+$/.test(id);
}

export const TRACE_ID_BYTES = 16;
export const SPAN_ID_BYTES = 8;

/** In OTLP's JSON ids are hexadecimal; protobuf's own JSON has base64. Empty for anything else. */
export function hexId(id: unknown, bytes: number): string {
  if (typeof id !== "string") return "";
  if (id.length === 2 * bytes) return id.toLowerCase();
  const decoded = id.length === 4 * Math.ceil(bytes / 3) ? Buffer.from(id, "base64") : undefined;
  return decoded?.length === bytes ? decoded.toString("hex") : "";
}

/** The id of the raw entry of a span. */
export function spanEntryId(trace_id: string, span_id: string): string {
  return `otlp:${trace_id}:${span_id}`;
}

/** The id of the raw entry of a log record, which has none of its own. */
export function logEntryId(record: unknown): string {
  return `otlp:log:${shortHash(JSON.stringify(record))}`;
}

/** The id of the note that a group was derived: the first one, or a later one through a position. */
export function settledEntryId(group: string, through?: number): string {
  return `otlp:settled:${group}${through === undefined ? "" : `:${through}`}`;
}

/** What raw entries are derived with: their trace, or for log records without one their session. */
export function groupOf(ids: {
  readonly trace_id?: string | undefined;
  readonly session_id?: string | undefined;
}): string {
  const { trace_id, session_id = "" } = ids;
  if (trace_id !== undefined) return trace_id;
  return session_id === "" ? "" : `logs-${shortHash(session_id)}`;
}

/** Every id that entries derived from a raw entry may have, but for those that several spans or records tell of. */
export const derivedIds = {
  call: (raw_id: string) => `${raw_id}:call`,
  tool: (raw_id: string) => `${raw_id}:tool`,
  error: (raw_id: string) => `${raw_id}:error`,
  message: (raw_id: string) => `${raw_id}:message`,
  /** A call that stays raw. */
  usage: (raw_id: string) => `${raw_id}:usage`,
} as const;

/** Ids of entries that repeat this one, or are repeated by it: what one of them says goes with all. */
export function telemetryBelongings(body: JsonObject, recorded_by = ""): readonly string[] {
  const { id, source, record, extra } = body;
  const origin = isJsonObject(extra) && isJsonObject(extra.otlp) ? extra.otlp.raw_id : undefined;
  // Anybody may write such a field: it must not take other entries along.
  if (typeof origin === "string") return origin.startsWith("otlp:") ? [origin] : [];
  if (typeof id !== "string" || typeof source !== "string" || !source.startsWith("otlp.")) return [];
  if (source !== telemetrySources.settled) return Object.values(derivedIds).map((idOf) => idOf(id));
  // Notes are written by the server itself, not with a key.
  return isJsonObject(record) && recorded_by === "" ? notedIds(record) : [];
}

/** The raw entries that a note says were derived. */
export function notedIds({ group, spans, logs }: JsonObject): readonly string[] {
  const texts = (list: unknown): readonly string[] =>
    Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
  return [
    ...texts(spans).map((span_id) => spanEntryId(String(group), span_id)),
    ...texts(logs).map((name) => `otlp:log:${name}`),
  ];
}

export function shortHash(text: string): string {
  return hash("sha256", text, "hex").slice(0, HASH_CHARS);
}

/** What the index keeps of a raw entry, to find traces that are complete. */
export interface TelemetryFacts {
  readonly group: string;
  readonly received_ms?: number;
  /** Whether it is the span that a trace began with. */
  readonly is_root?: true;
  /** For a note: everything of the group through this position was derived. */
  readonly through?: number;
}

/** Undefined if the body is not of telemetry, or means nothing by itself. */
export function telemetryFactsOf(body: JsonObject, recorded_ms: number): TelemetryFacts | undefined {
  const { source, record, id, session_id } = body;
  if (typeof source !== "string" || !source.startsWith("otlp.") || !isJsonObject(record)) return undefined;
  if (source === telemetrySources.settled) {
    const { group, through } = record;
    // Further notes of other sessions have no end.
    return typeof group === "string" && typeof through === "number" ? { group, through } : undefined;
  }
  if (source === telemetrySources.span && isJsonObject(record.span)) {
    const [, trace_id = ""] = String(id).split(":");
    const isRoot = !isSpanId(hexId(record.span.parentSpanId, SPAN_ID_BYTES));
    return { group: trace_id, received_ms: recorded_ms, ...(isRoot ? { is_root: true as const } : {}) };
  }
  if (source !== telemetrySources.log || !isJsonObject(record.log)) return undefined;
  const trace_id = hexId(record.log.traceId, TRACE_ID_BYTES);
  const group = groupOf({
    trace_id: isTraceId(trace_id) ? trace_id : undefined,
    session_id: typeof session_id === "string" ? session_id : undefined,
  });
  return group === "" ? undefined : { group, received_ms: recorded_ms };
}
