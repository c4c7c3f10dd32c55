// Traces over HTTP: what is taken, how it is answered, and what becomes of it.
import { gzipSync } from "node:zlib";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import type { JsonObject } from "../../src/model/json.js";
import { storeOfTest } from "../support/store.js";
import { agentTrace, log, logs, span, spanId, TRACE, traceId, traces } from "./otlp-bodies.js";
import { countsOf, derivedIn, ofKind, startTraceServer } from "./otlp-server.js";

const JSON_TYPE = { "content-type": "application/json" };
const PROTOBUF_TYPE = { "content-type": "application/x-protobuf" };

test("a trace becomes interactions and tool calls, each once, with what the model was given", async () => {
  const server = await startTraceServer();
  const around = { scope: { name: "gen_ai", version: "7.0" }, schemaUrl: "https://opentelemetry.io/schemas/1.40.0" };
  const body = traces(agentTrace(TRACE, "chat-1"), { ...around, resource: { "service.name": "weather" } });
  for (let times = 0; times < 10; times += 1) {
    expect(await server.post("/v1/traces", body)).toMatchObject({ status: 200, text: "{}" });
  }
  const entries = await server.derived();
  expect(countsOf(entries)).toEqual({ "otlp.span": 4, interaction: 2, tool_call: 1, "otlp.settled": 1 });
  const [first, last] = ofKind(entries, "interaction");
  expect(first).toMatchObject({
    ...{ session_id: "chat-1", client: "weather", model: "gpt-4o", latency_ms: 100 },
    created_at: "2026-11-15T06:49:12.001Z",
    prompt: "Weather in Paris?",
    response: "",
    usage: { input_tokens: 42, output_tokens: 7 },
    context_pack: {
      messages: [{ role: "user", content: "Weather in Paris?" }],
      system: "You are terse.",
      tools: [{ type: "function", name: "get_weather" }],
    },
    extra: {
      message_id: "resp-5b8efff7-1",
      tool_calls: [{ id: "call_1", function: { name: "get_weather", arguments: '{"city":"Paris"}' } }],
    },
  });
  expect(last).toMatchObject({ response: "It is 18C in Paris." });
  expect(ofKind(entries, "tool_call")).toMatchObject([
    { tool: "get_weather", args: { city: "Paris" }, result: { tempC: 18 }, tool_call_id: "call_1", duration_ms: 20 },
  ]);
  const raw = entries.find(({ id }) => id === `otlp:${TRACE}:${spanId("a1")}`);
  expect(raw).toMatchObject({
    kind: "raw",
    record: {
      span: { spanId: spanId("a1"), startTimeUnixNano: "1794725352001000123" },
      scope: around.scope,
      scope_schema_url: around.schemaUrl,
    },
  });
  // Parents repeat their children's tokens.
  expect((await server.get("/usage")).body.total).toMatchObject({ calls: 2, input_tokens: 84, output_tokens: 14 });
  const context = await server.get(`/entries/${last?.id}/context`);
  expect(context.body).toMatchObject({ exact: true, messages: [{ role: "user", content: "Weather in Paris?" }] });
});

test("the tree of a trace is kept: what an entry was made for is named", async () => {
  const server = await startTraceServer();
  const call = { "gen_ai.operation.name": "chat", "gen_ai.input.messages": '[{"role":"user","content":"inner"}]' };
  const spans = [
    ...agentTrace(TRACE, "chat-1"),
    span({ id: "b1", parent: "a2", name: "HTTP", at: 111, ms: 10 }),
    span({ id: "b2", parent: "b1", name: "chat inner", at: 112, ms: 3, attributes: call }),
  ];
  await server.post("/v1/traces", traces(spans));
  const entries = await server.derived();
  const parentOf = (id: string): unknown => {
    const entry = entries.find((one) => one.id === id) as { parent_id?: string; extra: { parent_id?: string } };
    return entry.parent_id ?? entry.extra.parent_id;
  };
  const raw = (id: string): string => `otlp:${TRACE}:${spanId(id)}`;
  expect(parentOf(`${raw("a1")}:call`)).toBe(raw("a0"));
  expect(parentOf(`${raw("a2")}:tool`)).toBe(raw("a0"));
  expect(parentOf(`${raw("b2")}:call`)).toBe(`${raw("a2")}:tool`);
  expect(parentOf(raw("b1"))).toBe(raw("a2"));
});

