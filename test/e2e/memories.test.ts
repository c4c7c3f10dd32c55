// The memory loop over HTTP, on every engine: propose, decide, list, recall; and what is refused on the way.
import { beforeAll, describe, expect, test } from "vitest";
import type { Scope } from "../../src/guard/scopes.js";
import { openRecorder } from "../../src/index.js";
import { type HttpResponse, serverOfFile, startServer } from "./http-client.js";

const server = serverOfFile();

async function add(memory: object): Promise<HttpResponse> {
  return server().post("/memories", memory);
}

async function propose(content: string, more: object = {}): Promise<HttpResponse> {
  return add({ status: "candidate", type: "preference", source: "person", content, ...more });
}

test("a person adds a memory, which is active at once and has its history", async () => {
  const { status, body } = await add({
    type: "project",
    project: "atlas",
    content: "The port of atlas is 4747",
    confidence: 0.8,
    tags: ["port"],
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    type: "project",
    project: "atlas",
    content: "The port of atlas is 4747",
    confidence: 0.8,
    tags: ["port"],
    status: "active",
    source: "person",
    generation: "",
    given: 0,
    used: 0,
    confirmed: 0,
    evidence: [],
    supported: true,
    similar_to: [],
    conflicts_with: [],
  });
  const got = await server().get(`/memories/${body.id}`);
  expect(got.body).toMatchObject(body);
  expect(got.body.history).toMatchObject([
    { kind: "memory_proposed", actor: "person", content: "The port of atlas is 4747" },
    { kind: "memory_promoted", actor: "person" },
  ]);
  const { entries } = (await server().get("/entries?kind=audit&limit=1")).body;
  expect(entries).toMatchObject([{ action: "verdict", actor: "person", target: body.id }]);
  const search = "/search?q=%22port%20of%20atlas%22";
  expect((await server().get(search)).body).toEqual({ results: [], next_cursor: null, elsewhere: { memory: 1 } });
  const found = (await server().get(`${search}&kind=memory`)).body.results;
  expect(found).toMatchObject([{ kind: "memory_proposed", id: body.id, field: "content", status: "active" }]);
});

test("a candidate without a project waits, and is promoted only with one", async () => {
  const { status, body } = await propose("Retries of the gateway are billed twice", { type: "knowledge", project: "" });
  expect([status, body.status, body.project]).toEqual([201, "candidate", ""]);
  const bare = await server().post(`/memories/${body.id}/promote`);
  expect([bare.status, bare.body.error.code, bare.body.error.field]).toEqual([400, "field_missing", "project"]);
  expect((await server().post("/memories/verdicts", { promote: [body.id] })).body.error.field).toBe("project");
  const promoted = await server().post(`/memories/${body.id}/promote`, { project: "gateway" });
  expect(promoted.body).toMatchObject({ status: "active", project: "gateway" });
  const { body: other } = await propose("Gateways of atlas never retry", { type: "knowledge", project: "atlas" });
  const elsewhere = await server().post(`/memories/${other.id}/promote`, { project: "gateway" });
  expect([elsewhere.status, elsewhere.body.error.field]).toEqual([400, "project"]);
});

