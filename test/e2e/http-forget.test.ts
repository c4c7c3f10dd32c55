// Forgetting over HTTP: what goes, what stays, and what every other view says afterwards.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderOfTest } from "../support/temporary-folder.js";
import { type HttpResponse, startServer, type TestServer } from "./http-client.js";

const reason = "the person asked us to";

/** Two sessions of two projects, with one of every kind in the first. */
const entries = [
  { kind: "session_info", id: "info", session_id: "s1", project: "p1", title: "Title", metadata: { topic: "m" } },
  {
    kind: "interaction",
    id: "asked",
    session_id: "s1",
    project: "p1",
    prompt: "alpha question",
    memories_used: ["m1"],
  },
  { kind: "message", id: "said", session_id: "s1", project: "p1", role: "user", content: "alpha hello" },
  { kind: "message", id: "replied", session_id: "s1", project: "p1", role: "assistant", content: "alpha reply" },
  { kind: "tool_call", id: "ran", session_id: "s1", project: "p1", tool: "read", args: { path: "alpha" }, result: "x" },
  { kind: "response", id: "answered", interaction_id: "asked", response: "alpha answer", memories_used: ["m2"] },
  { kind: "consolidation", id: "condensed", session_id: "s1", project: "p1", through: 4, summary: "alpha summary" },
  { kind: "error", id: "failed", session_id: "s2", project: "p2", error: "alpha error" },
  { kind: "message", id: "other", session_id: "s2", project: "p2", role: "user", content: "alpha hello" },
];

async function filled(): Promise<TestServer> {
  const server = await startServer();
  expect((await server.post("/entries", entries)).status).toBe(201);
  return server;
}

async function positionsIn(server: TestServer, path: string): Promise<readonly number[]> {
  const { body } = await server.get(path);
  const rows = body.entries ?? body.results ?? body.interactions;
  return rows.map(({ position }: { readonly position: number }) => position).toSorted((a: number, b: number) => a - b);
}

describe("a session that is forgotten", () => {
  test("takes everything of it, and a redaction and an audit entry say so", async () => {
    const server = await filled();
    const { status, body } = await server.post("/forget", { session_id: "s1", reason });
    expect(status).toBe(200);
    expect(body).toEqual({
      dry_run: false,
      entries: 7,
      positions: [1, 2, 3, 4, 5, 6, 7],
      redaction: 10,
      left: [],
      by_kind: { session_info: 1, interaction: 1, message: 2, tool_call: 1, response: 1, consolidation: 1 },
    });
    const redaction = (await server.get("/entries/10")).body;
    expect(redaction).toMatchObject({ kind: "redaction", positions: body.positions, reason, scope: "session" });
    expect((await server.get("/entries/11")).body).toMatchObject({
      kind: "audit",
      action: "forget",
      actor: "person",
      target: redaction.id,
    });
    expect((await server.get("/verify")).body).toMatchObject({ ok: true, entries: 11, erased: 7 });
  });

  test("is in no list, search, history, reflection, count or tail any more", async () => {
    const server = await filled();
    expect(await positionsIn(server, "/search?q=alpha")).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    await server.post("/forget", { session_id: "s1", reason });
    expect(await positionsIn(server, "/search?q=alpha")).toEqual([8, 9]);
    expect(await positionsIn(server, "/entries")).toEqual([8, 9, 10, 11]);
    expect(await positionsIn(server, "/interactions?memory=m2")).toEqual([]);
    expect((await server.get("/sessions")).body.sessions).toMatchObject([{ session_id: "s2" }]);
    expect((await server.get("/sessions/s1")).status).toBe(404);
    expect((await server.get("/sessions/s1/entries")).body.entries).toEqual([]);
    expect((await server.get("/sessions/s1/history")).body.messages).toEqual([]);
    expect((await server.get("/reflection")).body).toMatchObject({ reviewed: 2, users: 1, errors: 1 });
    expect((await server.get("/search?since=1d&facets=1")).body.facets.projects).toEqual([{ project: "p2", count: 2 }]);
    expect(await server.recorder.count()).toMatchObject({ entries: 4, sessions: 1, by_kind: { message: 1, error: 1 } });
    const followed: number[] = [];
    for await (const { position } of server.recorder.tail({ after: 0 })) {
      followed.push(position);
      if (position === 11) break;
    }
    expect(followed).toEqual([8, 9, 10, 11]);
  });

  test("answers the same from an index that is rebuilt", async () => {
    const server = await filled();
    await server.post("/forget", { session_id: "s1", reason });
    const answers = async (): Promise<readonly unknown[]> =>
      Promise.all(
        ["/entries", "/sessions", "/search?q=alpha", "/interactions", "/sessions/s1"].map(
          async (path) => (await server.get(path)).body,
        ),
      );
    const before = [...(await answers()), await server.recorder.count()];
    await server.recorder.rebuildIndex();
    expect([...(await answers()), await server.recorder.count()]).toEqual(before);
  });

  test("continues if captures in it continue", async () => {
    const server = await filled();
    await server.post("/forget", { session_id: "s1", reason });
    await server.post("/entries", { kind: "message", session_id: "s1", role: "user", content: "a new beginning" });
    expect((await server.get("/sessions/s1")).body).toMatchObject({
      entries: 1,
      title: "a new beginning",
      title_source: "first_prompt",
      consolidated_through: 0,
    });
    expect((await server.get("/sessions/s1/history")).body.messages).toEqual([
      { role: "user", content: "a new beginning" },
    ]);
  });
});

