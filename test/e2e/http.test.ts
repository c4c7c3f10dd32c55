// The routes, over a real connection: what each answers when all is well.
import { describe, expect, test } from "vitest";
import { startServer } from "./http-client.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NDJSON = { "content-type": "application/x-ndjson" };

describe("interactions", () => {
  test("a recorded interaction is a 201 with its id, time and position, and can be read back whole", async () => {
    const server = await startServer();
    const given = { prompt: " Why?\n", response: "Because.", memories_used: [7, "m"], context_pack: { a: [1] }, x: 1 };
    const { status, body } = await server.post("/interactions", { ...given, project: "p", session_id: "a/b" });
    expect(status).toBe(201);
    expect(body).toEqual({
      status: "recorded",
      id: expect.stringMatching(UUID),
      created_at: expect.stringMatching(TIME),
      position: 1,
      unknown_fields: ["x"],
    });
    const read = await server.get(`/interactions/${body.id}`);
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject({
      id: body.id,
      kind: "interaction",
      position: 1,
      created_at: body.created_at,
      project: "p",
      session_id: "a/b",
      prompt: " Why?\n",
      response: "Because.",
      memories_used: ["7", "m"],
      context_pack: { a: [1] },
      response_summary: "",
      chunks_used: [],
      model: "",
      usage: {},
      extra: { x: 1 },
      client: "",
    });
    expect(read.body).not.toHaveProperty("latency_ms");
  });

  test("the same id with the same content is acknowledged again with a 200 and stored once", async () => {
    const server = await startServer();
    const given = { id: "mine", prompt: "hello", created_at: "2026-01-02T03:04:05.678Z" };
    const first = await server.post("/interactions", given);
    const second = await server.post("/interactions", { ...given, kind: "interaction" });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual({ ...first.body, status: "already_recorded" });
    expect((await server.get("/entries")).body.entries).toHaveLength(1);
  });

  test("a list row leaves out response and context pack, and says how long the response is", async () => {
    const server = await startServer();
    await server.post("/interactions", { prompt: "p", response: "añ😀", context_pack: { a: 1 } });
    const { status, body } = await server.get("/interactions");
    expect(status).toBe(200);
    expect(body.next_cursor).toBeNull();
    expect(body.interactions[0]).toMatchObject({ prompt: "p", response_chars: 3 });
    expect(body.interactions[0]).not.toHaveProperty("response");
    expect(body.interactions[0]).not.toHaveProperty("context_pack");
  });

  test("a response completes an interaction: 201, the same again 200, another one 409", async () => {
    const server = await startServer();
    await server.post("/interactions", { id: "turn", prompt: "p", project: "atlas", session_id: "s" });
    const completion = { response: "r", usage: { output_tokens: 2 } };
    const first = await server.post("/interactions/turn/response", completion);
    const again = await server.post("/interactions/turn/response", completion);
    const other = await server.post("/interactions/turn/response", { response: "another" });
    expect([first.status, again.status, other.status]).toEqual([201, 200, 409]);
    expect(first.body).toEqual({
      status: "recorded",
      id: expect.stringMatching(UUID),
      created_at: expect.stringMatching(TIME),
      position: 2,
    });
    expect(again.body).toEqual({ ...first.body, status: "already_recorded" });
    expect(other.body.error).toMatchObject({ code: "already_completed", field: "interaction_id" });
    const astray = await server.post("/interactions/i/response", { response: "a", interaction_id: "j" });
    expect([astray.status, astray.body.error.field]).toEqual([400, "interaction_id"]);
    expect((await server.get("/interactions/turn")).body).toMatchObject({
      response: "r",
      usage: { output_tokens: 2 },
      response_id: first.body.id,
    });
    expect((await server.get("/entries/2")).body).toMatchObject({
      kind: "response",
      project: "atlas",
      session_id: "s",
    });
  });

  test("ids in the path are percent-encoded", async () => {
    const server = await startServer();
    await server.post("/interactions", { id: "a:b", prompt: "p" });
    expect((await server.get("/interactions/a%3Ab")).body.id).toBe("a:b");
    expect((await server.post("/interactions/a%3Ab/response", { response: "r" })).status).toBe(201);
    expect((await server.get(`/interactions/${encodeURIComponent("a/b c😀")}`)).status).toBe(404);
  });

  test("interactions are found by the memories and chunks they used", async () => {
    const server = await startServer();
    await server.post("/interactions", { id: "one", prompt: "p", memories_used: ["m & n"], chunks_used: ["c"] });
    await server.post("/interactions", { id: "two", prompt: "p" });
    const ids = async (query: string) =>
      (await server.get(`/interactions?${query}`)).body.interactions.map((row: { id: string }) => row.id);
    expect(await ids(`memory=${encodeURIComponent("m & n")}`)).toEqual(["one"]);
    expect(await ids("memory=m+%26+n")).toEqual(["one"]);
    expect(await ids("chunk=c")).toEqual(["one"]);
    expect(await ids("memory=")).toEqual(["two", "one"]);
  });
});

