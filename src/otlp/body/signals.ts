// The two signals that are kept, and how OTLP's JSON nests them. Protobuf is read into the same form.
import type { JsonObject } from "../../model/json.js";
import { type Rejection, reject } from "../../model/rejection.js";

export type Signal = "traces" | "logs";

/** A span or log record as OTLP's JSON has it, with what it was sent under. */
export interface Received {
  readonly signal: Signal;
  readonly item: JsonObject;
  readonly resource: JsonObject;
  readonly resource_schema_url: string;
  readonly scope: JsonObject;
  readonly scope_schema_url: string;
}

/** Called with the next ones, in order; false ends the reading. */
export type OnReceived = (received: Received) => Promise<boolean> | boolean;

interface SignalNames {
  readonly resources: string;
  readonly scopes: string;
  readonly items: string;
  /** What it is called in messages. */
  readonly noun: string;
}

export const signalNames: { readonly [S in Signal]: SignalNames } = {
  traces: { resources: "resourceSpans", scopes: "scopeSpans", items: "spans", noun: "spans" },
  logs: { resources: "resourceLogs", scopes: "scopeLogs", items: "logRecords", noun: "log records" },
};

/** Spans and records per request: each needs some memory on its way, however small it is. */
export const ITEMS_MAX = 100_000;

export function tooManyItems(signal: Signal): Rejection {
  return reject({
    code: "too_many_values",
    message: `the request has more than ${ITEMS_MAX} ${signalNames[signal].noun}`,
    hint: "Send smaller batches.",
  });
}

const otherNames: { readonly [name: string]: string } = {
  resourceSpans: "traces",
  resourceLogs: "logs",
  resourceMetrics: "metrics",
};

/** Why a document without this signal's items is refused; undefined if it has nothing else. */
export function otherSignalIn(document: JsonObject, signal: Signal): Rejection | undefined {
  for (const [name, other] of Object.entries(otherNames)) {
    if (other !== signal && Object.hasOwn(document, name)) return wrongSignal(signal, other);
  }
  return undefined;
}

function wrongSignal(signal: Signal, other: string): Rejection {
  return reject({
    code: "field_invalid",
    field: "body",
    message: `the body has ${other}, and this address takes ${signal}`,
    hint: `Send ${other} to /v1/${other}.`,
  });
}

export function notOtlp(reason: string): Rejection {
  return reject({ code: "field_invalid", field: "body", message: `the body is not OTLP: ${reason}` });
}
