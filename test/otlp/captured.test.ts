// Bodies that real emitters sent, where they are on this machine: what they become has the numbers that a count by other means
// gives. Elsewhere the bodies written by hand are counted.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import { agentTrace, logs, span, TRACE, traceId, traces } from "./otlp-bodies.js";
import { countsOf, ofKind, startTraceServer } from "./otlp-server.js";

const folder = join(repositoryRoot, "..", "shared", "data", "otlp");

const protobuf = join(folder, "captured-emitters", "cap-oiproto-15.bin");

interface Sent {
  readonly path: string;
  readonly body: JsonObject;
}

function bodies(): readonly Sent[] {
  const byHand = [
    { path: "/v1/traces", body: traces([...agentTrace(TRACE, "chat-1"), ...agentTrace(traceId(1))]) },
    { path: "/v1/traces", body: traces([span({ trace: traceId(2), id: "a", attributes: { "http.method": "GET" } })]) },
  ];
  if (!existsSync(folder)) return byHand;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  const captured = files.sort().flatMap((file) => bodiesIn(withIds(readFileSync(join(folder, file), "utf8"), file)));
  return [...byHand, ...captured];
}

/** Some bodies are templates: each gets ids of its own. */
function withIds(text: string, file: string): string {
  const id = createHash("sha256").update(file).digest("hex");
  return text
    .replace(/("traceId": *)"0{32}"/g, `$1"${id.slice(0, 32)}"`)
    .replace(/("spanId": *)"0{16}"/g, `$1"${id.slice(0, 16)}"`);
}

/** One document, or one in each line. */
function bodiesIn(text: string): readonly Sent[] {
  const documents = parsed(text) ?? text.split("\n").flatMap((line) => parsed(line) ?? []);
  return [documents].flat().flatMap((document): readonly Sent[] => {
    if (!isJsonObject(document)) return [];
    if (Array.isArray(document.resourceSpans)) return [{ path: "/v1/traces", body: document }];
    return isJsonObject(document.raw_otel_json) ? logged(document.raw_otel_json) : [];
  });
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** As a cloud's log has them: a span or record by itself, with plain attributes. */
function logged(item: JsonObject): readonly Sent[] {
  const { resource = {}, scope = {}, ...own } = item as { resource?: JsonObject; scope?: JsonObject };
  const around = { resource: { attributes: listed(resource.attributes) } };
  const fields = { ...own, ...timesIn(own), attributes: listed((own as JsonObject).attributes) } as JsonObject;
  if ("startTimeUnixNano" in own) {
    const events = ((own as JsonObject).events ?? []) as readonly JsonObject[];
    const span = {
      ...fields,
      kind: 1,
      events: events.map((event) => ({ ...event, attributes: listed(event.attributes) })),
    };
    return [{ path: "/v1/traces", body: { resourceSpans: [{ ...around, scopeSpans: [{ scope, spans: [span] }] }] } }];
  }
  if (!("traceId" in own)) return [];
  return [{ path: "/v1/logs", body: { resourceLogs: [{ ...around, scopeLogs: [{ scope, logRecords: [fields] }] }] } }];
}

function timesIn(item: object): JsonObject {
  return Object.fromEntries(
    Object.entries(item).flatMap(([key, value]) => (/Nano$/.test(key) ? [[key, String(value)]] : [])),
  );
}

function listed(attributes: JsonValue | undefined): JsonValue {
  if (!isJsonObject(attributes)) return attributes ?? [];
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { stringValue: JSON.stringify(value) },
  }));
}

