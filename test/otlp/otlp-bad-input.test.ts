// What senders get wrong, and what attackers send: one clear answer, bounded memory, and nothing else lost.
import { gzipSync } from "node:zlib";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { agentTrace, log, logs, span, spanId, TRACE, traceId, traces } from "./otlp-bodies.js";
import { countsOf, ofKind, startTraceServer } from "./otlp-server.js";

const PROTOBUF_TYPE = { "content-type": "application/x-protobuf" };
const GZIP = { "content-type": "application/json", "content-encoding": "gzip" };
const MIB = 1024 * 1024;

test("bodies that are no traces are refused, and say what to do", async () => {
  const server = await startTraceServer();
  const json = JSON.stringify(traces(agentTrace()));
  const cases: readonly (readonly [what: string, body: unknown, headers: object, status: number, words: string])[] = [
    ["garbage", Buffer.from("ff00ff00ff", "hex"), PROTOBUF_TYPE, 400, "not valid protobuf"],
    ["a length beyond the end", Buffer.from("0aff01", "hex"), PROTOBUF_TYPE, 400, "not valid protobuf"],
    ["JSON announced as protobuf", json, PROTOBUF_TYPE, 400, "looks like JSON"],
    ["protobuf announced as JSON", Buffer.from("0a020a00", "hex"), {}, 400, "not valid JSON"],
    ["no body", "", {}, 400, "no body"],
    ["a list", "[]", {}, 400, "JSON object"],
    ["logs", logs([log({ event: "x" })]), {}, 400, "/v1/logs"],
    ["metrics", { resourceMetrics: [] }, {}, 400, "/v1/metrics"],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]), {}, 400, "UTF-8"],
    ["no gzip", json, { "content-encoding": "gzip" }, 400, "not valid gzip"],
    ["another compression", json, { "content-encoding": "br" }, 415, "compression"],
    ["another type", json, { "content-type": "text/plain" }, 415, "JSON"],
  ];
  for (const [what, body, headers, status, words] of cases) {
    const answer = await server.post("/v1/traces", body, { "content-type": "application/json", ...headers });
    expect([what, answer.status, answer.text]).toEqual([what, status, expect.stringContaining(words)]);
  }
  expect((await server.get("/stats")).body.entries).toBe(0);
});

test("a logs body in protobuf that is sent as traces is refused", async () => {
  const server = await startTraceServer();
  const record = new BinaryWriter().tag(1, WireType.Bit64).fixed64(1n).tag(5, WireType.LengthDelimited);
  record.bytes(new BinaryWriter().tag(1, WireType.LengthDelimited).string("hello").finish());
  record.tag(9, WireType.LengthDelimited).bytes(Buffer.from(TRACE, "hex"));
  const wrap = (field: number, bytes: Uint8Array) =>
    new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  const body = wrap(1, wrap(2, wrap(2, record.finish())));
  const refused = await server.post("/v1/traces", body, PROTOBUF_TYPE);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("not OTLP")]);
  expect(await server.post("/v1/logs", body, PROTOBUF_TYPE)).toMatchObject({ status: 200, text: "" });
});

test("spans without ids are counted, and the others kept", async () => {
  const server = await startTraceServer();
  const bad = [
    { ...span({ id: "a" }), traceId: "" },
    { ...span({ id: "b" }), spanId: "0000000000000000" },
    { name: "c" },
  ];
  const answer = await server.post("/v1/traces", traces([...bad, ...agentTrace()]));
  expect(answer.body).toEqual({
    partialSuccess: { rejectedSpans: "3", errorMessage: expect.stringContaining("traceId") },
  });
  expect(countsOf(await server.derived())).toMatchObject({ "otlp.span": 4 });
  expect((await server.post("/v1/traces", traces(bad))).body).toMatchObject({ partialSuccess: { rejectedSpans: "3" } });
  expect((await server.post("/v1/metrics", { resourceMetrics: [] })).body).toEqual({
    partialSuccess: { rejectedDataPoints: "0", errorMessage: expect.stringContaining("not kept") },
  });
});

test("times above 2^53 written as numbers keep their last digit, large attributes every byte", async () => {
  const server = await startTraceServer();
  const text = "ü".repeat(MIB);
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": JSON.stringify([{ role: "user", content: text }]),
    tricky: 'a "startTimeUnixNano":1794725352001000123 in a text',
  };
  const body = JSON.stringify(traces([span({ id: "a", attributes })]))
    .replace('"startTimeUnixNano":"1794725352000000123"', '"startTimeUnixNano": 1794725352000000123')
    .replace('"endTimeUnixNano":"1794725352005000123"', '"endTimeUnixNano":1794725352005000125');
  expect(await server.post("/v1/traces", body)).toMatchObject({ status: 200, text: "{}" });
  const entries = await server.derived();
  const [call] = ofKind(entries, "interaction");
  expect(call).toMatchObject({ latency_ms: 5, created_at: "2026-11-15T06:49:12.000Z" });
  expect(call?.prompt).toBe(text);
  const { record } = entries[0] as { record: { span: JsonObject } };
  expect(record.span).toMatchObject({
    startTimeUnixNano: "1794725352000000123",
    endTimeUnixNano: "1794725352005000125",
  });
  expect(JSON.stringify(record.span.attributes)).toContain('\\"startTimeUnixNano\\":1794725352001000123 in a text');
});