test("a candidate waits, is counted everywhere, and gets one verdict", async () => {
  const before = (await server().get("/memories?limit=0")).body.pending;
  const { status, body } = await propose("Prefers tabs over spaces in Go", { actor: "anna" });
  expect([status, body.status]).toEqual([201, "candidate"]);
  // Half, and more as its source is accepted.
  expect(body.confidence).toBeGreaterThanOrEqual(0.5);
  expect((await server().get("/memories?limit=0")).body).toMatchObject({
    memories: [],
    next_cursor: null,
    pending: before + 1,
  });
  expect((await server().get("/health")).body).toMatchObject({ pending: before + 1, memories_waiting: before + 1 });
  expect((await server().get("/stats")).body.pending).toBe(before + 1);
  const promoted = await server().post(`/memories/${body.id}/promote`, {
    actor: "anna",
    content: "Prefers tabs in Go",
  });
  expect(promoted.status).toBe(200);
  expect(promoted.body).toMatchObject({ id: body.id, status: "active", content: "Prefers tabs in Go" });
  for (const verdict of ["promote", "reject"]) {
    const second = await server().post(`/memories/${body.id}/${verdict}`);
    expect([second.status, second.body.error.code]).toEqual([409, "verdict_given"]);
  }
  const { history } = (await server().get(`/memories/${body.id}`)).body;
  expect(history.map(({ kind, actor }: { kind: string; actor: string }) => [kind, actor])).toEqual([
    ["memory_proposed", "anna"],
    ["memory_edited", "anna"],
    ["memory_promoted", "anna"],
  ]);
  const superseded = await server().post(`/memories/${body.id}/supersede`, {
    content: "Prefers spaces in Go after all",
  });
  expect(superseded.body).toMatchObject({ status: "superseded" });
  const next = (await server().get(`/memories/${superseded.body.superseded_by}`)).body;
  expect(next).toMatchObject({ status: "active", type: "preference", content: "Prefers spaces in Go after all" });
  expect((await server().post(`/memories/${body.id}/supersede`)).status).toBe(409);
});

test("no wording has anything in it that the person who decides cannot see", async () => {
  const hidden = "Prefers\u{e0041}\u{e0042} green\u202e te\u200ba\u0000";
  const added = (await add({ content: `${hidden}\n\tin the morning`, project: "hidden" })).body;
  expect(added.content).toBe("Prefers green tea in the morning");
  const { id } = (await propose("Drinks nothing but water at night", { project: "hidden" })).body;
  const refused = await server().post(`/memories/${id}/promote`, { content: "\u200b\u200b" });
  expect([refused.status, refused.body.error.code]).toEqual([400, "field_invalid"]);
  const promoted = await server().post(`/memories/${id}/promote`, { content: hidden });
  expect(promoted.body.content).toBe("Prefers green tea");
});

test("a program's candidate begins at a half, however sure the program is", async () => {
  const content = "Please keep the release notes short and in German.";
  const message = { kind: "message", session_id: "sure", project: "atlas", role: "user", content };
  const [{ id: entry_id }] = (await server().post("/entries", message)).body.entries;
  const evidence = [{ entry_id, quote: content }];
  const sure = { status: "candidate", type: "preference", content: "Release notes are short and in German", evidence };
  expect((await add({ ...sure, confidence: 1 })).body).toMatchObject({ status: "candidate", confidence: 0.5 });
});

test("null counts as no body where a body is optional", async () => {
  const asJson = { headers: { "content-type": "application/json" }, body: "null" };
  const send = (path: string) => fetch(new URL(path, server().address), { method: "POST", ...asJson });
  const { body } = await propose("Prefers early returns over nested branches");
  expect((await send(`/memories/${body.id}/promote`)).status).toBe(200);
  const turn = (await server().post("/interactions", { prompt: "which editor?" })).body;
  expect((await send(`/interactions/${turn.id}/extract`)).status).toBe(200);
  expect((await send(`/interactions/${turn.id}/reinforce`)).status).toBe(200);
  expect((await send("/memories/verdicts")).status).toBe(400);
  const { memories } = server().recorder;
  expect(await memories.supersede(body.id, null as never)).toMatchObject({ status: "superseded" });
});

test("verdicts on several are all or none", async () => {
  const [one, two, three] = await Promise.all(
    ["Prefers short answers to long ones", "Works in the evening most days", "Reads German and French"].map(
      async (content) => (await propose(content)).body.id,
    ),
  );
  await server().post(`/memories/${three}/reject`, { reason: "wrong" });
  const refused = await server().post("/memories/verdicts", { promote: [one, two], reject: [three] });
  expect([refused.status, refused.body.error]).toMatchObject([409, { code: "verdict_given", index: 2 }]);
  expect((await server().get(`/memories/${one}`)).body.status).toBe("candidate");
  const unknown = await server().post("/memories/verdicts", { promote: [one, "nobody"] });
  expect([unknown.status, unknown.body.error]).toMatchObject([404, { code: "memory_not_found", index: 1 }]);
  const given = await server().post("/memories/verdicts", { promote: [one], reject: [two], actor: "anna" });
  expect(given.body.memories).toMatchObject([
    { id: one, status: "active" },
    { id: two, status: "rejected" },
  ]);
  const again = await server().post("/memories/verdicts", { promote: [one] });
  expect(again.status).toBe(409);
});