test("protobuf is read as JSON is, and answered in kind", async () => {
  const server = await startTraceServer();
  const bytes = readableSpans();
  for (const headers of [PROTOBUF_TYPE, { ...PROTOBUF_TYPE, "content-encoding": "gzip" }]) {
    const body = "content-encoding" in headers ? gzipSync(bytes) : bytes;
    const answer = await server.post("/v1/traces", body, headers);
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(answer.headers.get("content-type")).toBe("application/x-protobuf");
  }
  const entries = await server.derived();
  expect(countsOf(entries)).toMatchObject({ "otlp.span": 1, interaction: 1 });
  expect(ofKind(entries, "interaction")).toMatchObject([
    { prompt: "hi", response: "yo", usage: { input_tokens: 9_007_199_254_740_991 }, latency_ms: 1000.001 },
  ]);
  // Milliseconds of a time that no double can hold.
  expect(entries[0]).toMatchObject({ record: { span: { startTimeUnixNano: "1794725352001000123" } } });
});

function readableSpans(): Uint8Array {
  const context = { traceId: TRACE, spanId: spanId("c1"), traceFlags: 1 };
  const scope = { name: "by-hand", version: "2", schemaUrl: "https://opentelemetry.io/schemas/1.40.0" };
  const readable = {
    ...{ name: "chat", kind: 2, links: [], events: [], ended: true },
    spanContext: () => context,
    startTime: [1_794_725_352, 1_000_123],
    endTime: [1_794_725_353, 1_001_123],
    status: { code: 0 },
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.input.messages": '[{"role":"user","content":"hi"}]',
      "gen_ai.output.messages": '[{"role":"assistant","content":"yo"}]',
      "gen_ai.usage.input_tokens": 9_007_199_254_740_991,
      "a.list": ["x", 1, true],
    },
    resource: { attributes: { "service.name": "app" }, schemaUrl: "" },
    instrumentationScope: scope,
    ...{ duration: [1, 1_000], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
  return ProtobufTraceSerializer.serializeRequest([readable] as never) as Uint8Array;
}

test("children come before their parents, in any number of requests, and the session only with the root", async () => {
  const server = await startTraceServer();
  for (const one of agentTrace(TRACE, "chat-1")) await server.post("/v1/traces", traces([one]));
  const entries = await server.derived();
  expect(countsOf(entries)).toEqual({ "otlp.span": 4, interaction: 2, tool_call: 1, "otlp.settled": 1 });
  expect(new Set(ofKind(entries, "interaction").map(({ session_id }) => session_id))).toEqual(new Set(["chat-1"]));
});

test("what comes late is derived by itself, into the same session, also after a restart", async () => {
  const data = await storeOfTest();
  const first = await startTraceServer({ data });
  const spans = agentTrace(TRACE, "chat-1");
  const [call, tool, last, root] = spans as [JsonObject, JsonObject, JsonObject, JsonObject];
  await first.post("/v1/traces", traces([call, root]));
  await first.derived();
  await first.post("/v1/traces", traces([tool]));
  await first.derived();
  await first.close();
  const second = await startTraceServer({ data });
  await second.post("/v1/traces", traces([...spans, last]));
  const entries = await second.derived();
  expect(countsOf(entries)).toEqual({ "otlp.span": 4, interaction: 2, tool_call: 1, "otlp.settled": 3 });
  for (const entry of [...ofKind(entries, "interaction"), ...ofKind(entries, "tool_call")]) {
    expect(entry.session_id).toBe("chat-1");
  }
});

test("a server that ends before it has derived a trace leaves it to the next one, which derives it once", async () => {
  const data = await storeOfTest();
  const first = await startTraceServer({ data });
  await first.post("/v1/traces", traces(agentTrace(TRACE, "chat-1").slice(0, 3)));
  await first.close();
  for (let times = 0; times < 2; times += 1) {
    const next = await startTraceServer({ data });
    expect(countsOf(await next.derived())).toEqual({
      ...{ "otlp.span": 3, interaction: 2, tool_call: 1, "otlp.settled": 1 },
    });
    await next.close();
  }
});

test("a session falls back to the trace, and a root that comes late says whose part it is", async () => {
  const server = await startTraceServer();
  const spans = agentTrace(TRACE, "chat-1");
  await server.post("/v1/traces", traces(spans.slice(0, 3)));
  const before = await server.derived();
  expect(ofKind(before, "interaction").map(({ session_id }) => session_id)).toEqual([TRACE, TRACE]);
  await server.post("/v1/traces", traces(spans.slice(3)));
  await server.derived();
  expect((await server.get(`/sessions/${TRACE}`)).body).toMatchObject({ interactions: 2, parent: "chat-1" });
});

test("log records of a call join its span, whichever comes first", async () => {
  const server = await startTraceServer();
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o" };
  const details = {
    "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "structured" }] }],
    "gen_ai.output.messages": [{ role: "assistant", parts: [{ type: "text", content: "yes" }] }],
  };
  const call = span({ id: "d1", attributes });
  const record = log({
    trace: TRACE,
    span: "d1",
    event: "gen_ai.client.inference.operation.details",
    attributes: details,
  });
  const other = span({ trace: traceId(1), id: "d2", attributes });
  const old = [
    log({ trace: traceId(1), span: "d2", event: "gen_ai.user.message", body: { content: "old" } }),
    log({ trace: traceId(1), span: "d2", at: 1, event: "gen_ai.choice", body: { message: { content: "fine" } } }),
  ];
  await server.post("/v1/traces", traces([call]));
  await server.derived();
  // The span had no content; now it has.
  await server.post("/v1/logs", logs([record, ...old]));
  await server.post("/v1/traces", traces([other]));
  const said = ofKind(await server.derived(), "interaction").map(({ prompt, response }) => [prompt, response]);
  expect(said.sort()).toEqual([
    ["old", "fine"],
    ["structured", "yes"],
  ]);
});

test("a call without its content stays raw: its tokens count, and the session says what is missing", async () => {
  const server = await startTraceServer();
  const attributes = {
    ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.conversation.id": "quiet" },
    ...{
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_creation.input_tokens": 4,
    },
  };
  await server.post("/v1/traces", traces([span({ id: "e1", attributes })]));
  const entries = await server.derived();
  expect(countsOf(entries)).toEqual({ "otlp.span": 1, "otlp.call": 1, session_info: 1, "otlp.settled": 1 });
  expect((await server.get("/sessions/quiet")).body.metadata).toEqual({ telemetry: { lacks: ["answers", "prompts"] } });
  expect((await server.get("/usage")).body.total).toMatchObject({ calls: 1, input_tokens: 100, cache_write_tokens: 4 });
});

test("failures are told once: of a model as an error, of a tool as its result", async () => {
  const server = await startTraceServer();
  const chat = { "gen_ai.operation.name": "chat", "gen_ai.input.messages": '[{"role":"user","content":"x"}]' };
  const tool = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "ls",
    "gen_ai.tool.call.arguments": "{}",
  };
  const agent = { "gen_ai.operation.name": "invoke_agent" };
  await server.post(
    "/v1/traces",
    traces([
      span({ id: "f1", parent: "f0", attributes: chat, failed: "connection refused" }),
      span({ id: "f2", parent: "f0", at: 1, attributes: tool, failed: "no such folder" }),
      span({ id: "f0", attributes: agent, failed: "connection refused" }),
      span({ trace: traceId(1), id: "f5", attributes: agent, failed: "out of steps" }),
    ]),
  );
  const entries = await server.derived();
  expect(
    ofKind(entries, "error")
      .map(({ error }) => error)
      .sort(),
  ).toEqual(["connection refused", "out of steps"]);
  expect(ofKind(entries, "interaction")).toMatchObject([{ prompt: "x", error: "connection refused" }]);
  expect(ofKind(entries, "tool_call")).toMatchObject([{ tool: "ls", is_error: true, result: "no such folder" }]);
});

