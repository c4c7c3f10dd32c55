// OTLP bodies written by hand, in the shapes that real emitters send.
import type { JsonObject, JsonValue } from "../../src/model/json.js";

export interface SpanParts {
  readonly trace?: string;
  readonly id: string;
  readonly parent?: string;
  readonly name?: string;
  readonly kind?: number;
  /** Milliseconds after the first span. */
  readonly at?: number;
  readonly ms?: number;
  readonly attributes?: { readonly [key: string]: JsonValue };
  readonly events?: readonly { readonly name: string; readonly attributes?: { readonly [key: string]: JsonValue } }[];
  /** The message of a failure. */
  readonly failed?: string;
}

export const TRACE = "5b8efff798038103d269b633813fc60c";
const BEGAN_MS = Date.parse("2026-11-15T06:49:12.000Z");

/** Ids of spans are written short. */
export function spanId(short: string): string {
  return short.padStart(16, "0");
}

export function traceId(nth: number): string {
  return `${"b".repeat(24)}${nth.toString(16).padStart(8, "0")}`;
}

export function span(parts: SpanParts): JsonObject {
  const {
    trace = TRACE,
    id,
    parent,
    name = id,
    kind = 1,
    at = 0,
    ms = 5,
    attributes = {},
    events = [],
    failed,
  } = parts;
  return {
    traceId: trace,
    spanId: spanId(id),
    ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
    name,
    kind,
    startTimeUnixNano: nanos(at),
    endTimeUnixNano: nanos(at + ms),
    attributes: keyValues(attributes),
    events: events.map((event) => ({
      name: event.name,
      timeUnixNano: nanos(at),
      attributes: keyValues(event.attributes ?? {}),
    })),
    status: failed === undefined ? { code: 0 } : { code: 2, message: failed },
  };
}

export function log(parts: {
  readonly trace?: string;
  readonly span?: string;
  readonly at?: number;
  readonly event?: string;
  readonly body?: JsonValue;
  readonly attributes?: { readonly [key: string]: JsonValue };
}): JsonObject {
  const { trace, span: id, at = 0, event, body, attributes = {} } = parts;
  return {
    timeUnixNano: nanos(at),
    ...(trace === undefined ? {} : { traceId: trace }),
    ...(id === undefined ? {} : { spanId: spanId(id) }),
    ...(event === undefined ? {} : { eventName: event }),
    ...(body === undefined ? {} : { body: anyValue(body) }),
    attributes: keyValues(attributes),
  };
}

interface Around {
  readonly scope?: JsonObject;
  readonly schemaUrl?: string;
  readonly resource?: { readonly [key: string]: JsonValue };
}

export function traces(spans: readonly JsonObject[], around: Around = {}): JsonObject {
  const { scope = { name: "by-hand", version: "1.0" }, schemaUrl = "", resource = {} } = around;
  return {
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, schemaUrl, spans: [...spans] }] },
    ],
  };
}

export function logs(records: readonly JsonObject[], around: Around = {}): JsonObject {
  const { scope = { name: "by-hand" }, schemaUrl = "", resource = {} } = around;
  return {
    resourceLogs: [
      { resource: { attributes: keyValues(resource) }, scopeLogs: [{ scope, schemaUrl, logRecords: [...records] }] },
    ],
  };
}

function nanos(ms: number): string {
  return `${BEGAN_MS + ms}000123`;
}

function keyValues(attributes: { readonly [key: string]: JsonValue }): readonly JsonObject[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: JsonValue): JsonObject {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: (value as readonly JsonValue[]).map(anyValue) } };
  const members = Object.entries(value ?? {}) as readonly [string, JsonValue][];
  return { kvlistValue: { values: members.map(([key, member]) => ({ key, value: anyValue(member) })) } };
}

/** An agent's trace as the semantic conventions have it: two calls and a tool run between them. */
export function agentTrace(trace = TRACE, session?: string): readonly JsonObject[] {
  const said = JSON.stringify([{ role: "user", parts: [{ type: "text", content: "Weather in Paris?" }] }]);
  const call = { type: "tool_call", id: "call_1", name: "get_weather", arguments: { city: "Paris" } };
  const chat = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o" };
  const usage = { "gen_ai.usage.input_tokens": 42, "gen_ai.usage.output_tokens": 7 };
  return [
    span({
      ...{ trace, id: "a1", parent: "a0", name: "chat gpt-4o", kind: 3, at: 1, ms: 100 },
      attributes: {
        ...chat,
        ...usage,
        "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: "You are terse." }]),
        "gen_ai.input.messages": said,
        "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [call], finish_reason: "tool_call" }]),
        "gen_ai.tool.definitions": JSON.stringify([{ type: "function", name: "get_weather" }]),
        "gen_ai.response.id": `resp-${trace.slice(0, 8)}-1`,
        "gen_ai.response.time_to_first_chunk": 0.025,
      },
    }),
    span({
      ...{ trace, id: "a2", parent: "a0", name: "execute_tool get_weather", at: 110, ms: 20 },
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.call.arguments": '{"city":"Paris"}',
        "gen_ai.tool.call.result": '{"tempC":18}',
      },
    }),
    span({
      ...{ trace, id: "a3", parent: "a0", name: "chat gpt-4o", kind: 3, at: 140, ms: 80 },
      attributes: {
        ...chat,
        ...usage,
        "gen_ai.input.messages": said,
        "gen_ai.output.messages": JSON.stringify([
          { role: "assistant", parts: [{ type: "text", content: "It is 18C in Paris." }], finish_reason: "stop" },
        ]),
        "gen_ai.response.id": `resp-${trace.slice(0, 8)}-2`,
      },
    }),
    span({
      ...{ trace, id: "a0", name: "invoke_agent my-agent", at: 0, ms: 230 },
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "my-agent",
        "gen_ai.input.messages": said,
        // What its calls took together.
        "gen_ai.usage.input_tokens": 84,
        "gen_ai.usage.output_tokens": 14,
        ...(session === undefined ? {} : { "gen_ai.conversation.id": session }),
      },
    }),
  ];
}
