// Claude Code's hooks: events in the shapes it sends, and the settings that make it send them.
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { readJson, runCli, serveCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

const common = {
  session_id: "ca03765b-a7e1-483b-9629-448c7aba5e7a",
  transcript_path: "~/.claude/projects/web/ca03765b.jsonl",
  cwd: "/srv/web",
  permission_mode: "default",
};
const call = { tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "toolu_01" };

test("what happens is recorded as what it is, and the answer is empty whatever comes", async () => {
  const server = await startServer();
  const events: readonly object[] = [
    { ...common, hook_event_name: "SessionStart", source: "startup", model: "claude" },
    { ...common, hook_event_name: "UserPromptSubmit", prompt: "list the files" },
    { ...common, ...call, hook_event_name: "PostToolUse", tool_response: { stdout: "a b", stderr: "" } },
    { ...common, ...call, hook_event_name: "PostToolUse", tool_response: { stdout: "a b", stderr: "" } },
    { ...common, ...call, tool_use_id: "toolu_02", hook_event_name: "PostToolUseFailure", error: "exit 1" },
    { ...common, hook_event_name: "Notification", message: "waiting" },
    { ...common, hook_event_name: "Stop", stop_hook_active: false, last_assistant_message: "two files" },
    { ...common, agent_id: "a1", hook_event_name: "SubagentStop", last_assistant_message: "done" },
    // A compaction runs as an agent without a type: its summary is no answer, and there is no session of it.
    { ...common, agent_id: "a2", agent_type: "", hook_event_name: "SubagentStop", last_assistant_message: "summary" },
    { ...common, hook_event_name: "Stop", stop_hook_active: false },
    { hook_event_name: "SomethingNew", deep: { er: [1] } },
    { ...common, hook_event_name: "UserPromptSubmit", prompt: 7 },
  ];
  for (const event of events) {
    expect(await server.post("/hooks/claude-code", event)).toMatchObject({ status: 200, text: "" });
  }
  for (const garbage of ["", "{", "[]", "7", "null", new Uint8Array([0xff])]) {
    expect(await server.post("/hooks/claude-code", garbage)).toMatchObject({ status: 200, text: "" });
  }
  const seen = async () => {
    const { entries } = (await server.get("/entries")).body;
    return entries
      .filter(({ kind }: { kind: string }) => kind !== "session_info")
      .map((entry: { [name: string]: unknown }) => [entry.kind, entry.content ?? entry.result ?? ""]);
  };
  const expected = [
    ["message", "done"],
    ["message", "list the files"],
    ["message", "two files"],
    ["raw", ""],
    ["raw", ""],
    ["raw", ""],
    ["raw", ""],
    ["tool_call", "exit 1"],
    ["tool_call", { stdout: "a b", stderr: "" }],
  ];
  await vi.waitFor(async () => expect((await seen()).sort()).toEqual(expected.sort()), 20_000);
  expect((await server.get(`/sessions/${common.session_id}`)).body).toMatchObject({
    messages: 2,
    metadata: { source: { tool: "claude-code", started: "startup" } },
  });
  expect((await server.get("/entries/claude-code:result:toolu_01")).body).toMatchObject({
    tool: "Bash",
    args: { command: "ls" },
    project: "web",
    client: "claude-code",
    tool_call_id: "toolu_01",
  });
  const sessions = (await server.get("/sessions")).body.sessions.map((one: { session_id: string }) => one.session_id);
  expect(sessions.sort()).toEqual([common.session_id, `${common.session_id}/agent-a1`].sort());
  const { key } = await server.recorder.keys.create({ scope: "read" });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  // A key that is missing or may not capture is an error: otherwise nothing would be recorded, silently.
  expect((await server.post("/hooks/claude-code", events[0], headers)).body.error.code).toBe("scope_insufficient");
  const refused = await server.post("/hooks/claude-code", events[0]);
  expect([refused.status, refused.body.error.code]).toEqual([401, "key_missing"]);
});

test("a folder whatever its name and length keeps neither the server nor the event", async () => {
  const server = await startServer();
  const long = "x".repeat(300_000);
  const folders = [
    `/${long}/web`,
    `${long}/web//`,
    "C:\\web\\",
    `/srv/${long}`,
    "/".repeat(300_000),
    "/srv/a\u0000b",
    "",
  ];
  for (const [at, cwd] of folders.entries()) {
    const event = { ...common, cwd, hook_event_name: "UserPromptSubmit", prompt: `${at}` };
    expect(await server.post("/hooks/claude-code", event)).toMatchObject({ status: 200, text: "" });
  }
  await vi.waitFor(async () => {
    const { entries } = (await server.get("/entries?kind=message")).body;
    const seen = entries.map(({ content, project }: { [name: string]: string }) => `${content} ${project}`);
    expect(seen.sort()).toEqual(["0 web", "1 web", "2 web", "3 ", "4 ", "5 ", "6 "]);
  }, 20_000);
});

test("installing adds to the settings what the program needs, and removing leaves them as they were", async () => {
  const home = folderOfTest();
  const options = { data: join(home, "record"), env: { HOME: home, CLAUDE_CONFIG_DIR: home } };
  const settings = join(home, "settings.json");
  const before =
    '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": []\n      }\n    ]\n  }\n}\n';
  writeFileSync(settings, before);
  expect((await runCli(["hooks", "install", "claude-code"], options)).status).toBe(2);
  expect(readFileSync(settings, "utf8")).toBe(before);
  const installed = await runCli(
    ["hooks", "install", "claude-code", "--yes", "--url", "http://127.0.0.1:5000"],
    options,
  );
  expect([installed.status, installed.stdout]).toEqual([
    0,
    expect.stringContaining("http://127.0.0.1:5000/hooks/claude-code"),
  ]);
  const { hooks, model } = JSON.parse(readFileSync(settings, "utf8"));
  expect(model).toBe("opus");
  expect(hooks.Stop).toHaveLength(2);
  // Claude Code runs no HTTP hook when a session starts.
  expect(hooks).not.toHaveProperty("SessionStart");
  expect(hooks.UserPromptSubmit[0].hooks[0]).toMatchObject({
    type: "http",
    timeout: 0.2,
    allowedEnvVars: ["HANSARD_KEY"],
  });
  expect((await runCli(["hooks", "remove", "claude-code", "--yes"], options)).status).toBe(0);
  expect(readFileSync(settings, "utf8")).toBe(before);
  expect((await runCli(["hooks", "install", "emacs"], options)).stderr).toContain("Use claude-code");
});

/** As the program does with what it was told: a request, cut off when its time is over. */
async function tell(url: string): Promise<number | string> {
  const asked = ["hooks", "install", "claude-code", "--print-config", "--url", url];
  const { stdout } = await runCli(asked, { data: folderOfTest() });
  const [{ hooks }] = JSON.parse(stdout).hooks.UserPromptSubmit;
  const { url: address, timeout } = hooks[0];
  expect(timeout).toBe(0.2);
  const body = JSON.stringify({ ...common, hook_event_name: "UserPromptSubmit", prompt: "hello" });
  const headers = { "content-type": "application/json" };
  try {
    return (await fetch(address, { method: "POST", headers, body, signal: AbortSignal.timeout(timeout * 1_000) }))
      .status;
  } catch (error) {
    const { name, cause } = error as Error & { readonly cause?: { readonly code: string } };
    return cause?.code ?? name;
  }
}

test("a program is let go on within 200 ms: without a server, with one that hangs, and while the log is stuck", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const { port } = gone.address() as AddressInfo;
  gone.close();
  await once(gone, "close");
  expect(await tell(`http://127.0.0.1:${port}`)).toBe("ECONNREFUSED");
  expect(await tell(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)).toBe("TimeoutError");
  const server = await startServer();
  const other = new Database(join(server.data, "log.db"));
  onTestFinished(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  // A busy machine may be late now and then; a log that holds the answer up does so every time.
  await vi.waitFor(async () => expect(await tell(server.address)).toBe(200), { timeout: 20_000 });
  other.exec("ROLLBACK");
  const position = async () => (await server.get("/health")).body.position;
  await vi.waitFor(async () => expect(await position()).toBeGreaterThan(0), { timeout: 20_000 });
}, 60_000);

/** A session's lines as Claude Code writes them, at the time of the events. */
function transcriptLines(session_id: string): readonly object[] {
  const timestamp = new Date().toISOString();
  const line = { sessionId: session_id, timestamp, version: "2.1.300" };
  const message = { id: "msg_1", role: "assistant", model: "m", usage: { input_tokens: 5, output_tokens: 2 } };
  const used = { type: "tool_use", id: "toolu_01", name: "Bash", input: { command: "ls" } };
  const content = [{ type: "tool_result", tool_use_id: "toolu_01", content: "a b" }];
  return [
    { ...line, type: "user", uuid: "u1", message: { role: "user", content: "list the files" } },
    { ...line, type: "assistant", uuid: "a1", message: { ...message, content: [used] } },
    { ...line, type: "user", uuid: "u2", message: { role: "user", content } },
    {
      ...line,
      type: "assistant",
      uuid: "a2",
      message: { ...message, id: "msg_2", content: [{ type: "text", text: "two files" }] },
    },
  ];
}

const turn: readonly object[] = [
  { ...common, hook_event_name: "UserPromptSubmit", prompt: "list the files" },
  { ...common, ...call, hook_event_name: "PostToolUse", tool_response: { stdout: "a b", stderr: "" } },
  { ...common, hook_event_name: "Stop", stop_hook_active: false, last_assistant_message: "two files" },
];

/** Less than the time for which events wait for a transcript. */
const AT_ONCE = { timeout: 2_000, interval: 20 };

test("what is heard of an unknown session is there with the answer, and survives a kill", async () => {
  const data = folderOfTest();
  const serving = await serveCli({ data });
  const send = (event: object): Promise<Response> =>
    fetch(`${serving.address}/hooks/claude-code`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event),
    });
  const start = performance.now();
  for (const event of turn) expect((await send(event)).status).toBe(200);
  await vi.waitFor(async () => {
    const answer = await fetch(`${serving.address}/sessions/${common.session_id}`);
    expect(await answer.json()).toMatchObject({ messages: 2, tool_calls: 1 });
  }, AT_ONCE);
  expect(performance.now() - start).toBeLessThan(3_000);
  await send({ ...turn[0], prompt: "and the last" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  serving.child.kill("SIGKILL");
  await serving.ended;
  expect((await readJson(["search", '"and the last"'], { data })).results).toMatchObject([{ kind: "message" }]);
}, 60_000);

test("a session that a transcript brought waits for it, and stays the transcript's", async () => {
  const server = await startServer();
  const path = join(folderOfTest(), "s.jsonl");
  const lines = transcriptLines(common.session_id).map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, lines.slice(0, 1).join(""));
  await server.recorder.importFiles([path]);
  const about = async () => (await server.get(`/sessions/${common.session_id}`)).body.metadata.source;
  const before = await about();
  expect(before.lacks).toContain("rules files");
  await server.post("/hooks/claude-code", { ...common, hook_event_name: "SessionStart", source: "resume" });
  expect(await about()).toEqual(before);
  for (const event of turn.slice(1)) await server.post("/hooks/claude-code", event);
  const agent = { ...common, agent_id: "a1", hook_event_name: "SubagentStop", last_assistant_message: "done" };
  await server.post("/hooks/claude-code", agent);
  const calls = async () => (await server.get("/entries?kind=tool_call,message")).body.entries.length;
  expect(await calls()).toBe(1);
  writeFileSync(path, lines.join(""));
  await server.recorder.importFiles([path]);
  await vi.waitFor(async () => expect(await calls()).toBe(5), 20_000);
  expect((await server.get("/entries?kind=tool_call")).body.entries).toHaveLength(1);
});