describe("an erased entry", () => {
  test("reads as its envelope, by position and by the id it had", async () => {
    const server = await filled();
    await server.post("/forget", { entry: "said", reason });
    const left = { kind: "message", session_id: "", project: "", client: "", erased: true };
    const { body } = await server.get("/entries/3");
    expect(body).toEqual({ ...body, ...left, position: 3, id: "", created_at: body.recorded_at });
    expect(Object.keys(body).sort()).toEqual(
      [
        ...["position", "id", "kind", "created_at", "recorded_at", "recorded_by"],
        ...["session_id", "project", "client", "user_id", "tags", "parent_id"],
      ]
        .concat(["hash", "erased"])
        .sort(),
    );
    expect((await server.get("/entries/said")).body).toEqual({ ...body, id: "said" });
    expect((await server.get("/interactions/said")).status).toBe(404);
  });

  test("keeps its id taken: whatever comes with it is acknowledged, and nothing is stored", async () => {
    const server = await filled();
    await server.post("/forget", { entry: "asked", reason });
    const { position } = (await server.get("/health")).body;
    const again = await server.post("/interactions", { id: "asked", prompt: "alpha question" });
    expect([again.status, again.body.status, again.body.position]).toEqual([200, "already_recorded", 2]);
    const other = await server.post("/entries", { kind: "error", id: "asked", error: "another" });
    expect([other.status, other.body.status]).toEqual([200, "already_recorded"]);
    expect((await server.get("/health")).body.position).toBe(position);
    const late = await server.post("/interactions/asked/response", { response: "too late" });
    expect([late.status, late.body.error.code]).toEqual([404, "interaction_not_found"]);
  });

  test("is exported with its commitment, and the export gives the same log again", async () => {
    const server = await filled();
    await server.post("/forget", { session_id: "s1", reason });
    const { text } = await server.get("/export");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[1]).toEqual({
      position: 1,
      kind: "session_info",
      recorded_by: "",
      erased: true,
      claims: [expect.stringMatching(/^[0-9a-f]{32,64}$/)],
      recorded_at: expect.any(String),
      hash: expect.any(String),
      commitment: expect.any(String),
    });
    const target = await startServer();
    await target.recorder.importFiles(fileWith(text));
    expect((await target.get("/verify")).body).toMatchObject({ ok: true, entries: 11, erased: 7 });
    expect((await target.get("/entries/11")).body).toEqual((await server.get("/entries/11")).body);
  });
});

describe("a single entry that is forgotten", () => {
  test("takes the response that completed it, and leaves the rest of its session", async () => {
    const server = await filled();
    expect((await server.post("/forget", { entry: "asked", reason })).body.positions).toEqual([2, 6]);
    expect((await server.get("/sessions/s1")).body).toMatchObject({ entries: 5, interactions: 0, title: "Title" });
    expect(await positionsIn(server, "/search?q=answer")).toEqual([]);
  });

  test("alone leaves an interaction without its response, and without what the response used", async () => {
    const server = await filled();
    expect((await server.post("/forget", { entry: 6, reason })).body.positions).toEqual([6]);
    expect((await server.get("/interactions/asked")).body).toMatchObject({ response: "", memories_used: ["m1"] });
    expect(await positionsIn(server, "/interactions?memory=m2")).toEqual([]);
    expect(await positionsIn(server, "/interactions?memory=m1")).toEqual([2]);
  });

  test("leaves the same text in other entries", async () => {
    const server = await filled();
    await server.post("/forget", { entry: "said", reason });
    expect(await positionsIn(server, '/search?q="alpha hello"')).toEqual([9]);
    expect((await server.get("/entries/other")).body.content).toBe("alpha hello");
  });
});

test("a project that is forgotten takes everything that bears its name", async () => {
  const server = await filled();
  const dry = await server.post("/forget", { project: "p2", reason, dry_run: true });
  expect(dry.body).toMatchObject({ dry_run: true, positions: [8, 9], redaction: null, entries: 2 });
  expect(await positionsIn(server, "/entries?project=p2")).toEqual([8, 9]);
  expect((await server.post("/forget", { project: "p2", reason })).body.positions).toEqual([8, 9]);
  expect(await positionsIn(server, "/entries?project=p2")).toEqual([]);
});