describe("entries", () => {
  test("one entry, a list and lines of JSON are all answered in the same shape", async () => {
    const server = await startServer();
    const one = await server.post("/entries", { kind: "error", error: "boom", id: "e-1" });
    const list = await server.post("/entries", [
      { kind: "decision", decision: "go" },
      { kind: "message", session_id: "s", role: "user", content: [{ type: "text", text: "hi" }] },
    ]);
    const lines = '{"kind":"tool_call","tool":"t","result":{"a":[1]}}\r\n\n  \n{"kind":"clear","session_id":"s"}';
    const streamed = await server.post("/entries", lines, NDJSON);
    expect([one.status, list.status, streamed.status]).toEqual([201, 201, 201]);
    expect(one.body).toEqual({
      status: "recorded",
      entries: [{ status: "recorded", id: "e-1", position: 1, created_at: expect.stringMatching(TIME) }],
    });
    expect(list.body.entries.map((entry: { position: number }) => entry.position)).toEqual([2, 3]);
    expect(streamed.body.entries.map((entry: { position: number }) => entry.position)).toEqual([4, 5]);
  });

  test("a batch is a 201 if any of it was new, and says which; else a 200", async () => {
    const server = await startServer();
    const old = { kind: "error", error: "e", id: "old" };
    await server.post("/entries", old);
    const mixed = await server.post("/entries", [old, { kind: "error", error: "e", id: "new" }]);
    expect(mixed.status).toBe(201);
    expect(mixed.body.status).toBe("recorded");
    expect(mixed.body.entries.map((entry: { status: string }) => entry.status)).toEqual([
      "already_recorded",
      "recorded",
    ]);
    const repeated = await server.post("/entries", [old]);
    expect([repeated.status, repeated.body.status]).toEqual([200, "already_recorded"]);
  });

  test("an entry is found by its id and by its position", async () => {
    const server = await startServer();
    await server.post("/entries", { kind: "tool_call", id: "call", tool: "run", result: { ok: true } });
    const byId = await server.get("/entries/call");
    expect(byId.body).toMatchObject({ id: "call", position: 1, kind: "tool_call", result: { ok: true }, args: {} });
    expect((await server.get("/entries/1")).body).toEqual(byId.body);
  });

  test("filters select, and a dash selects what has no label", async () => {
    const server = await startServer();
    await server.post("/entries", [
      { kind: "error", error: "1", project: "a", session_id: "s:1", created_at: "2026-01-01T00:00:00Z" },
      { kind: "decision", decision: "2", project: "b", client: "c", created_at: "2026-01-02T12:00:00Z" },
      { kind: "error", error: "3", created_at: "2026-01-03T00:00:00Z" },
    ]);
    const positions = async (query: string) =>
      (await server.get(`/entries?${query}`)).body.entries.map((entry: { position: number }) => entry.position);
    expect(await positions("")).toEqual([3, 2, 1]);
    expect(await positions("kind=error")).toEqual([3, 1]);
    expect(await positions("project=a")).toEqual([1]);
    expect(await positions("project=-")).toEqual([3]);
    expect(await positions("session_id=s%3A1")).toEqual([1]);
    expect(await positions("client=c&kind=decision")).toEqual([2]);
    expect(await positions("since=2026-01-02")).toEqual([3, 2]);
    expect(await positions("until=2026-01-02")).toEqual([2, 1]);
    expect(await positions("since=2026-01-02T14:00:00+02:00&until=2026-01-02T12:00:00")).toEqual([2]);
    expect(await positions("since=1h")).toEqual([]);
    expect(await positions("limit=0")).toEqual([]);
    expect(await positions("limit=100000")).toEqual([3, 2, 1]);
  });

  test("paging reaches everything exactly once, also while entries arrive", async () => {
    const server = await startServer();
    const created_at = "2026-01-01T00:00:00Z";
    const batch = Array.from({ length: 23 }, (_, n) => ({ kind: "error", error: String(n), project: "p", created_at }));
    await server.post("/entries", batch);
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page = await server.get(`/entries?project=p&limit=5&cursor=${encodeURIComponent(cursor)}`);
      expect(page.status).toBe(200);
      seen.push(...page.body.entries.map((entry: { error: string }) => entry.error));
      cursor = page.body.next_cursor;
      await server.post("/entries", { kind: "error", error: "new", project: "p" });
    }
    expect(seen).toEqual(batch.map(({ error }) => error).reverse());
  });
});

