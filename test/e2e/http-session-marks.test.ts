// The two marks that history starts after, and the ids that sessions may have, over a real connection.
import { request as httpRequest } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { serverOfFile, startServer, type TestServer } from "./http-client.js";

/** Two turns of session s at positions 1 to 4, the other session's message at 5, and a question at 6. */
async function twoTurns(): Promise<TestServer> {
  const server = await startServer();
  await recordTwoTurns(server);
  return server;
}

/** The same, for all that is refused and so leaves it as it is. */
const unchanged = serverOfFile();
beforeAll(() => recordTwoTurns(unchanged()));

async function recordTwoTurns(server: TestServer): Promise<void> {
  const said = ["user one", "assistant two", "user three", "assistant four", "other five", "user six"];
  const { status } = await server.post(
    "/entries",
    said.map((words) => {
      const [who = "", content] = words.split(" ");
      const isOther = who === "other";
      return { kind: "message", session_id: isOther ? "other" : "s", role: isOther ? "user" : who, content };
    }),
  );
  expect(status).toBe(201);
}

const contentsOf = async (server: TestServer): Promise<readonly string[]> =>
  (await server.get("/sessions/s/history")).body.messages.map(({ content }: { content: string }) => content);
const positionOf = async (server: TestServer): Promise<number> => (await server.get("/health")).body.position;

describe("consolidate", () => {
  test("takes what came up to the position out of history, and keeps it in the log", async () => {
    const server = await twoTurns();
    const { status, body } = await server.post("/sessions/s/consolidate", {
      through: 2,
      summary: "counting",
      trigger: "manual",
      tokens_before: 12,
    });
    expect([status, body]).toEqual([200, { through: 2 }]);
    expect(await contentsOf(server)).toEqual(["counting", "three", "four", "six"]);
    expect((await server.get("/entries/7")).body).toMatchObject({
      kind: "consolidation",
      session_id: "s",
      through: 2,
      summary: "counting",
      kept: [],
      trigger: "manual",
      tokens_before: 12,
    });
    expect((await server.get("/sessions/s")).body).toMatchObject({ consolidated_through: 2, messages: 5 });
    expect((await server.get("/sessions/s/entries")).body.entries).toHaveLength(6);
  });

  test("snaps down to the end of a complete turn and answers with it", async () => {
    const server = await twoTurns();
    expect((await server.post("/sessions/s/consolidate", { through: 6 })).body).toEqual({ through: 4 });
    expect((await server.get("/entries/7")).body).toMatchObject({ kind: "consolidation", through: 4, summary: "" });
  });

  test.each([
    ["a position inside the first turn", [], 1, 0],
    ["the same position again", [4], 4, 4],
    ["a position that snaps to where it stands", [4], 6, 4],
  ])("what would move nothing is a 200 without an entry: %s", async (_, before, through, effective) => {
    const server = await twoTurns();
    for (const earlier of before) await server.post("/sessions/s/consolidate", { through: earlier });
    const position = await positionOf(server);
    const { status, body } = await server.post("/sessions/s/consolidate", { through });
    expect([status, body]).toEqual([200, { through: effective }]);
    expect(await positionOf(server)).toBe(position);
  });

  test("backwards is a 409, and nothing is added", async () => {
    const server = await twoTurns();
    await server.post("/sessions/s/consolidate", { through: 4 });
    const { status, body } = await server.post("/sessions/s/consolidate", { through: 2 });
    expect(status).toBe(409);
    expect(body.error).toMatchObject({ code: "consolidation_backwards", field: "through" });
    expect(await positionOf(server)).toBe(7);
  });

  test.each<[string, string, unknown, string, string?]>([
    ["a position of another session", "s", { through: 5 }, "field_invalid", "through"],
    ["a position beyond the end", "s", { through: 7 }, "field_invalid", "through"],
    ["a session that is not there", "nobody", { through: 1 }, "field_invalid", "through"],
    ["position zero", "s", { through: 0 }, "field_invalid", "through"],
    ["half a position", "s", { through: 1.5 }, "field_invalid", "through"],
    ["a position in quotes", "s", { through: "2" }, "field_invalid", "through"],
    ["no position", "s", { summary: "x" }, "field_missing", "through"],
    ["null for a position", "s", { through: null }, "field_missing", "through"],
    ["a summary that is a number", "s", { through: 2, summary: 7 }, "field_invalid", "summary"],
    ["a field that would be lost", "s", { through: 2, sumary: "x" }, "field_invalid", "sumary"],
    ["a list", "s", [2], "field_invalid", "body"],
    ["no body", "s", undefined, "body_missing"],
    ["broken JSON", "s", "{", "json_invalid"],
  ])("%s is a 400, and nothing is added", async (_, session, body, code, field) => {
    const answer = await unchanged().post(`/sessions/${session}/consolidate`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code, ...(field === undefined ? {} : { field }) });
    expect(await positionOf(unchanged())).toBe(6);
  });
});