test("a missing target is a 404, also if it was forgotten before", async () => {
  const server = await filled();
  const codeOf = ({ status, body }: HttpResponse): readonly unknown[] => [status, body.error.code, body.error.field];
  const missing = { entry: "nobody", session_id: "nobody", project: "nobody" };
  for (const [field, value] of Object.entries(missing)) {
    const code = `${field.replace("_id", "")}_not_found`;
    expect(codeOf(await server.post("/forget", { [field]: value, reason }))).toEqual([404, code, field]);
  }
  await server.post("/forget", { entry: "said", reason });
  expect(codeOf(await server.post("/forget", { entry: "said", reason }))[0]).toBe(404);
  expect(codeOf(await server.post("/forget", { entry: 99_999, reason }))[0]).toBe(404);
});

test.each([
  [{ reason }, "field_missing", "entry"],
  [{ entry: "a", session_id: "b", reason }, "field_invalid", "session_id"],
  [{ entry: "a" }, "field_missing", "reason"],
  [{ entry: "a", reason: "  " }, "field_invalid", "reason"],
  [{ entry: "a", reason: "r".repeat(1_001) }, "field_invalid", "reason"],
  [{ entry: {}, reason }, "field_invalid", "entry"],
  [{ session_id: "", reason }, "session_id_invalid", "session_id"],
  [{ project: "-", reason }, "label_invalid", "project"],
  [{ project: "", reason }, "field_invalid", "project"],
  [{ entry: "a", reason, force: true }, "field_invalid", "force"],
  [{ entry: "a", reason, actor: "somebody else" }, "field_invalid", "actor"],
  [{ entry: "a", reason, dry_run: "yes" }, "field_invalid", "dry_run"],
  [["a"], "field_invalid", "body"],
])("%j is refused, and nothing is forgotten", async (body, code, field) => {
  const server = await startServer();
  const answer = await server.post("/forget", body);
  expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([400, code, field]);
  expect(answer.body.error.message).not.toBe("");
});

test("system entries are not forgotten, and clients cannot write them", async () => {
  const server = await filled();
  await server.post("/forget", { entry: "said", reason });
  for (const entry of [10, 11]) {
    const { status, body } = await server.post("/forget", { entry, reason });
    expect([status, body.error.code]).toEqual([400, "kind_reserved"]);
  }
  for (const kind of ["redaction", "audit"]) {
    const { status, body } = await server.post("/entries", { kind, positions: [1], reason, action: "a", actor: "b" });
    expect([status, body.error.code]).toEqual([400, "kind_reserved"]);
  }
});

test("capture into a session while it is forgotten: what comes after the redaction stays, what came before is gone", async () => {
  const server = await startServer();
  const send = (at: number): Promise<HttpResponse> =>
    server.post("/entries", { kind: "message", session_id: "race", role: "user", content: `word ${at}` });
  for (let at = 0; at < 20; at += 1) await send(at);
  const sending = Promise.all(Array.from({ length: 60 }, (_, at) => send(20 + at)));
  const { body } = await server.post("/forget", { session_id: "race", reason });
  await sending;
  const left = await positionsIn(server, "/entries?session_id=race&limit=500");
  expect(left.every((position) => position > body.redaction)).toBe(true);
  expect(body.entries + left.length).toBe(80);
  expect((await server.get("/verify")).body).toMatchObject({ ok: true, erased: body.entries });
});

function fileWith(text: string): string {
  const path = join(folderOfTest(), "export.ndjson");
  writeFileSync(path, text);
  return path;
}

describe("an interaction and its response", () => {
  test("that were forgotten read as their remains", async () => {
    const server = await filled();
    await server.post("/forget", { entry: "asked", reason });
    const left = { id: "asked", erased: true };
    expect((await server.get("/interactions/asked")).body).toMatchObject(left);
    expect(await server.recorder.getInteraction("asked")).toMatchObject(left);
    const again = { id: "asked", prompt: "alpha question" };
    expect(await server.recorder.recordInteraction(again)).toMatchObject({ id: "asked", position: 2, erased: true });
  });

  test("are acknowledged by their ids, and nothing else is taken for them", async () => {
    const server = await startServer();
    await server.post("/interactions", { id: "i", prompt: "p" });
    await server.post("/interactions/i/response", { id: "r", response: "gone" });
    await server.post("/forget", { entry: "r", reason });
    const answer = await server.post("/interactions/i/response", { id: "r", response: "gone" });
    expect(answer).toMatchObject({ status: 200, body: { status: "already_recorded", id: "r", position: 2 } });
    for (const other of [{ response: "new" }, { id: "r2", response: "gone" }]) {
      expect(await server.post("/interactions/i/response", other)).toMatchObject({
        status: 409,
        body: { error: { code: "already_completed" } },
      });
    }
    await server.post("/forget", { entry: "i", reason });
    const batch = [
      { kind: "response", id: "r", interaction_id: "i", response: "gone" },
      { kind: "error", id: "e", error: "x" },
    ];
    expect(await server.post("/entries", batch)).toMatchObject({ status: 201 });
    expect(await server.post("/interactions/i/response", { id: "new", response: "n" })).toMatchObject({ status: 404 });
  });
});