test("retrieved documents, memories and evaluations go to the call that they were for", async () => {
  const server = await startTraceServer();
  const documents = JSON.stringify([{ id: "d1", content: "Paris" }, { content: "no id" }]);
  const records = JSON.stringify([{ id: "m1", content: "likes rain" }]);
  const evaluation = {
    "gen_ai.evaluation.name": "relevance",
    "gen_ai.evaluation.score.value": 0.8,
    "gen_ai.evaluation.score.label": "relevant",
    "gen_ai.evaluation.explanation": "to the point",
  };
  const chat = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": '[{"role":"user","content":"rain?"}]',
    "gen_ai.output.messages": '[{"role":"assistant","content":"yes"}]',
  };
  const event = { name: "gen_ai.evaluation.result", attributes: evaluation };
  await server.post(
    "/v1/traces",
    traces([
      span({
        id: "e1",
        parent: "e0",
        at: 1,
        attributes: { "gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents },
      }),
      span({
        id: "e2",
        parent: "e0",
        at: 7,
        attributes: { "gen_ai.operation.name": "search_memory", "gen_ai.memory.records": records },
      }),
      span({ id: "e3", parent: "e0", at: 20, attributes: chat, events: [event] }),
      span({ id: "e0", ms: 40, attributes: { "gen_ai.operation.name": "invoke_agent" } }),
    ]),
  );
  const entries = await server.derived();
  const [call] = ofKind(entries, "interaction");
  expect(call).toMatchObject({
    chunks_used: ["d1", expect.stringMatching(/^sha256:[0-9a-f]{32}$/)],
    memories_used: ["m1"],
  });
  expect(ofKind(entries, "feedback")).toMatchObject([
    { entry_id: call?.id, score: 0.8, label: "relevance: relevant", comment: "to the point" },
  ]);
});