describe("clear", () => {
  test("starts a new history with a marker that is answered like any entry", async () => {
    const server = await twoTurns();
    const { status, body } = await server.post("/sessions/s/clear", undefined, {});
    expect(status).toBe(201);
    expect(body).toEqual({
      status: "recorded",
      id: expect.any(String),
      created_at: expect.any(String),
      position: 7,
    });
    expect(await contentsOf(server)).toEqual([]);
    expect((await server.get("/sessions/s")).body).toMatchObject({ messages: 5, entries: 6 });
  });

  test.each<[string, string | undefined, { readonly [name: string]: string }]>([
    ["no body and no type", undefined, {}],
    ["an empty body of JSON", "", { "content-type": "application/json" }],
    ["an empty form, as curl -d '' sends it", "", { "content-type": "application/x-www-form-urlencoded" }],
    ["an empty object", "{}", { "content-type": "application/json" }],
  ])("takes %s", async (_, body, headers) => {
    const server = await twoTurns();
    expect((await server.post("/sessions/s/clear", body, headers)).status).toBe(201);
  });

  test("with an id of its own it can be repeated, and is stored once", async () => {
    const server = await twoTurns();
    const marker = { id: "c-1", project: "web", why: "a new topic" };
    const first = await server.post("/sessions/s/clear", marker);
    const second = await server.post("/sessions/s/clear", marker);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual({ ...first.body, status: "already_recorded" });
    expect((await server.get("/entries/c-1")).body).toMatchObject({
      kind: "clear",
      session_id: "s",
      project: "web",
      extra: { why: "a new topic" },
    });
    expect((await server.post("/sessions/other/clear", marker)).body.error.code).toBe("id_conflict");
    expect(await positionOf(server)).toBe(7);
  });

  test.each<[string, unknown, string]>([
    ["another session in the body", { session_id: "t" }, "session_id_invalid"],
    ["another kind", { kind: "message" }, "field_invalid"],
    ["a list", [], "field_invalid"],
    ["null", "null", "field_invalid"],
    ["broken JSON", "{", "json_invalid"],
    ["a label that is none", { project: "-" }, "label_invalid"],
  ])("%s is a 400, and nothing is added", async (_, body, code) => {
    const answer = await unchanged().post("/sessions/s/clear", body);
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
    expect(await positionOf(unchanged())).toBe(6);
  });

  test("a body that is not JSON is a 415", async () => {
    const { status, body } = await unchanged().post("/sessions/s/clear", "a=b", { "content-type": "text/plain" });
    expect([status, body.error.code]).toEqual([415, "content_type_unsupported"]);
  });
});

describe("ids of sessions in addresses", () => {
  const server = serverOfFile();

  test("are kept exactly: what differs is another session", async () => {
    const ids = [
      ...["a:b", "a/b", "a_b", "A:B", "a b", "a+b", "a%2Fb", "a%20b", "...", "-x", "?", "#", "&=", "é", "e\u0301"],
      ...["🙂", "עברית", "\u202eabc", "x".repeat(512), "é".repeat(256), "🙂".repeat(128), "/", "//", "entries"],
    ];
    for (const id of ids) {
      const cleared = await server().post(`/sessions/${encodeURIComponent(id)}/clear`, { client: "made" });
      expect(cleared.status, id).toBe(201);
    }
    for (const id of ids) {
      const path = `/sessions/${encodeURIComponent(id)}`;
      expect((await server().get(path)).body, id).toMatchObject({ session_id: id, entries: 1 });
      expect((await server().get(`${path}/entries`)).body.entries, id).toMatchObject([{ session_id: id }]);
    }
    const { body } = await server().get("/sessions?client=made&limit=500");
    expect(body.sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual([...ids].reverse());
  });

  // Sent as they are: a URL parser would take dots away before the server saw them.
  test.each([
    ["/sessions/.", "session_id_invalid"],
    ["/sessions/..", "session_id_invalid"],
    ["/sessions/%2e", "session_id_invalid"],
    ["/sessions/%2e%2E", "session_id_invalid"],
    ["/sessions/%2e%2e/history", "session_id_invalid"],
    ["/sessions/../entries", "session_id_invalid"],
    ["/sessions/-/history", "session_id_invalid"],
    ["/sessions/%00", "session_id_invalid"],
    ["/sessions/a%0Ab/entries", "session_id_invalid"],
    ["/sessions/", "session_id_invalid"],
    ["/sessions//history", "session_id_invalid"],
    [`/sessions/${"x".repeat(513)}`, "session_id_invalid"],
    [`/sessions/${"%F0%9F%99%82".repeat(129)}/history`, "session_id_invalid"],
    [`/sessions/${"x".repeat(2_000)}`, "request_invalid"],
    ["/sessions/%ff", "request_invalid"],
    ["/sessions/%ED%A0%80", "request_invalid"],
    ["/sessions/%", "request_invalid"],
  ])("%s is a 400", async (path, code) => {
    const { status, body } = await getAsIs(server(), path);
    expect([status, body.error.code]).toEqual([400, code]);
  });

  test("are refused before anything is added", async () => {
    const position = await positionOf(server());
    for (const id of ["%2e%2e", "", "x".repeat(513), "-"]) {
      expect((await postAsIs(server(), `/sessions/${id}/clear`)).status).toBe(400);
    }
    expect(await positionOf(server())).toBe(position);
  });

  test("another method, or another word behind the id, leads nowhere", async () => {
    const wrongMethod = await server().request("/sessions/s/clear", { method: "GET" });
    expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await server().get("/sessions/s/messages")).status).toBe(404);
    expect((await server().get("/sessions/a/b/history")).status).toBe(404);
  });
});

interface RawAnswer {
  readonly status: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the assertions are the check.
  readonly body: any;
}

const getAsIs = (server: TestServer, path: string) => askAsIs(server, path, "GET");
const postAsIs = (server: TestServer, path: string) => askAsIs(server, path, "POST");

function askAsIs(server: TestServer, path: string, method: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(server.address);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, path, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}
