// A server as a store: the same interface, the same answers, the same refusals; and what is done elsewhere says so.

import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Fault, openRecorder, type Recorder, RecorderError } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { readError, readJson, resultOf, runCli, startCli } from "./cli-run.js";
import { startServer, type TestServer } from "./http-client.js";

async function connect(address: string, key?: string): Promise<Recorder> {
  const recorder = await openRecorder({ data: address, ...(key === undefined ? {} : { key }) });
  onTestFinished(() => recorder.close());
  return recorder;
}

async function filledServer(): Promise<{ readonly server: TestServer; readonly remote: Recorder }> {
  const server = await startServer();
  const remote = await connect(server.address);
  const session = remote.session("a/b", { project: "web" });
  await session.message({ role: "user", content: "why is the build red?", id: "m1" });
  await session.message({ role: "assistant", content: "a test fails", confidence: 0.3, id: "m2" });
  await session.toolCall({ tool: "ls", args: { dir: "." }, result: "a", is_error: true });
  await session.error({ error: "the build is red" });
  for (let at = 0; at < 5; at += 1) {
    await remote.recordInteraction({ prompt: `build ${at}`, response: "red", id: ids[at], project: "-web" });
  }
  return { server, remote };
}

/** Two of them become other paths if they are not encoded. */
const ids = [".", "i1", "..", "i3", "..."] as const;

/** How it is refused. */
async function outcome(recorder: Recorder, call: (one: Recorder) => unknown): Promise<object> {
  const error = await Promise.resolve(call(recorder)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RecorderError);
  const { code, field, message, index, hint, least } = error as RecorderError;
  return { code, field, message, index, hint, least };
}

/** What can be asked, each as one call on a recorder. */
const questions: { readonly [name: string]: (recorder: Recorder) => Promise<unknown> } = {
  interactions: (recorder) => recorder.listInteractions({ limit: 2, project: "-web" }),
  "the next page": async (recorder) => {
    const { next_cursor } = await recorder.listInteractions({ limit: 2, since: "2026-01-01" });
    return recorder.listInteractions({ limit: 2, since: "2026-01-01", cursor: next_cursor });
  },
  "an entry": (recorder) => recorder.getEntry("m1"),
  "an entry by position": (recorder) => recorder.getEntry(2),
  "no entry": (recorder) => recorder.getEntry("none"),
  "an interaction": (recorder) => recorder.getInteraction("i1"),
  "interactions and entries with ids of dots": async (recorder) => [
    ...(await Promise.all(ids.map((id) => recorder.getInteraction(id)))),
    ...(await Promise.all(ids.map((id) => recorder.getEntry(id)))),
  ],
  entries: (recorder) => recorder.listEntries({ kind: "message", limit: 1 }),
  sessions: (recorder) => recorder.listSessions({ limit: 1 }),
  "a session": (recorder) => recorder.session("a/b").summary(),
  "no session": (recorder) => recorder.session("none").summary(),
  "a timeline": (recorder) => recorder.session("a/b").entries({ order: "desc", limit: 2, excerpts: true }),
  "the rest of a timeline": async (recorder) => {
    const session = recorder.session("a/b");
    return session.entries({ limit: 3, cursor: (await session.entries({ limit: 3 })).next_cursor });
  },
  history: (recorder) => recorder.session("a/b").history({ max_messages: 2 }),
  "Anthropic's history": (recorder) => recorder.session("a/b").history({ format: "anthropic" }),
  search: (recorder) => recorder.search("build -red kind:interaction", { limit: 2, facets: true }),
  "a search with matches elsewhere": (recorder) => recorder.search("leaves"),
  "the rest of a search": async (recorder) =>
    recorder.search("build", { limit: 2, cursor: (await recorder.search("build", { limit: 2 })).next_cursor }),
  "session history": (recorder) => recorder.sessionHistory("build", "user", 3),
  reflection: (recorder) => recorder.reflect({ limit: 5, project: "web" }),
  counts: (recorder) => recorder.count(),
  verification: (recorder) => recorder.verify(),
  health: async (recorder) => ({ ...(await recorder.health()), version: "1.2.3" }),
};