/** Counts by names of attributes alone: what is a call with its texts, a tool run, or neither. */
function countIndependently(all: readonly Sent[]): { readonly [kind: string]: number } {
  const spans = new Map<string, { text: string; keys: readonly string[]; parent: string; trace: string }>();
  const records: string[] = [];
  const collect = (value: JsonValue | undefined): void => {
    if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) collect(item);
    if (!isJsonObject(value)) return;
    if (typeof value.spanId === "string" && "startTimeUnixNano" in value) {
      const text = JSON.stringify(value);
      const keys = [...text.matchAll(/"key":"([^"]+)"/g)].map(([, key = ""]) => key);
      const trace = String(value.traceId);
      spans.set(`${trace}:${value.spanId}`, { text, keys, trace, parent: String(value.parentSpanId ?? "") });
    } else for (const item of Object.values(value)) collect(item);
  };
  for (const { body, path } of all) {
    if (path === "/v1/traces") collect(body);
    else records.push(JSON.stringify(body));
  }
  const attribute = (text: string, key: string): string =>
    new RegExp(`"key":"${key.replaceAll(".", "\\.")}","value":\\{"stringValue":"([^"]*)"`).exec(text)?.[1] ?? "";
  const isCall = (text: string): boolean =>
    ["chat", "text_completion", "generate_content"].includes(attribute(text, "gen_ai.operation.name")) ||
    /\.do(?:Generate|Stream)$/.test(attribute(text, "ai.operationId")) ||
    attribute(text, "openinference.span.kind") === "LLM" ||
    attribute(text, "langfuse.observation.type") === "generation" ||
    /"gen_ai\.(?:prompt|completion)\.0\.role"/.test(text);
  const isTool = (text: string): boolean =>
    attribute(text, "gen_ai.operation.name") === "execute_tool" ||
    attribute(text, "ai.operationId") === "ai.toolCall" ||
    attribute(text, "traceloop.span.kind") === "tool" ||
    attribute(text, "openinference.span.kind") === "TOOL";
  const hasWords = (id: string, text: string): boolean => {
    const own =
      /"(?:gen_ai\.input\.messages|ai\.prompt\.messages|llm\.input_messages\.\d|langfuse\.observation\.input|gen_ai\.prompt\.0\.)|"name":"gen_ai\.(?:user|tool|assistant|system)\.message/;
    const [trace = "", span = ""] = id.split(":");
    const said = records.some(
      (record) =>
        record.includes(`"traceId":"${trace}"`) &&
        record.includes(`"spanId":"${span}"`) &&
        /gen_ai\.(?:user|tool|assistant|system)\.message/.test(record),
    );
    return own.test(text) || said;
  };
  const callsWithWords = [...spans].filter(([id, { text }]) => isCall(text) && hasWords(id, text));
  const outer = new Set<string>();
  for (const [, { trace, parent }] of callsWithWords) {
    for (let above = `${trace}:${parent}`; spans.has(above); ) {
      outer.add(above);
      above = `${trace}:${spans.get(above)?.parent}`;
    }
  }
  return {
    "otlp.span": spans.size,
    interaction: callsWithWords.filter(([id]) => !outer.has(id)).length,
    tool_call: [...spans.values()].filter(({ text }) => isTool(text)).length,
  };
}

test("what captured bodies become has the numbers that a count by other means gives", async () => {
  const server = await startTraceServer();
  const all = bodies();
  for (const { path, body } of all) expect(await server.post(path, body)).toMatchObject({ status: 200, text: "{}" });
  const entries = await server.derived();
  const { "otlp.span": spans = 0, interaction = 0, tool_call = 0 } = countsOf(entries);
  expect({ "otlp.span": spans, interaction, tool_call }).toEqual(countIndependently(all));
  // The one in protobuf is a span that came as JSON before.
  const bytes = existsSync(protobuf) ? readFileSync(protobuf) : undefined;
  if (bytes !== undefined) {
    const headers = { "content-type": "application/x-protobuf" };
    expect(await server.post("/v1/traces", bytes, headers)).toMatchObject({ status: 200, text: "" });
    expect(ofKind(await server.derived(), "interaction")).toHaveLength(interaction);
  }
  expect(ofKind(entries, "interaction").every(({ prompt }) => String(prompt).trim() !== "")).toBe(true);
}, 120_000);

test("a body of log records alone is taken", async () => {
  const server = await startTraceServer();
  expect(await server.post("/v1/logs", logs([]))).toMatchObject({ status: 200, text: "{}" });
});
