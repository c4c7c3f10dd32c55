// Sessions over a real connection: list, summary, timeline, history, consolidate and clear.

import { beforeAll, describe, expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { serverOfFile, startServer, type TestServer } from "./http-client.js";

const say = (session_id: string, role: string, content: string): EntryInput => ({
  kind: "message",
  session_id,
  role,
  content,
});
const turn = (session_id: string, n: number): readonly EntryInput[] => [
  say(session_id, "user", `question ${n}`),
  say(session_id, "assistant", `answer ${n}`),
];

describe("a session", () => {
  const server = serverOfFile();

  /** Positions 1 to 8; 7 belongs to no session, and 8 to another one. */
  const entries: readonly EntryInput[] = [
    { kind: "session_info", session_id: "s", title: "First", metadata: { a: 1, b: 1 }, parent: "root" },
    { ...say("s", "system", "Be brief."), created_at: "2026-11-15T06:00:00Z", project: "web" } as EntryInput,
    { ...say("s", "user", "Which files?"), created_at: "2026-11-15T06:00:01Z", client: "cli" } as EntryInput,
    {
      kind: "message",
      session_id: "s",
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "ls", arguments: '{"path":"."}' } }],
    },
    { kind: "tool_call", session_id: "s", tool: "ls", args: {}, result: "a\nb", tool_call_id: "c1" },
    { kind: "session_info", session_id: "s", title: "Second", metadata: { b: 2 } },
    { kind: "error", error: "elsewhere" },
    ...[{ kind: "error", session_id: "other", error: "elsewhere" } as const],
  ];

  beforeAll(async () => {
    expect((await server().post("/entries", entries)).status).toBe(201);
  });

  test("its summary has counts by kind, its labels, and its facts, where later ones win", async () => {
    const { status, body } = await server().get("/sessions/s");
    expect(status).toBe(200);
    expect(body).toEqual({
      session_id: "s",
      title: "Second",
      title_source: "given",
      metadata: { a: 1, b: 2 },
      parent: "root",
      children: 0,
      first_at: "2026-11-15T06:00:00.000Z",
      last_at: expect.any(String),
      projects: ["web"],
      project: "web",
      clients: ["cli"],
      users: [],
      tags: [],
      entries: 6,
      messages: 3,
      tool_calls: 1,
      errors: 0,
      failures: 0,
      decisions: 0,
      interactions: 0,
      turns: expect.any(Number),
      files: 0,
      usage: {
        calls: 0,
        input_tokens: 0,
        output_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
      },
      active_ms: expect.any(Number),
      outcome: "running",
      last_answer: expect.any(String),
      consolidated_through: 0,
    });
  });

  test("its entries come by position, in either order, and cursors reach each of them once", async () => {
    for (const [order, positions] of [
      ["asc", [1, 2, 3, 4, 5, 6]],
      ["desc", [6, 5, 4, 3, 2, 1]],
    ] as const) {
      const seen: number[] = [];
      let cursor = "";
      do {
        const { body } = await server().get(`/sessions/s/entries?order=${order}&limit=4&cursor=${cursor}`);
        seen.push(...body.entries.map((entry: { position: number }) => entry.position));
        cursor = body.next_cursor;
      } while (cursor !== null);
      expect(seen).toEqual(positions);
    }
    const { body } = await server().get("/sessions/s/entries");
    expect(body.entries[4]).toMatchObject({ kind: "tool_call", tool: "ls", result: "a\nb" });
    expect(body.next_cursor).toBeNull();
  });

  test("its history is OpenAI's form, with nothing but what a model takes", async () => {
    const { status, body } = await server().get("/sessions/s/history");
    expect(status).toBe(200);
    const tool_calls = [{ id: "c1", type: "function", function: { name: "ls", arguments: '{"path":"."}' } }];
    expect(body).toEqual({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Which files?" },
        { role: "assistant", content: "", tool_calls },
        expect.objectContaining({ role: "tool", content: "a\nb", tool_call_id: "c1" }),
      ],
    });
  });

  test("its history in Anthropic's form has a separate system text, also if there is none", async () => {
    const { body } = await server().get("/sessions/s/history?format=anthropic");
    expect(body).toEqual({
      system: "Be brief.",
      messages: [
        { role: "user", content: "Which files?" },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "ls", input: { path: "." } }] },
        { role: "user", content: [expect.objectContaining({ type: "tool_result", tool_use_id: "c1" })] },
      ],
    });
    const unknown = await server().get("/sessions/nobody/history?format=anthropic");
    expect(unknown.body).toEqual({ system: "", messages: [] });
  });

  test.each([
    ["max_messages=0", 0],
    ["max_messages=-3", 0],
    ["max_messages=4", 4],
    ["max_tokens=100000", 4],
    ["max_messages=", 4],
    ["include_pending=true", 4],
    ["include_pending=0", 4],
  ])("history?%s gives %i messages", async (query, count) => {
    const { status, body } = await server().get(`/sessions/s/history?${query}`);
    expect(status).toBe(200);
    expect(body.messages).toHaveLength(count);
  });

  test.each([
    ["max_messages=1", "max_messages", 3],
    ["max_tokens=0", "max_tokens", undefined],
  ])("history?%s is refused with the least that would do", async (query, field, expected) => {
    const { status, body } = await server().get(`/sessions/s/history?${query}`);
    const { code, least } = body.error;
    expect([status, code, body.error.field]).toEqual([400, "budget_too_small", field]);
    if (expected !== undefined) expect(least).toBe(expected);
    expect((await server().get(`/sessions/s/history?${field}=${least}`)).status).toBe(200);
    expect((await server().get(`/sessions/s/history?${field}=${least - 1}`)).body.error.least).toBe(least);
  });

  test("one that has no entry is a 404 for its summary, and empty for its entries and its history", async () => {
    const missing = await server().get("/sessions/nobody");
    expect(missing.status).toBe(404);
    expect(missing.body.error).toMatchObject({ code: "session_not_found", message: 'there is no session "nobody"' });
    expect((await server().get("/sessions/nobody/entries")).body).toEqual({ entries: [], next_cursor: null });
    expect((await server().get("/sessions/nobody/history")).body).toEqual({ messages: [] });
  });

  test.each([
    ["/sessions/s/entries?order=sideways", "field_invalid", "order"],
    ["/sessions/s/entries?limit=many", "limit_invalid", "limit"],
    ["/sessions/s/entries?cursor=broken", "cursor_invalid", "cursor"],
    ["/sessions/s/entries?project=web", "parameter_unknown", "project"],
    ["/sessions/s/history?format=gemini", "field_invalid", "format"],
    ["/sessions/s/history?max_messages=many", "limit_invalid", "max_messages"],
    ["/sessions/s/history?max_tokens=NaN", "limit_invalid", "max_tokens"],
    ["/sessions/s/history?include_pending=perhaps", "field_invalid", "include_pending"],
    ["/sessions/s/history?limit=5", "parameter_unknown", "limit"],
    ["/sessions/s?format=openai", "parameter_unknown", "format"],
    ["/sessions?session_id=s", "parameter_unknown", "session_id"],
    ["/sessions?limit=1e", "limit_invalid", "limit"],
    ["/sessions?project=%00", "label_invalid", "project"],
  ])("%s is a 400 that names what to change", async (path, code, field) => {
    const { status, body } = await server().get(path);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code, field });
  });

  test("a cursor of another session, order or list is refused", async () => {
    const { next_cursor } = (await server().get("/sessions/s/entries?limit=1")).body;
    for (const path of ["/sessions/other/entries?", "/sessions/s/entries?order=desc&", "/sessions?", "/entries?"]) {
      const { status, body } = await server().get(`${path}cursor=${next_cursor}`);
      expect([status, body.error.code], path).toEqual([400, "cursor_invalid"]);
    }
  });
});