test("every question has the answer that the store itself gives", async () => {
  const { server, remote } = await filledServer();
  await remote.append({ kind: "raw", source: "s", record: { tree: "leaves" } });
  expect(await remote.search("leaves")).toMatchObject({ results: [], elsewhere: { raw: 1 } });
  for (const [name, ask] of Object.entries(questions)) {
    expect(await ask(remote), name).toEqual(await ask(server.recorder));
  }
});

test("refused input gets the same code, field and message locally and remotely", async () => {
  const { server, remote } = await filledServer();
  const refused: readonly ((recorder: Recorder) => unknown)[] = [
    (recorder) => recorder.recordInteraction({ prompt: " " }),
    (recorder) => recorder.append([{ kind: "error", error: "e" }, { kind: "message" } as never]),
    (recorder) => recorder.append({ kind: "error", error: "e", id: "m1" }),
    (recorder) => recorder.append({ kind: "error", error: Number.NaN } as never),
    (recorder) => recorder.append([]),
    (recorder) => recorder.completeInteraction("none", { response: "r" }),
    (recorder) => recorder.completeInteraction("i1", { response: "other" }),
    (recorder) => recorder.completeInteraction("..", { response: "other" }),
    (recorder) => recorder.search(""),
    (recorder) => recorder.search("a", { cursor: "x" }),
    (recorder) => recorder.listEntries({ limt: 3 } as never),
    (recorder) => recorder.session("a/b").history({ max_tokens: 1 }),
    (recorder) => recorder.session("a/b").consolidate(99),
    (recorder) => recorder.session("a/b").withdraw(4),
  ];
  for (const call of refused) expect(await outcome(remote, call)).toEqual(await outcome(server.recorder, call));
  expect(
    await remote.session("a/b").consolidate(2, { summary: "so far", trigger: "manual", tokens_before: 9 }),
  ).toEqual({ through: 2 });
  const { entries } = await remote.append({ kind: "error", error: "e", colour: "red", id: "odd" } as never);
  expect(entries[0]).toMatchObject({ unknown_fields: ["colour"] });
  expect(await remote.getEntry("odd")).toMatchObject({ extra: { colour: "red" } });
  for (const call of [() => remote.seal(), () => remote.keys.list(), () => remote.rebuildIndex()]) {
    await expect(call()).rejects.toMatchObject({ code: "store_unsuitable", hint: expect.stringContaining("--data") });
  }
  expect(await remote.forget({ entry: "odd", reason: "asked to" })).toMatchObject({ entries: 1 });
  let lines = "";
  for await (const piece of remote.exportEntries()) lines += piece;
  expect(lines.trim().split("\n").length).toBeGreaterThan(10);
});