test("forgetting a session takes its raw spans along, and sending them again brings nothing back", async () => {
  const server = await startTraceServer();
  const body = traces([...agentTrace(TRACE, "chat-1"), ...agentTrace(traceId(1), "chat-2")]);
  await server.post("/v1/traces", body);
  await server.derived();
  const forgotten = await server.post("/forget", { session_id: "chat-1", reason: "asked to" });
  expect(forgotten.body).toMatchObject({ by_kind: { interaction: 2, tool_call: 1, raw: 5 } });
  await server.post("/v1/traces", body);
  const left = await server.derived();
  expect(countsOf(left)).toMatchObject({ "otlp.span": 4, interaction: 2, tool_call: 1, "otlp.settled": 1 });
  expect(JSON.stringify(left)).not.toContain(TRACE);
});

test("mapping again adds what is missing, and nothing twice", async () => {
  const server = await startTraceServer();
  await server.post("/v1/traces", traces([...agentTrace(TRACE, "chat-1"), ...agentTrace(traceId(1))]));
  const before = countsOf(await server.derived());
  expect(await server.recorder.remapTraces()).toEqual({ traces: 2, added: 0 });
  expect(countsOf(await derivedIn(server))).toEqual(before);
  const remote = await openRecorder({ data: server.address });
  await expect(remote.remapTraces()).rejects.toMatchObject({ code: "store_unsuitable" });
  await remote.close();
});

test("a key of scope capture is enough, as bearer, as x-api-key, and as Langfuse's secret key", async () => {
  const server = await startTraceServer();
  const { key } = await server.recorder.keys.create({ scope: "capture" });
  const { key: reading } = await server.recorder.keys.create({ scope: "read" });
  const body = traces(agentTrace());
  const basic = (secret: string) => `Basic ${Buffer.from(`pk-lf-any:${secret}`).toString("base64")}`;
  const langfuse = "/api/public/otel/v1/traces";
  const cases: readonly (readonly [path: string, headers: { readonly [name: string]: string }, status: number])[] = [
    ["/v1/traces", {}, 401],
    ["/v1/traces", { authorization: `Bearer ${key}` }, 200],
    ["/v1/logs", { "x-api-key": key }, 200],
    ["/v1/metrics", { "x-api-key": key }, 200],
    ["/v1/traces", { "x-api-key": reading }, 403],
    ["/v1/traces", { "x-api-key": "hansard_wrong" }, 401],
    ["/v1/traces", { authorization: basic(key) }, 401],
    [langfuse, { authorization: basic(key) }, 200],
    [langfuse, { authorization: basic("wrong") }, 401],
  ];
  for (const [path, headers, status] of cases) {
    const sent = path === "/v1/logs" ? logs([]) : path === "/v1/metrics" ? { resourceMetrics: [] } : body;
    expect([path, headers, (await server.post(path, sent, { ...JSON_TYPE, ...headers })).status]).toEqual([
      path,
      headers,
      status,
    ]);
  }
  const refused = await server.post("/v1/traces", readableSpans(), PROTOBUF_TYPE);
  expect(refused.status).toBe(401);
  expect(refused.headers.get("content-type")).toBe("application/x-protobuf");
  expect(refused.text).toContain("a key is required");
  // What is derived carries the key that the spans came with.
  const entries = await server.derived();
  expect(new Set(ofKind(entries, "interaction").map(({ recorded_by }) => recorded_by)).has("")).toBe(false);
});