describe("the store", () => {
  test("health has the version and how far log and index are", async () => {
    const server = await startServer();
    await server.post("/interactions", { prompt: "p" });
    await server.get("/entries");
    const { status, body } = await server.get("/health");
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "ok",
      version: "1.2.3",
      position: 1,
      indexed_through: 1,
      texts_indexed_through: expect.any(Number),
      pending: 0,
      memories_waiting: 0,
      problems: [],
    });
    const head = await server.request("/health", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  test("verify walks the chain", async () => {
    const server = await startServer();
    await server.post("/interactions", { prompt: "p" });
    const { status, body } = await server.get("/verify");
    const { hash } = (await server.get("/entries/1")).body;
    expect(status).toBe(200);
    expect(body).toEqual({ ok: true, entries: 1, erased: 0, position: 1, hash });
  });
});

test("any JSON string survives the way there and back", async () => {
  const server = await startServer();
  const prompt = "\u0000 \ud800 \udc00 😀 שלום \u2028 \u202e \\u0041 é e\u0301 \ufeff";
  const body = JSON.stringify({ id: "all", prompt, response: `${prompt}${prompt}` });
  await server.post("/interactions", body);
  const read = (await server.get("/interactions/all")).body;
  expect(read.prompt).toBe(prompt);
  expect(read.response).toBe(`${prompt}${prompt}`);
});

test("__proto__ and constructor are keys like any other", async () => {
  const server = await startServer();
  const context_pack = '{"__proto__":{"a":1},"constructor":{"prototype":2}}';
  await server.post("/interactions", `{"id":"p","prompt":"x","__proto__":{"b":2},"context_pack":${context_pack}}`);
  const { text } = await server.get("/interactions/p");
  expect(text).toContain(`"context_pack":${context_pack}`);
  expect(text).toContain('"extra":{"__proto__":{"b":2}}');
});

test("a byte order mark before the body is passed over", async () => {
  const server = await startServer();
  expect((await server.post("/interactions", '\ufeff{"prompt":"p"}')).status).toBe(201);
  expect((await server.post("/entries", '\ufeff{"kind":"error","error":"e"}\n', NDJSON)).status).toBe(201);
});

test("a media type may carry parameters", async () => {
  const server = await startServer();
  const answer = await server.post(
    "/interactions",
    { prompt: "p" },
    { "content-type": "application/json; charset=UTF-8" },
  );
  expect(answer.status).toBe(201);
});