describe("refused input", () => {
  test.each([
    ["no content", {}, 400, "field_missing", "content"],
    ["blank content", { content: " \n" }, 400, "field_invalid", "content"],
    ["invisible content", { content: "\u200b\u2060\u{e0041}" }, 400, "field_invalid", "content"],
    ["content of 100 KB", { content: "x".repeat(100_000) }, 400, "field_invalid", "content"],
    ["content that is no text", { content: 7 }, 400, "field_invalid", "content"],
    ["a confidence above 1", { content: "x", confidence: 1.1 }, 400, "confidence_out_of_range", "confidence"],
    ["an unknown type", { content: "x", type: "gossip" }, 400, "field_invalid", "type"],
    ["an unknown status", { content: "x", status: "rejected" }, 400, "field_invalid", "status"],
    ["a field that does not exist", { content: "x", contents: "y" }, 400, "field_invalid", "contents"],
    ["evidence without a quote", { content: "x", evidence: [{ entry_id: "e" }] }, 400, "field_invalid", "evidence"],
    [
      "evidence of no entry",
      { content: "Answers are short", evidence: [{ entry_id: "e", quote: "q" }] },
      400,
      "field_invalid",
      "evidence",
    ],
    ["a time that is none", { content: "x", valid_until: "soon" }, 400, "time_invalid", "valid_until"],
    ["a project that is none", { content: "x", project: "-" }, 400, "label_invalid", "project"],
  ])("%s", async (_, body, status, code, field) => {
    const answer = await add(body);
    expect([answer.status, answer.body.error]).toMatchObject([status, { code, field }]);
  });

  test.each([
    ["/memories/nobody/promote", {}, 404, "memory_not_found"],
    ["/memories/nobody/reject", {}, 404, "memory_not_found"],
    ["/memories/nobody/supersede", {}, 404, "memory_not_found"],
    ["/memories/nobody/reject", { content: "x" }, 400, "field_invalid"],
    ["/memories/verdicts", {}, 400, "field_missing"],
    ["/memories/verdicts", { promote: ["a"], reject: ["a"] }, 400, "field_invalid"],
    ["/memories/verdicts", { promote: "a" }, 400, "field_invalid"],
  ])("%s %j", async (path, body, status, code) => {
    const answer = await server().post(path, body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  test("an unknown memory is not found", async () => {
    const { status, body } = await server().get("/memories/nobody");
    expect([status, body.error.code]).toEqual([404, "memory_not_found"]);
  });
});

describe("lists", () => {
  test("are reached page by page, each memory once, while others arrive", async () => {
    const ids = new Set<string>();
    for (const n of [1, 2, 3, 4, 5]) ids.add((await add({ content: `Page number ${n}`, project: "pages" })).body.id);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: HttpResponse = await server().get(`/memories?project=pages&limit=2&cursor=${cursor}`);
      seen.push(...page.body.memories.map(({ id }: { id: string }) => id));
      cursor = page.body.next_cursor;
      await add({ content: `And ${seen.length} were seen`, project: "pages" });
    }
    expect(seen).toEqual([...ids].reverse());
    const other = await server().get(`/memories?project=other&cursor=${encodeURIComponent("x.y")}`);
    expect(other.body.error.code).toBe("cursor_invalid");
  });

  test("the queue has what more sessions and weightier voices say first", async () => {
    const say = async (id: string, session_id: string, role: string, content: string): Promise<void> => {
      await server().recorder.append({ kind: "message", id, session_id, role, content, project: "queue" });
    };
    await say("q1", "qs1", "user", "Please keep all functions below forty lines");
    await say("q2", "qs2", "user", "As I said: keep all functions below forty lines");
    await say("q3", "qs3", "assistant", "The build takes about ninety seconds here");
    const quote = "keep all functions below forty lines";
    const weak = await add({
      status: "candidate",
      type: "episodic",
      content: "The build takes about ninety seconds here",
      source: "person",
      evidence: [{ entry_id: "q3", quote: "The build takes about ninety seconds here" }],
    });
    const strong = await add({
      status: "candidate",
      type: "preference",
      content: "Keep all functions below forty lines",
      source: "person",
      evidence: [
        { entry_id: "q1", quote },
        { entry_id: "q2", quote },
      ],
    });
    const newer = await propose("Drinks tea and never coffee", { project: "queue" });
    const { memories } = (await server().get("/memories?status=candidate")).body;
    const order = memories.map(({ id }: { id: string }) => id);
    expect(order.indexOf(strong.body.id)).toBeLessThan(order.indexOf(newer.body.id));
    expect(order.indexOf(newer.body.id)).toBeLessThan(order.indexOf(weak.body.id));
    expect(strong.body.evidence).toEqual([
      { entry_id: "q1", quote },
      { entry_id: "q2", quote },
    ]);
  });
});

describe("recall", () => {
  beforeAll(async () => {
    const given: readonly (readonly [type: string, content: string, project?: string])[] = [
      ["preference", "Answers in German"],
      ["project", "Deploys go through the blue gate", "recall"],
      ["project", "Deploys go through the red gate", "elsewhere"],
      ["knowledge", "The tea kettle holds two litres", "recall"],
      ["knowledge", "Index files live beside the log", "recall"],
      ["episodic", "The build was red on Monday", "recall"],
    ];
    for (const [type, content, project = ""] of given) await add({ type, content, project });
    await add({ type: "knowledge", content: "The offer ends", project: "recall", valid_until: "2020-01-01" });
  });

  test("gives whole statements of the project and global ones, what matches first, to be recorded as it is", async () => {
    const { status, body } = await server().get("/recall?project=recall&q=where%20do%20index%20files%20live");
    expect(status).toBe(200);
    const contents = body.context_pack.memories.map(({ content }: { content: string }) => content);
    expect(contents).toContain("Answers in German");
    expect(contents).toContain("Deploys go through the blue gate");
    expect(contents.indexOf("Index files live beside the log")).toBeLessThan(
      contents.indexOf("The tea kettle holds two litres"),
    );
    for (const absent of ["Deploys go through the red gate", "The build was red on Monday", "The offer ends"]) {
      expect(contents).not.toContain(absent);
    }
    expect(body.memories_used).toEqual(body.context_pack.memories.map(({ id }: { id: string }) => id));
    const recorded = await server().post("/interactions", { prompt: "Where?", ...body });
    const read = (await server().get(`/interactions/${recorded.body.id}`)).body;
    expect(read).toMatchObject(body);
  });

  test("keeps within the budget and its shares", async () => {
    for (const budget of [0, 1, 20, 60, 2_000]) {
      const { context_pack } = (await server().get(`/recall?project=recall&budget_tokens=${budget}`)).body;
      expect(context_pack.budget_tokens).toBe(budget);
      expect(context_pack.tokens).toBeLessThanOrEqual(budget);
      for (const { content } of context_pack.memories) expect(context_pack.text).toContain(`- ${content}\n`);
    }
    const small = (await server().get("/recall?project=recall&budget_tokens=30")).body.context_pack;
    expect(small.memories.map(({ type }: { type: string }) => type)).not.toContain("preference");
    expect(small.memories.length).toBeGreaterThan(0);
    const all = (await server().get("/recall?project=recall&budget_tokens=1e309")).body.context_pack;
    const most = (await server().get("/recall?project=recall&budget_tokens=1000000")).body.context_pack;
    expect(all).toEqual({ ...most, budget_tokens: Number.MAX_SAFE_INTEGER });
    const bad = await server().get("/recall?budget_tokens=much");
    expect([bad.status, bad.body.error.code]).toEqual([400, "limit_invalid"]);
  });
});

test("a GET of a recall records nothing, and a POST in a session needs a key that may read and capture", async () => {
  const guarded = await startServer();
  const { recorder } = guarded;
  await recorder.memories.add({ content: "The build runs at night", project: "p" });
  const headersOf = async (scope: Scope) => {
    const { key } = await recorder.keys.create({ scope });
    return { authorization: `Bearer ${key}`, "content-type": "application/json" };
  };
  const [read, capture, admin] = [await headersOf("read"), await headersOf("capture"), await headersOf("admin")];
  const positionOf = async () => (await recorder.health()).position;
  const before = await positionOf();
  const got = await guarded.request("/recall?project=p&session_id=s", { headers: read });
  expect([got.status, got.body.memories_used.length]).toEqual([200, 1]);
  const asked = { project: "p", session_id: "s", q: "build", budget_tokens: 500 };
  for (const headers of [read, capture]) {
    const refused = await guarded.post("/recall", asked, headers);
    expect([refused.status, refused.body.error.code]).toEqual([403, "scope_insufficient"]);
  }
  const misspelt = await guarded.post("/recall", { sesion_id: "s" }, admin);
  expect([misspelt.status, misspelt.body.error.field]).toEqual([400, "sesion_id"]);
  expect(await positionOf()).toBe(before);
  const noted = await guarded.post("/recall", asked, admin);
  expect([noted.status, noted.body.memories_used]).toEqual([200, got.body.memories_used]);
  expect(await positionOf()).toBe(before + 1);
  const remote = await openRecorder({ data: guarded.address, key: admin.authorization.slice("Bearer ".length) });
  await remote.memories.recall({ project: "p", session_id: "other" });
  await remote.memories.recall({ project: "p" });
  await remote.close();
  expect(await positionOf()).toBe(before + 2);
});

test("who may capture proposes, who may review decides, who may read reads", async () => {
  const guarded = await startServer();
  const { keys } = guarded.recorder;
  const headers: { [scope: string]: { [name: string]: string } } = {};
  for (const scope of ["capture", "read", "review"] as const) {
    const { key } = await keys.create({ scope });
    headers[scope] = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  }
  await guarded.recorder.append({
    kind: "message",
    id: "m",
    session_id: "s",
    role: "user",
    content: "From now on answer in German please",
  });
  const candidate = {
    status: "candidate",
    type: "preference",
    content: "From now on answer in German",
    evidence: [{ entry_id: "m", quote: "From now on answer in German" }],
  };
  const post = (scope: string, path: string, body: object) => guarded.post(path, body, headers[scope]);
  expect((await post("read", "/memories", candidate)).status).toBe(403);
  expect((await post("capture", "/memories", { content: "Answers in German" })).status).toBe(403);
  expect((await post("capture", "/memories", { ...candidate, source: "person" })).status).toBe(403);
  const proposed = await post("review", "/memories", candidate);
  expect([proposed.status, proposed.body.source]).toEqual([201, "agent"]);
  expect((await post("capture", `/memories/${proposed.body.id}/promote`, {})).status).toBe(403);
  expect((await post("read", `/memories/${proposed.body.id}/promote`, {})).status).toBe(403);
  const promoted = await post("review", `/memories/${proposed.body.id}/promote`, {});
  expect([promoted.status, promoted.body.status]).toEqual([200, "active"]);
  const { history } = (await guarded.request(`/memories/${proposed.body.id}`, { headers: headers.read ?? {} })).body;
  expect(history.at(-1).actor).toMatch(/^key:/);
});

test("two reviewers at once: one verdict counts, and a rebuilt index agrees", async () => {
  const other = await openRecorder({ data: server().data });
  const { id } = (await propose("Two reviewers look at this one")).body;
  const verdicts = await Promise.allSettled([
    server().recorder.memories.promote(id),
    other.memories.reject(id),
    server().recorder.memories.reject(id),
    other.memories.promote(id),
  ]);
  expect(verdicts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const verdict of verdicts) {
    if (verdict.status === "rejected") expect(verdict.reason.code).toBe("verdict_given");
  }
  const all = async (): Promise<unknown> => (await other.memories.list({ limit: 500 })).memories;
  const before = await all();
  await other.rebuildIndex();
  expect(await all()).toEqual(before);
  await other.close();
});