test("what the transcript brings while the events wait is recorded once, as the transcript has it", async () => {
  const server = await startServer({ watches: true });
  for (const event of turn) await server.post("/hooks/claude-code", event);
  const path = join(folderOfTest(), "s.jsonl");
  const lines = transcriptLines(common.session_id);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  await server.recorder.importFiles([path]);
  const before = (await server.get("/health")).body.position;
  await new Promise((resolve) => setTimeout(resolve, 3_500));
  expect((await server.get("/health")).body.position).toBe(before);
  const { body } = await server.get(`/sessions/${common.session_id}/entries`);
  const seen = body.entries.map(({ kind, content, result }: { [name: string]: unknown }) => [kind, content ?? result]);
  expect(seen.slice(1)).toEqual([
    ["message", "list the files"],
    ["message", ""],
    ["tool_call", "a b"],
    ["message", "two files"],
  ]);
});

test("a transcript that is read later adds what the hooks did not tell, and nothing twice", async () => {
  const server = await startServer();
  for (const event of turn) await server.post("/hooks/claude-code", event);
  const messages = async () => (await server.get(`/sessions/${common.session_id}`)).body.messages;
  await vi.waitFor(async () => expect(await messages()).toBe(2), 20_000);
  const path = join(folderOfTest(), "s.jsonl");
  const lines = transcriptLines(common.session_id);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  await server.recorder.importFiles([path]);
  const { body } = await server.get(`/sessions/${common.session_id}/entries`);
  const said = body.entries.flatMap(({ kind, content, result }: { [name: string]: unknown }) =>
    kind === "session_info" || content === "" ? [] : [content ?? result],
  );
  expect(said).toEqual(["list the files", { stdout: "a b", stderr: "" }, "two files"]);
  const usage = await server.get("/usage?by=session");
  expect(usage.body.rows).toMatchObject([{ calls: 2, input_tokens: 10, output_tokens: 4 }]);
  expect((await server.recorder.importFiles([path])).added).toBe(0);
});

