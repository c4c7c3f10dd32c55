// Derives entries from spans and log records without a store.
import type { JsonObject } from "../../src/model/json.js";
import { Rejection } from "../../src/model/rejection.js";
import { assemble } from "../../src/otlp/assembly.js";
import type { Received, Signal } from "../../src/otlp/body/signals.js";
import { RawEntries } from "../../src/otlp/raw-entries.js";
import { isSpan, type LogItem, type SpanItem, toTelemetryItem } from "../../src/otlp/telemetry-items.js";

interface Given {
  readonly spans?: readonly JsonObject[];
  readonly logs?: readonly JsonObject[];
  readonly scope?: JsonObject;
  readonly resource?: JsonObject;
  readonly transcribed?: readonly string[];
}

export type Derived = { readonly [field: string]: unknown };

/** What a trace becomes, in order. */
export function derive({
  spans = [],
  logs = [],
  scope = {},
  resource = {},
  transcribed = [],
}: Given): readonly Derived[] {
  const raw = new RawEntries();
  const items = [...spans.map((item) => ["traces", item] as const), ...logs.map((item) => ["logs", item] as const)];
  const read = items.map(([signal, item], nth): SpanItem | LogItem => {
    const received: Received = { ...around(signal, scope, resource), item };
    const entry = raw.toEntry(received);
    if (entry instanceof Rejection) throw new Error(entry.message);
    const stored = { position: nth + 1, kind: "raw", recorded_at: "", hash: "", body: JSON.stringify(entry) };
    return toTelemetryItem(stored) as SpanItem | LogItem;
  });
  const { entries } = assemble({
    group: read[0]?.trace_id ?? "none",
    spans: read.filter(isSpan),
    logs: read.filter((item): item is LogItem => !isSpan(item)),
    settled: undefined,
    known_ids: new Set(),
    isTranscribed: (session_id) => transcribed.includes(session_id),
  });
  return entries.map(({ input }) => input);
}

function around(signal: Signal, scope: JsonObject, resource: JsonObject): Omit<Received, "item"> {
  return { signal, resource, scope, resource_schema_url: "", scope_schema_url: "" };
}

export function derivedOf(entries: readonly Derived[], kind: string): readonly Derived[] {
  return entries.filter((entry) => entry.kind === kind);
}