test("excerpts=1 adds the beginning of answers to a session's entries, masked before it is cut", async () => {
  const server = await startServer();
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const response = `${"x".repeat(1_980)} ${secret} and more`;
  await server.post("/interactions", { id: "i", session_id: "s", prompt: "Why?" });
  await server.post("/interactions/i/response", { response });
  await server.post("/interactions", { session_id: "s", prompt: "And?", response: "🙂".repeat(3_000) });
  const { body } = await server.get("/sessions/s/entries?excerpts=1");
  const excerpts = body.entries.map((row: { response_excerpt: string }) => row.response_excerpt);
  expect(excerpts).toEqual([excerpts[1], `${"x".repeat(1_980)} [masked:github_toke`, "🙂".repeat(2_000)]);
  expect(body.entries[0].response_chars).toBe(response.length);
  expect(JSON.stringify((await server.get("/sessions/s/entries")).body)).not.toContain("response_excerpt");
  expect((await server.get("/sessions/s/entries?excerpts=perhaps")).body.error).toMatchObject({ field: "excerpts" });
});

test("after=N begins a session's entries beyond a position, in the direction of the order", async () => {
  const server = await startServer();
  await server.post("/entries", [
    say("s", "user", "1"),
    say("t", "user", "2"),
    say("s", "user", "3"),
    say("s", "user", "4"),
  ]);
  const from = async (query: string): Promise<readonly number[]> => {
    const { body } = await server.get(`/sessions/s/entries?${query}`);
    return body.entries.map(({ position }: { position: number }) => position);
  };
  expect(await from("after=1")).toEqual([3, 4]);
  expect(await from("after=2")).toEqual([3, 4]);
  expect(await from("after=4&order=desc")).toEqual([3, 1]);
  expect(await from("after=0")).toEqual([1, 3, 4]);
  const { body } = await server.get("/sessions/s/entries?after=1&limit=1");
  expect(await from(`after=1&limit=1&cursor=${body.next_cursor}`)).toEqual([4]);
  expect((await server.get("/sessions/s/entries?after=first")).body.error).toMatchObject({ field: "after" });
});

