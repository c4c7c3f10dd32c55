// Stored spans and log records, read back for derivation.
import type { StoredBody } from "../log/port.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../model/json.js";
import { hexId, isSpanId, isTraceId, SPAN_ID_BYTES, TRACE_ID_BYTES, telemetrySources } from "../model/telemetry.js";
import { type Attributes, attributesOf, plainValue } from "./attributes.js";
import { type Labels, labelsOf } from "./labels.js";

interface Item {
  readonly position: number;
  /** The id of its raw entry. */
  readonly id: string;
  readonly recorded_by: string | undefined;
  readonly attributes: Attributes;
  readonly labels: Labels;
  readonly scope: { readonly name: string; readonly version: string };
  /** Empty for a log record outside of a trace. */
  readonly trace_id: string;
  readonly span_id: string;
}

export interface SpanItem extends Item {
  readonly name: string;
  /** 3 is a client, which calls something elsewhere. */
  readonly kind: number;
  readonly parent_span_id: string;
  readonly start: JsonValue | undefined;
  readonly end: JsonValue | undefined;
  readonly events: readonly SpanEvent[];
  readonly is_failed: boolean;
  readonly status_message: string;
  /** Log records that were written inside of it. */
  readonly logs: LogItem[];
}

interface SpanEvent {
  readonly name: string;
  readonly time: JsonValue | undefined;
  readonly attributes: Attributes;
}

export interface LogItem extends Item {
  /** From the record's own field, or the attribute of older SDKs. */
  readonly event: string;
  readonly body: JsonValue | undefined;
  readonly time: JsonValue | undefined;
}

/** Undefined for a body that is damaged, was erased, or is of something else. */
export function toTelemetryItem(stored: StoredBody): SpanItem | LogItem | undefined {
  const body = parseJsonObject(stored.body);
  if (body === undefined || typeof body.id !== "string" || !isJsonObject(body.record)) return undefined;
  const { record } = body;
  const item = body.source === telemetrySources.span ? record.span : record.log;
  if (!isJsonObject(item)) return undefined;
  const resource = attributesOf(isJsonObject(record.resource) ? record.resource.attributes : undefined);
  const attributes = attributesOf(item.attributes);
  const scope = isJsonObject(record.scope) ? record.scope : {};
  const trace_id = hexId(item.traceId, TRACE_ID_BYTES);
  const span_id = hexId(item.spanId, SPAN_ID_BYTES);
  const known: Item = {
    position: stored.position,
    id: body.id,
    recorded_by: stored.recorded_by,
    attributes,
    labels: labelsOf(attributes, resource),
    scope: { name: textOf(scope.name), version: textOf(scope.version) },
    trace_id: isTraceId(trace_id) ? trace_id : "",
    span_id: isSpanId(span_id) ? span_id : "",
  };
  return body.source === telemetrySources.span ? toSpan(known, item) : toLog(known, item);
}

export function isSpan(item: SpanItem | LogItem): item is SpanItem {
  return "parent_span_id" in item;
}

function toSpan(known: Item, span: JsonObject): SpanItem {
  const parent = hexId(span.parentSpanId, SPAN_ID_BYTES);
  const status = isJsonObject(span.status) ? span.status : {};
  const events = Array.isArray(span.events) ? (span.events as readonly JsonValue[]) : [];
  return {
    ...known,
    name: textOf(span.name),
    kind: span.kind === "SPAN_KIND_CLIENT" ? CLIENT : Number(span.kind ?? 0),
    parent_span_id: isSpanId(parent) ? parent : "",
    start: span.startTimeUnixNano,
    end: span.endTimeUnixNano,
    events: events.filter(isJsonObject).map((event) => ({
      name: textOf(event.name),
      time: event.timeUnixNano,
      attributes: attributesOf(event.attributes),
    })),
    is_failed: status.code === FAILED || status.code === "STATUS_CODE_ERROR" || status.code === "ERROR",
    status_message: textOf(status.message),
    logs: [],
  };
}

export const CLIENT = 3;
const FAILED = 2;

function toLog(known: Item, log: JsonObject): LogItem {
  const { attributes } = known;
  const named = textOf(log.eventName);
  // Rust's exporter names the line of code.
  const event = attributes["event.name"] ?? named;
  return {
    ...known,
    event: textOf(event),
    body: plainValue(log.body),
    time: isSet(log.timeUnixNano) ? log.timeUnixNano : log.observedTimeUnixNano,
  };
}

function isSet(nanos: JsonValue | undefined): boolean {
  return nanos !== undefined && nanos !== "" && Number(nanos) !== 0;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Why a span failed, in the words of its exception where there is one. */
export function failureOf(span: SpanItem): string | undefined {
  if (!span.is_failed) return undefined;
  const exception = span.events.findLast(({ name }) => name === "exception")?.attributes;
  const type = textOf(exception?.["exception.type"]);
  const message = textOf(exception?.["exception.message"]);
  const said = message === "" ? type : message;
  return span.status_message || said || textOf(span.attributes["error.type"]) || "failed without a message";
}