test("memories are proposed, decided upon and recalled, and usage is summed up, as in the store itself", async () => {
  const { server, remote } = await filledServer();
  const said = "## Fact: the staging database listens on port 5433";
  const call = {
    prompt: "Where is it?",
    response: said,
    model: "gpt-5",
    usage: { input_tokens: 12, output_tokens: 3 },
  };
  await remote.recordInteraction({ ...call, id: "call", project: "web" });
  const { candidates } = await remote.memories.extract({ interaction_id: "call" });
  expect(candidates).toMatchObject([{ project: "web", status: "candidate", source: "rule:words" }]);
  const { memories } = remote;
  const added = await memories.add({ content: "Answers come in German", type: "preference", actor: "anna" });
  expect(added).toMatchObject({ status: "active", source: "person" });
  const proposal = { type: "preference", source: "person" } as const;
  const [tabs, short] = [
    await memories.propose({ ...proposal, content: "Prefers tabs over spaces in Go" }),
    await memories.propose({ ...proposal, content: "Works in the evening on most days" }),
  ] as readonly { readonly id: string }[] as [{ id: string }, { id: string }];
  expect(await memories.propose({ content: "Maybe it rains on most days" })).toMatchObject({ dropped: "evidence" });
  expect(await memories.pending()).toBe(3);
  const asked: typeof questions = {
    usage: (recorder) => recorder.usage({ by: ["model", "project"], since: "2026-01-01" }),
    memories: (recorder) => recorder.memories.list({ status: "candidate", type: "preference", unused: false }),
    "global memories": (recorder) => recorder.memories.list({ project: "-", limit: 1 }),
    "more memories": async (recorder) =>
      recorder.memories.list({ limit: 2, cursor: (await recorder.memories.list({ limit: 2 })).next_cursor }),
    "a memory": (recorder) => recorder.memories.get(candidates[0]?.id ?? ""),
    "no memory": (recorder) => recorder.memories.get("none"),
    recall: (recorder) => recorder.memories.recall({ project: "web", q: "which language?", budget_tokens: 500 }),
    health: async (recorder) => ({ ...(await recorder.health()), version: "1.2.3" }),
  };
  for (const [name, ask] of Object.entries(asked)) {
    expect(await ask(remote), name).toEqual(await ask(server.recorder));
  }
  expect((await remote.usage()).total).toMatchObject({ calls: 1, input_tokens: 12, output_tokens: 3 });
  expect((await memories.list({ limit: 1 })).memories).toHaveLength(1);
  const before = (await remote.health()).position;
  expect((await memories.recall({ session_id: "a/b" })).memories_used).toEqual([added.id]);
  // Written down once, by the server.
  expect((await remote.health()).position).toBe(before + 1);
  const refused: readonly ((recorder: Recorder) => unknown)[] = [
    (recorder) => recorder.memories.add({ content: "x", confidence: Number.NaN }),
    (recorder) => recorder.memories.add({ content: "x", status: "candidate" } as never),
    (recorder) => recorder.memories.propose({} as never),
    (recorder) => recorder.memories.promote("none"),
    (recorder) => recorder.memories.promote(added.id),
    (recorder) => recorder.memories.reject(tabs.id, { content: "x" } as never),
    (recorder) => recorder.memories.verdicts({ promote: [tabs.id, "none"] }),
    (recorder) => recorder.memories.list({ statu: "active" } as never),
    (recorder) => recorder.memories.recall({ budget_tokens: "much" }),
    (recorder) => recorder.memories.extract({ interaction_id: "none" }),
    (recorder) => recorder.usage({ by: "year" }),
  ];
  for (const refusal of refused)
    expect(await outcome(remote, refusal)).toEqual(await outcome(server.recorder, refusal));
  for (const pass of [() => memories.extract(), () => memories.reinforce({ project: "web" })]) {
    await expect(pass()).rejects.toMatchObject({ code: "store_unsuitable" });
  }
  await remote.learn();
  expect(await memories.reinforce({ interaction_id: "call" })).toMatchObject({ reinforced: [] });
  expect(await memories.supersede(added.id, { content: "Answers come in French" })).toMatchObject({
    status: "superseded",
  });
  expect(await memories.verdicts({ promote: [tabs.id], reject: [short.id] })).toMatchObject({
    memories: [{ status: "active" }, { status: "rejected" }],
    pending: 1,
  });
  const there = { data: server.address };
  const { stderr } = await runCli(["review"], { ...there, input: "a\nq\n" });
  expect(stderr).toContain("1 accepted");
  expect(await readJson(["memories", "show", candidates[0]?.id ?? ""], there)).toMatchObject({ status: "active" });
  const here = { data: server.data };
  for (const args of [["memories"], ["recall", "port", "--project", "web"], ["usage", "--by", "day"]]) {
    expect(await readJson(args, there), args.join(" ")).toEqual(await readJson(args, here));
  }
  const prices = join(folderOfTest(), "prices.json");
  writeFileSync(prices, JSON.stringify({ "gpt-5": { input_cost_per_token: 1, output_cost_per_token: 1 } }));
  expect(await readError(["usage", "--prices", prices], there)).toMatchObject({ code: "store_unsuitable" });
});

test("keys are required, and an address without a Hansard server is named", async () => {
  const { server } = await filledServer();
  const capture = await server.recorder.keys.create({ scope: "capture" });
  const admin = await server.recorder.keys.create({ scope: "admin" });
  await expect((await connect(server.address)).count()).rejects.toMatchObject({ code: "key_missing" });
  const writer = await connect(server.address, capture.key);
  expect((await writer.append({ kind: "error", error: "e" })).status).toBe("recorded");
  await expect(writer.count()).rejects.toMatchObject({ code: "scope_insufficient" });
  const data = { data: server.address, env: { HANSARD_KEY: admin.key } };
  expect((await readJson(["stats"], data)).entries).toBe(12);
  const away = await connect("http://127.0.0.1:1");
  const unreachable = await away.count().catch((error: unknown) => error);
  expect(unreachable).toBeInstanceOf(Fault);
  expect(unreachable).toMatchObject({ code: "store_unavailable", message: expect.stringContaining("127.0.0.1:1") });
});