describe("the list of sessions", () => {
  test("has the session with the latest time first, then that with the newest position", async () => {
    const server = await startServer();
    await server.post("/entries", [
      { ...say("a", "user", "1"), created_at: "2030-01-01" },
      { ...say("b", "user", "2"), created_at: "2010-01-01" },
      { kind: "error", error: "in no session" },
    ]);
    expect(await idsOf(server, "")).toEqual(["a", "b"]);
    await server.post("/entries", { ...say("b", "user", "3"), created_at: "2001-01-01" });
    expect(await idsOf(server, "")).toEqual(["a", "b"]);
    await server.post("/entries", { ...say("b", "user", "4"), created_at: "2030-01-01" });
    expect(await idsOf(server, "")).toEqual(["b", "a"]);
    await server.post("/entries", { ...say("a", "user", "5"), created_at: "2000-01-01" });
    expect(await idsOf(server, "")).toEqual(["a", "b"]);
  });

  test("filters by project and client, and - finds sessions with an entry that has none", async () => {
    const server = await startServer();
    await server.post("/entries", [
      { ...say("a", "user", "1"), project: "web" },
      { ...say("b", "user", "2"), project: "web", client: "cli" },
      say("c", "user", "3"),
    ]);
    expect(await idsOf(server, "?project=web")).toEqual(["b", "a"]);
    expect(await idsOf(server, "?project=web&client=cli")).toEqual(["b"]);
    expect(await idsOf(server, "?project=-")).toEqual(["c"]);
    expect(await idsOf(server, "?project=")).toEqual(["c", "b", "a"]);
    expect(await idsOf(server, "?project=none")).toEqual([]);
    expect(await idsOf(server, "?limit=0")).toEqual([]);
  });

  test("cursors reach every session exactly once while entries arrive to them", async () => {
    const server = await startServer();
    const ids = Array.from({ length: 11 }, (_, n) => `s${n}`);
    await server.post(
      "/entries",
      ids.map((id) => say(id, "user", "first")),
    );
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await server.get(`/sessions?limit=3&cursor=${cursor}`);
      seen.push(...body.sessions.map(({ session_id }: { session_id: string }) => session_id));
      cursor = body.next_cursor;
      // Both what was seen and what is still to come moves to the front, and a new session appears there.
      const moved = [itemAt(seen, 0), "s0", "s4", `new-${seen.length}`];
      await server.post("/entries", [
        ...moved.map((id) => say(id, "user", "later")),
        ...["s1", "s5", `old-${seen.length}`].map((id) => ({ ...say(id, "user", "of old"), created_at: "1999-01-01" })),
      ]);
    }
    expect(seen).toEqual([...ids].reverse());
  });

  async function idsOf(server: TestServer, query: string): Promise<readonly string[]> {
    const { status, body } = await server.get(`/sessions${query}`);
    expect(status).toBe(200);
    return body.sessions.map(({ session_id }: { session_id: string }) => session_id);
  }
});

test("a session of interactions alone reads as questions and answers", async () => {
  const server = await startServer();
  await server.post("/interactions", { session_id: "s", prompt: "Why?", response: "Because." });
  const { body } = await server.get("/sessions/s/history");
  expect(body.messages).toEqual([
    { role: "user", content: "Why?" },
    { role: "assistant", content: "Because." },
  ]);
  await server.post("/entries", turn("s", 1));
  expect((await server.get("/sessions/s/history")).body.messages).toMatchObject([
    { content: "Why?" },
    { content: "Because." },
    { content: "question 1" },
    { content: "answer 1" },
  ]);
});