test("clocks that disagree, times that are none and parents in a circle do no harm", async () => {
  const server = await startTraceServer();
  const chat = { "gen_ai.operation.name": "chat", "gen_ai.input.messages": '[{"role":"user","content":"when?"}]' };
  const backwards = { ...span({ id: "a", attributes: chat }), endTimeUnixNano: "1" };
  const never = { ...span({ id: "b", parent: "c", attributes: chat }), startTimeUnixNano: "0", endTimeUnixNano: "x" };
  const circle = span({ id: "c", parent: "b", attributes: chat, failed: "no" });
  const far = { ...span({ id: "d", attributes: chat }), startTimeUnixNano: "99999999999999999999" };
  await server.post("/v1/traces", traces([backwards, never, circle, far]));
  const entries = await server.derived();
  expect(countsOf(entries)).toMatchObject({ "otlp.span": 4 });
  const calls = ofKind(entries, "interaction");
  expect(calls.some(({ id }) => id === `otlp:${TRACE}:${spanId("a")}:call`)).toBe(true);
  for (const call of calls) expect("latency_ms" in call).toBe(call.id === `otlp:${TRACE}:${spanId("c")}:call`);
});

test("ten thousand spans in a request are taken, and other requests answered meanwhile", async () => {
  const server = await startTraceServer();
  const spans = Array.from({ length: 10_000 }, (_, nth) =>
    span({ trace: traceId(nth % 500), id: (nth + 1).toString(16), attributes: { text: "x".repeat(500) } }),
  );
  const body = JSON.stringify(traces(spans));
  let slowest = 0;
  const sent = server.post("/v1/traces", gzipSync(body), GZIP);
  for (let isDone = false; !isDone; ) {
    const beganMs = performance.now();
    await server.get("/ready");
    slowest = Math.max(slowest, performance.now() - beganMs);
    isDone = await Promise.race([
      sent.then(() => true),
      new Promise<false>((resolve) => setTimeout(resolve, 20, false)),
    ]);
  }
  expect(await sent).toMatchObject({ status: 200, text: "{}" });
  expect((await server.get("/stats")).body.by_kind.raw).toBeGreaterThanOrEqual(10_000);
  // The budget is 250 ms; parsing the body at once would take seconds on a machine that is busy otherwise, too.
  expect(slowest).toBeLessThan(1_500);
}, 60_000);

test("a gzip bomb is refused before it fills the memory", async () => {
  const server = await startTraceServer();
  const bomb = gzipSync(Buffer.alloc(400 * MIB));
  const before = process.memoryUsage().rss;
  const answer = await server.post("/v1/traces", bomb, GZIP);
  expect([answer.status, answer.body.error.code]).toEqual([413, "request_too_large"]);
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
  // Within the ratio, the limit of a request holds for what it inflates to.
  const noise = Array.from({ length: 70 }, (_, nth) => `${nth}`.padEnd(300, "é")).join("");
  const wide = gzipSync(JSON.stringify({ resourceSpans: [], x: noise.repeat(Math.ceil((70 * MIB) / noise.length)) }));
  expect((await server.post("/v1/traces", wide, GZIP)).status).toBe(413);
  expect(await server.post("/v1/traces", traces(agentTrace()))).toMatchObject({ status: 200 });
}, 60_000);

test("hostile nesting and widths are refused, and what one span hides does not keep others back", async () => {
  const server = await startTraceServer();
  const deep = `${'{"arrayValue":{"values":['.repeat(150)}${"]}}".repeat(150)}`;
  const nested = JSON.stringify(traces([span({ id: "a" })])).replace(
    '"attributes":[]',
    `"attributes":[{"key":"k","value":${deep}}]`,
  );
  expect((await server.post("/v1/traces", nested)).body).toMatchObject({ partialSuccess: { rejectedSpans: "1" } });
  const tiny = `{"resourceSpans":[{"scopeSpans":[{"spans":[${"{},".repeat(150_000)}{}]}]}]}`;
  expect((await server.post("/v1/traces", tiny)).status).toBe(413);
  const sparse = span({
    ...{ id: "c", name: "LLM" },
    attributes: {
      "openinference.span.kind": "LLM",
      "llm.input_messages.99999.message.content": "far out",
      "llm.input_messages.__proto__.message.content": "none",
      __proto__: "x",
      "llm.token_count.prompt": -5,
      "gen_ai.conversation.id": `bad\u0000${"s".repeat(600)}`,
    },
  });
  await server.post("/v1/traces", traces([sparse, ...agentTrace(traceId(1))]));
  const entries = await server.derived();
  expect(
    ofKind(entries, "interaction")
      .map(({ prompt }) => prompt)
      .sort(),
  ).toEqual([...["Weather in Paris?", "Weather in Paris?", "far out"]]);
});

test("a trace that never ends is derived in parts", async () => {
  const server = await startTraceServer();
  for (let part = 0; part < 3; part += 1) {
    const spans = Array.from({ length: 700 }, (_, nth) =>
      span({
        ...{ id: (part * 700 + nth + 1).toString(16), parent: "ffff", at: part * 700 + nth },
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "tick",
          "gen_ai.tool.call.arguments": "{}",
          "gen_ai.tool.call.result": "ok",
        },
      }),
    );
    await server.post("/v1/traces", traces(spans));
  }
  // It never pauses for the 5 s after which other traces are derived.
  const derivedSoFar = async (): Promise<number> => (await server.get("/stats")).body.by_kind?.tool_call ?? 0;
  for (let more = 0; (await derivedSoFar()) < 900 && more < 60; more += 1) {
    await server.post("/v1/traces", traces([span({ id: (3_000 + more).toString(16), parent: "ffff" })]));
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  expect(await derivedSoFar()).toBeGreaterThan(900);
  expect(countsOf(await server.derived())).toMatchObject({ tool_call: 2_100 });
}, 60_000);