test("a tail returns what is recorded, from anywhere, until it is closed", async () => {
  const { server, remote } = await filledServer();
  const tail = remote.tail({ after: 3, project: "web" });
  expect((await tail.next()).value).toMatchObject({ position: 4, kind: "error" });
  const live = remote.tail({ kind: "decision" });
  expect(await live.started()).toBe(9);
  await server.post("/entries", { kind: "decision", decision: "go" });
  expect((await live.next()).value).toMatchObject({ position: 10, decision: "go" });
  await live.return();
  const waiting = tail.next();
  await tail.return();
  expect(await waiting).toEqual({ done: true, value: undefined });
  await expect((await connect("http://127.0.0.1:1")).tail().next()).rejects.toMatchObject({
    code: "store_unavailable",
  });
});

/** Commands that read. */
const READING = [
  ...["list --limit 2", "show ..", "sessions", "sessions a/b", "history a/b", "search build --limit 2"],
  ...["reflect --limit 5", "verify", "context i1", "told i1 build", "usage", "memories", "recall"],
];

test("commands take the address of a server as they take a folder", async () => {
  const { server } = await filledServer();
  const [here, there] = [{ data: server.data }, { data: server.address }];
  for (const line of READING) {
    const [near, far] = await Promise.all([here, there].map((place) => readJson(line.split(" "), place)));
    expect(far, line).toEqual(near);
  }
  const text = ["search", "build", "--text"];
  expect((await runCli(text, there)).stdout).toBe((await runCli(text, here)).stdout);
  expect(await readJson(["record", "--prompt", "new", "--id", "n"], there)).toMatchObject({ status: "recorded" });
  const folder = folderOfTest();
  const lines = [
    { role: "user", content: "hello", timestamp: "2026-11-15T06:00:00.000Z" },
    { role: "assistant", content: "hi", timestamp: "2026-11-15T06:00:01.000Z" },
  ];
  writeFileSync(join(folder, "chat.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const first = await readJson(["import", folder], there);
  expect(first).toMatchObject({ added: 2, existing: 0, rejected: [] });
  expect(await readJson(["import", folder], there)).toMatchObject({ added: 0, existing: 2, rejected: [] });
  const tail = startCli(["tail", "--after", "9", "--json"], there);
  onTestFinished(() => void tail.kill("SIGKILL"));
  const [seen] = await new Promise<[Buffer]>((resolve) =>
    tail.stdout?.once("data", (chunk: Buffer) => resolve([chunk])),
  );
  expect(JSON.parse(itemAt(String(seen).split("\n"), 0))).toMatchObject({ id: "n", position: 10 });
  tail.kill("SIGINT");
  const looked = (await readJson(["doctor"], here)).findings.map(({ check }: { check: string }) => check);
  const { ok, findings } = await readJson(["doctor"], there);
  expect([ok, findings.map(({ check }: { check: string }) => check)]).toEqual([true, looked]);
  for (const args of [
    ["backup", join(folder, "b")],
    ["serve", "--port", "0"],
    ["doctor", "--compact"],
  ]) {
    const { status, stderr, stdout } = await runCli(args, there);
    expect([status === 0, `${stderr}${stdout}`]).toEqual([false, expect.stringMatching(/server/)]);
  }
});

test("a server exports in every form what its store does, and writes each export down once", async () => {
  const { server } = await filledServer();
  const [here, there] = [{ data: server.data }, { data: server.address }];
  const forms = [
    "markdown",
    "markdown --session a/b",
    "atif --session a/b",
    "nanobot --session a/b",
    "timmy --session a/b",
  ];
  for (const form of forms) {
    const args = ["export", "--format", ...form.split(" "), "--until", "2100-01-01", "--kind", "message"];
    const [near, far] = [await runCli(args, here), await runCli(args, there)];
    expect(far, form).toEqual(near);
    expect([far.status, far.stdout], form).toEqual([0, expect.stringContaining("why is the build red?")]);
  }
  // Times without a zone are in the caller's zone.
  const timmy = ["export", "--format", "timmy", "--session", "a/b", "--timezone", "Asia/Tokyo"];
  expect((await runCli(timmy, there)).stdout).toBe((await runCli(timmy, here)).stdout);
  const before = (await server.get("/health")).body.position;
  const [near, far] = [folderOfTest(), folderOfTest()];
  await server.recorder.session("c").message({ role: "user", content: "hello" });
  for (const [out, place] of [
    [near, here],
    [far, there],
  ] as const) {
    const { status, stderr } = await runCli(["export", "--format", "nanobot", "--out", out], place);
    expect([status, stderr]).toEqual([0, expect.stringContaining("2 sessions")]);
  }
  expect(readdirSync(far)).toEqual(readdirSync(near));
  for (const name of readdirSync(far)) expect(readFileSync(join(far, name))).toEqual(readFileSync(join(near, name)));
  expect((await server.get("/health")).body.position).toBe(before + 3);
  expect(await readError(["export", "--format", "pdf"], there)).toMatchObject({ code: "field_invalid" });
  const atif = await server.get("/export?format=atif");
  expect([atif.status, atif.body.error]).toMatchObject([400, { code: "session_id_invalid", field: "session_id" }]);
});

test("a wrong key, a revoked one, a server that is away or none at all: one clear error, whatever is asked", async () => {
  const { server } = await filledServer();
  const folder = folderOfTest();
  const chat = join(folder, "chat.jsonl");
  writeFileSync(chat, '{"role":"user","content":"hello"}\n');
  const { key, id } = await server.recorder.keys.create({ scope: "admin" });
  await server.recorder.keys.revoke(id);
  const reader = await server.recorder.keys.create({ scope: "read" });
  const page = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi"));
  const half = createServer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end('{"a":['),
  );
  const [site, gone, torn] = [await listening(page), await listening(createServer()), await listening(half)];
  onTestFinished(() => void [page, half].map((each) => each.close()));
  gone.server.close();
  await once(gone.server, "close");
  const all = ["list", "search a", "record --prompt a", "tail", `import ${chat}`, `watch ${chat}`, "export", "verify"];
  const refusals: readonly (readonly [string, string, string | undefined, readonly string[]])[] = [
    ["key_wrong", server.address, "hk_wrong", all],
    ["key_wrong", server.address, key, ["list", "record --prompt a"]],
    ["key_missing", server.address, undefined, ["list", "record --prompt a"]],
    ["scope_insufficient", server.address, reader.key, ["record --prompt a", `watch ${chat}`, "export"]],
    ["store_unavailable", gone.address, undefined, all],
    ["store_unsuitable", site.address, undefined, ["list", "record --prompt a", `watch ${chat}`]],
    ["store_unavailable", torn.address, undefined, ["list", "record --prompt a", "show a"]],
  ];
  for (const [code, data, HANSARD_KEY, lines] of refusals) {
    const place = { data, env: HANSARD_KEY === undefined ? {} : { HANSARD_KEY } };
    const errors = await Promise.all(lines.map((line) => readError(line.split(" "), place)));
    for (const [at, error] of errors.entries()) {
      expect(error, `${lines[at]}, ${data}`).toMatchObject({ status: 1, code, hint: expect.stringMatching(/\w/) });
    }
  }
  const { hint } = await readError(["list"], { data: server.address });
  expect(hint).toMatch(/HANSARD_KEY.*`hansard keys create` creates one, on the server's machine/);
  expect((await server.recorder.health()).position).toBe(12);
});

test("watching for a server continues where it stopped", async () => {
  const { server } = await filledServer();
  const chat = join(folderOfTest(), "chat.jsonl");
  const options = { data: server.address, env: { XDG_CONFIG_HOME: folderOfTest() } };
  const counted: object[] = [];
  for (const text of ["one", "two"]) {
    appendFileSync(chat, `{"role":"user","content":${JSON.stringify(text.repeat(500))}}\n`);
    const watch = startCli(["watch", chat, "--json"], options);
    const ended = resultOf(watch);
    await new Promise<void>((resolve) =>
      watch.stdout?.on("data", (chunk: string) => chunk.includes('"caught_up"') && resolve()),
    );
    watch.kill("SIGINT");
    const { stdout, status } = await ended;
    expect(status).toBe(0);
    counted.push(JSON.parse(stdout.trim().split("\n").at(-1) as string));
  }
  expect(counted).toMatchObject([
    { event: "stopped", added: 1, bytes: 1_529 },
    { event: "stopped", added: 1, bytes: 1_529 },
  ]);
});

async function listening(server: Server): Promise<{ readonly server: Server; readonly address: string }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