test("memories are recalled at the beginning of a session only where that is asked for, and go with the other hooks", async () => {
  const folder = folderOfTest();
  const env = { HOME: folder, CLAUDE_CONFIG_DIR: folder };
  const data = join(folder, "record");
  const path = join(folder, "settings.json");
  const starts = () => JSON.parse(readFileSync(path, "utf8")).hooks?.SessionStart;
  const theirs = { hooks: [{ type: "command", command: "date" }] };
  writeFileSync(path, JSON.stringify({ hooks: { SessionStart: [theirs] } }));
  await runCli(["hooks", "install", "claude-code", "--yes"], { data, env });
  expect(starts()).toEqual([theirs]);
  for (let round = 0; round < 2; round += 1)
    await runCli(["hooks", "install", "claude-code", "--recall", "--yes", "--url", "http://127.0.0.1:4800"], {
      data,
      env,
    });
  expect(starts()).toEqual([theirs, { hooks: [expect.objectContaining({ type: "command", timeout: 3 })] }]);
  expect(starts()[1].hooks[0].command).toMatch(/ recall --hook --data 'http:\/\/127\.0\.0\.1:4800'$/);
  await runCli(["hooks", "remove", "claude-code", "--yes"], { data, env });
  expect(starts()).toEqual([theirs]);
});
