// A span or log record as a raw entry: whole, as it was sent, under an id that it has however often it comes.
import type { JsonObject } from "../model/json.js";
import { type Rejection, reject } from "../model/rejection.js";
import {
  hexId,
  isSpanId,
  isTraceId,
  logEntryId,
  SPAN_ID_BYTES,
  spanEntryId,
  TRACE_ID_BYTES,
  telemetrySources,
} from "../model/telemetry.js";
import { type Attributes, attributesOf } from "./attributes.js";
import type { Received } from "./body/signals.js";
import { labelsOf } from "./labels.js";
import { timeOfNanos } from "./times.js";

/** An entry as capture takes it. */
export type RawEntry = { readonly [field: string]: unknown };

export class RawEntries {
  /** The resource of the item before, which most items of a request share. */
  #resource: JsonObject | undefined;
  #attributes: Attributes = {};

  toEntry(received: Received): RawEntry | Rejection {
    if (received.resource !== this.#resource) {
      this.#resource = received.resource;
      this.#attributes = attributesOf(received.resource.attributes);
    }
    return received.signal === "traces" ? rawSpan(received, this.#attributes) : rawLog(received, this.#attributes);
  }
}

function rawSpan(received: Received, resource: Attributes): RawEntry | Rejection {
  const { item } = received;
  const trace_id = hexId(item.traceId, TRACE_ID_BYTES);
  const span_id = hexId(item.spanId, SPAN_ID_BYTES);
  if (!isTraceId(trace_id)) return invalidId("traceId", TRACE_ID_BYTES);
  if (!isSpanId(span_id)) return invalidId("spanId", SPAN_ID_BYTES);
  const parent = hexId(item.parentSpanId, SPAN_ID_BYTES);
  const attributes = attributesOf(item.attributes);
  return {
    kind: "raw",
    id: spanEntryId(trace_id, span_id),
    source: telemetrySources.span,
    ...createdAt(timeOfNanos(item.startTimeUnixNano)),
    ...labelsOf(attributes, resource),
    ...(isSpanId(parent) ? { parent_id: spanEntryId(trace_id, parent) } : {}),
    record: { span: item, ...around(received) },
  };
}

function rawLog(received: Received, resource: Attributes): RawEntry {
  const { item } = received;
  const record = { log: item, ...around(received) };
  const trace_id = hexId(item.traceId, TRACE_ID_BYTES);
  const span_id = hexId(item.spanId, SPAN_ID_BYTES);
  const attributes = attributesOf(item.attributes);
  return {
    kind: "raw",
    id: logEntryId(record),
    source: telemetrySources.log,
    ...createdAt(timeOfNanos(item.timeUnixNano) ?? timeOfNanos(item.observedTimeUnixNano)),
    ...labelsOf(attributes, resource),
    ...(isTraceId(trace_id) && isSpanId(span_id) ? { parent_id: spanEntryId(trace_id, span_id) } : {}),
    record,
  };
}

function around({ resource, resource_schema_url, scope, scope_schema_url }: Received): JsonObject {
  return {
    scope,
    resource,
    ...(scope_schema_url === "" ? {} : { scope_schema_url }),
    ...(resource_schema_url === "" ? {} : { resource_schema_url }),
  };
}

function createdAt(time: string | undefined): { readonly created_at?: string } {
  return time === undefined ? {} : { created_at: time };
}

function invalidId(field: string, bytes: number): Rejection {
  const message = `a span has no valid ${field}: ${2 * bytes} hexadecimal digits, not all zero`;
  return reject({ code: "field_invalid", field, message });
}
