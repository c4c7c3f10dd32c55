// Claude Code's transcripts: what becomes of each kind of line, and what counts once although it occurs twice.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../../test/support/fixtures.js";
import { counts, importBench } from "../../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../../test/support/transcripts.js";

const session_id = "9f0c7a52-1111-4222-8333-444455556666";
const folder = fixturePath("import", "claude-code", "shop");
const file = join(folder, `${session_id}.jsonl`);
const lines = fixtureRecords("import", "claude-code", "shop", `${session_id}.jsonl`) as readonly Line[];

interface Line {
  readonly uuid?: string;
  readonly [name: string]: unknown;
}

const at = "2026-05-04T08:00:00.000Z";
const said = (uuid: string, id: string, content: unknown, output_tokens: number): Line => ({
  type: "assistant",
  uuid,
  sessionId: "s",
  timestamp: at,
  requestId: "r",
  message: { id, role: "assistant", model: "m", content, usage: { input_tokens: 5, output_tokens } },
});
const prompt = (uuid: string, content: unknown, more = {}): Line => ({
  type: "user",
  uuid,
  sessionId: "s",
  timestamp: at,
  message: { role: "user", content },
  ...more,
});
const text = (words: string): object => ({ type: "text", text: words });
const call = (id: string): object => ({ type: "tool_use", id, name: "Bash", input: { command: id } });
const result = (id: string): object => ({ type: "tool_result", tool_use_id: id, content: `result of ${id}` });

describe("a session", () => {
  test("lines before the first time get that time, however late the file was copied", async () => {
    const bench = importBench();
    const title = { type: "summary", summary: "An earlier one", leafUuid: "l" };
    const snapshot = { type: "file-history-snapshot", messageId: "m", snapshot: {} };
    await bench.import(bench.write("s.jsonl", [title, snapshot, prompt("u1", "Hello")]));
    expect(new Set((await bench.entries()).map(({ created_at }) => created_at))).toEqual(new Set([at]));
  });

  test("becomes messages with their calls, results, errors and session facts", async () => {
    const bench = importBench();
    expect(counts(await bench.import(file))).toMatchObject({ files: 1, sessions: 1, rejected: 0 });
    const summary = await bench.recorder.session(session_id).summary();
    expect(summary).toMatchObject({
      title: "The till that rounded down",
      messages: 7,
      tool_calls: 3,
      errors: 2,
      projects: ["shop"],
      metadata: {
        cwd: "/srv/shop",
        git_branch: "main",
        version: "2.1.40",
        source: {
          tool: "claude-code",
          version: "2.1.40",
          path: file,
          lacks: expect.arrayContaining(["system prompt"]),
        },
      },
      clients: ["claude-code"],
    });
    const entries = await bench.entries();
    const messages = entries.filter(({ kind }) => kind === "message");
    expect(messages).toMatchObject([
      {
        role: "user",
        content: "The till rounds prices down. Find out why.",
        created_at: at,
        project: "shop",
        id: `claude-code:${lines[1]?.uuid}`,
        session_id,
        injected: "",
      },
      { content: "<system-reminder>Today is Monday.</system-reminder>", injected: "reminder" },
      {
        role: "assistant",
        id: "claude-code:msg_01AAA",
        content: "I will look at the code and run its tests.",
        tool_calls: [
          { id: "toolu_01", type: "function", function: { name: "Read", arguments: '{"file_path":"src/money.ts"}' } },
          { id: "toolu_02", function: { name: "Bash" } },
        ],
        extra: {
          model: "claude-opus-4-5",
          request_id: "req_01",
          message_id: "msg_01AAA",
          usage: { input_tokens: 10, output_tokens: 90, cache_read_tokens: 200, cache_write_tokens: 40 },
          thinking_blocks: [{ type: "thinking", thinking: "Rounding: look at money.ts.", signature: "c2lnbmVk" }],
        },
      },
      { role: "assistant", id: "claude-code:msg_01BBB" },
      { role: "user", content: "/compact", injected: "", extra: { command: { name: "/compact", args: "" } } },
      { role: "user", injected: "command" },
      { role: "user", content: [text("<3 yes, and here is a screenshot"), { type: "image" }] },
      { role: "assistant", id: "claude-code:msg_01CCC", content: "" },
      { role: "assistant", id: "claude-code:msg_01DDD" },
    ]);
    expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
      {
        tool: "Read",
        args: { file_path: "src/money.ts" },
        result: "export const round = Math.floor;",
        tool_call_id: "toolu_01",
        duration_ms: 12,
      },
      { tool: "Bash", result: "1 test failed", is_error: true },
      { tool: "Task", result: [text("Done."), text("agentId: a1b2")], duration_ms: 45_000 },
    ]);
    expect(entries.filter(({ kind }) => kind === "error")).toMatchObject([
      { error: "529 overloaded" },
      { error: "API Error: 529 overloaded" },
    ]);
    const raw = entries.filter(({ kind }) => kind === "raw");
    expect(raw).toMatchObject([
      { record: { type: "file-history-snapshot" } },
      { record: { type: "weather", cloudy: true } },
      { record: { type: "summary" } },
      { record: { type: "custom-title" } },
    ]);
    expect(tokensOf(entries)).toEqual({
      input_tokens: 23,
      output_tokens: 158,
      cache_read_tokens: 1170,
      cache_write_tokens: 45,
    });
    await expectLegalHistory(bench.recorder, session_id);
  });

  test("what no user typed is not a prompt", async () => {
    const bench = importBench();
    const sources = ["typed", "sdk", "system"].map((promptSource) =>
      prompt(promptSource, promptSource, { promptSource }),
    );
    await bench.import(bench.write("s.jsonl", sources));
    const messages = (await bench.entries()).filter(({ kind }) => kind === "message");
    const said = { injected: "" };
    expect(messages).toMatchObject([
      { content: "typed", ...said },
      { content: "sdk", ...said },
      { content: "system", injected: "other" },
    ]);
  });

  test("a withdrawn and repeated prompt leaves history with its answers, however the file grew", async () => {
    const lines = [
      prompt("u1", "Start"),
      { ...said("a1", "m1", [text("Ready")], 1), parentUuid: "u1" },
      prompt("u2", "First attempt", { parentUuid: "a1" }),
      { ...said("a2", "m2", [text("First answer"), call("c1")], 1), parentUuid: "u2" },
      prompt("r2", [result("c1"), text("Go on")], { parentUuid: "a2" }),
      { ...said("a3", "m3", [text("First end")], 1), parentUuid: "r2" },
      prompt("u3", "Second attempt", { parentUuid: "a1" }),
      { ...said("a4", "m4", [text("Second answer")], 1), parentUuid: "u3" },
    ];
    const whole = importBench();
    const path = whole.write("s.jsonl", [...lines, ...lines]);
    await whole.import(path);
    const grown = importBench();
    for (const count of [4, 6, 7, 8]) await grown.import(grown.write("s.jsonl", lines.slice(0, count)));
    for (const bench of [whole, grown]) {
      const history = await expectLegalHistory(bench.recorder, "s");
      const words = ["Start", "Ready", "Second attempt", "Second answer"];
      expect(history.length).toBe(words.length);
      expect(history).toMatchObject(words.map((content) => ({ content })));
      const entries = await bench.entries();
      expect(entries.filter(({ kind }) => kind === "message").length).toBe(8);
      expect(entries.filter(({ kind }) => kind === "withdrawal").length).toBe(4);
    }
    expect(counts(await whole.import(path))).toMatchObject({ added: 0 });
  });

  test("adds nothing if it is imported again, moved or doubled", async () => {
    const bench = importBench();
    const { added } = await bench.import(file);
    expect(counts(await bench.import(file))).toMatchObject({ added: 0, existing: added });
    const other = bench.write("elsewhere.jsonl", [...lines, ...lines]);
    expect(counts(await bench.import(other))).toMatchObject({ added: 0 });
  });

  test("a resumed or forked copy under another session counts once, and new lines go to their own session", async () => {
    const bench = importBench();
    await bench.import(file);
    const before = (await bench.entries()).length;
    const copy = lines.filter((line) => line.uuid !== undefined).map((line) => ({ ...line, sessionId: "fork" }));
    const forked = { sessionId: "fork", forkedFrom: { sessionId: session_id, messageUuid: "x" } };
    await bench.import(bench.write("fork.jsonl", [...copy, prompt("new-1", "And the tax?", forked)]));
    const added = (await bench.entries()).slice(before);
    expect(added.filter(({ kind }) => kind !== "session_info")).toMatchObject([
      { kind: "message", content: "And the tax?", session_id: "fork" },
    ]);
    expect(await bench.recorder.session("fork").summary()).toMatchObject({
      parent: "",
      metadata: { forked_from: session_id },
      messages: 1,
    });
  });

  test("the same short id in another session, with another text, is another message", async () => {
    const bench = importBench();
    await bench.import(bench.write("a.jsonl", [prompt("u1", "one"), said("a1", "m1", [text("first")], 1)]));
    const b = [prompt("u1", "two"), said("a1x", "m1", [text("second")], 1)].map((line) => ({
      ...line,
      sessionId: "b",
    }));
    expect(counts(await bench.import(bench.write("b.jsonl", b)))).toMatchObject({ added: 3, existing: 0 });
    expect(counts(await bench.import(bench.write("b.jsonl", b)))).toMatchObject({ added: 0 });
    expect(await bench.recorder.session("b").history()).toMatchObject([{ content: "two" }, { content: "second" }]);
  });
});

describe("an answer on several lines", () => {
  const first = [prompt("u1", "go"), said("a1", "m1", [text("on it")], 3), said("a2", "m1", [call("c1")], 10)];
  const rest = [prompt("u2", [result("c1")]), said("a3", "m1", [call("c2")], 30), prompt("u3", [result("c2")])];

  test("is one message although results of its first calls come in between", async () => {
    const bench = importBench();
    await bench.import(bench.write("s.jsonl", [...first, ...rest, said("a4", "m2", [text("done")], 7)]));
    const messages = (await bench.entries()).filter(({ kind }) => kind === "message");
    expect(messages.map(({ id }) => id)).toEqual(["claude-code:u1", "claude-code:m1", "claude-code:m2"]);
    expect(tokensOf(await bench.entries())).toEqual({ input_tokens: 10, output_tokens: 37 });
    await expectLegalHistory(bench.recorder, "s");
  });

  test("that was recorded in part continues in a further message, with its own share of the tokens", async () => {
    const bench = importBench();
    await bench.import(bench.write("s.jsonl", first));
    await bench.import(bench.write("s.jsonl", [...first, ...rest]));
    const messages = (await bench.entries()).filter(({ kind }) => kind === "message");
    expect(messages).toMatchObject([
      { id: "claude-code:u1" },
      { id: "claude-code:m1", extra: { usage: { output_tokens: 10 } } },
      { id: "claude-code:m1:1", extra: { usage: { output_tokens: 20 }, continues: "claude-code:m1" } },
    ]);
    expect(tokensOf(await bench.entries())).toEqual({ input_tokens: 5, output_tokens: 30 });
    expect(counts(await bench.import(bench.write("s.jsonl", [...first, ...rest])))).toMatchObject({ added: 0 });
    const roles = (await expectLegalHistory(bench.recorder, "s")).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  });
});

describe("subagents", () => {
  test("are sessions of their own under their parent, with the file next to them", async () => {
    const bench = importBench();
    expect(counts(await bench.import(folder))).toMatchObject({ files: 3, sessions: 2, rejected: 0 });
    const agent = `${session_id}/agent-a1b2`;
    expect(await bench.recorder.session(agent).summary()).toMatchObject({
      parent: session_id,
      messages: 3,
      tool_calls: 1,
      projects: ["shop"],
      metadata: { agent_type: "general-purpose", description: "Mend rounding", cwd: "/srv/shop" },
    });
    await expectLegalHistory(bench.recorder, agent);
  });

  test("inline ones without an id, and files without session ids, are distinguished", async () => {
    const bench = importBench();
    const side = prompt("u2", "look it up", { isSidechain: true });
    await bench.import(bench.write("s.jsonl", [prompt("u1", "hello"), side]));
    await bench.import(
      bench.write("p/subagents/workflows/w1/agent-z9.jsonl", [{ ...side, uuid: "u3", sessionId: undefined }]),
    );
    const started = { type: "started", key: "v2:1", agentId: "z9" };
    expect(counts(await bench.import(bench.write("p/subagents/workflows/w1/journal.jsonl", [started])))).toMatchObject({
      rejected: 0,
    });
    expect((await bench.entries()).at(-1)).toMatchObject({ kind: "raw", session_id: "p", record: started });
    const { sessions } = await bench.recorder.listSessions();
    expect(sessions.map((session) => [session.session_id, session.parent]).sort()).toEqual([
      ["p", ""],
      ["p/agent-z9", "p"],
      ["s", ""],
      ["s/sidechain", "s"],
    ]);
  });
});

test("sessions from the web interface are the same lines in one document", async () => {
  const bench = importBench();
  const path = bench.write(
    "web.json",
    JSON.stringify({ loglines: [prompt("u1", "hi"), said("a1", "m1", "hello", 2)] }, null, 2),
  );
  expect(counts(await bench.import(path))).toMatchObject({ files: 1, added: 3, rejected: 0 });
  expect(await bench.recorder.session("s").history()).toMatchObject([{ content: "hi" }, { content: "hello" }]);
});

test("unknown tags belong to the user's text, and odd forms are harmless", async () => {
  const bench = importBench();
  const path = bench.write("s.jsonl", [
    prompt("u1", "<div> is not closed"),
    prompt("u2", null),
    prompt("u3", 7),
    { type: "user", uuid: "u4", sessionId: "s", message: "text" },
    {
      type: "assistant",
      uuid: "a1",
      sessionId: "s",
      timestamp: "yesterday",
      message: { content: [null, 3, { a: 1 }] },
    },
    prompt("u5", [{ type: "tool_result" }, text("<ide_opened_file>x</ide_opened_file>"), result("nobody")]),
    prompt("u6", ["a bare text"]),
  ]);
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0 });
  const entries = await bench.entries();
  expect(entries.find(({ id }) => id === "claude-code:u1")).toMatchObject({ content: "<div> is not closed" });
  expect(entries.find(({ id }) => id === "claude-code:u6")).toMatchObject({ content: "a bare text" });
  await expectLegalHistory(bench.recorder, "s");
});

test("what a result repeats is kept if it is short", async () => {
  const bench = importBench();
  const detail = (stdout: string): Line =>
    prompt(`u${stdout.length}`, [result(`c${stdout.length}`)], { toolUseResult: { stdout } });
  await bench.import(bench.write("s.jsonl", [prompt("u0", "q"), detail("short"), detail("x".repeat(100_000))]));
  const [short, long] = (await bench.entries()).filter(({ kind }) => kind === "tool_call");
  expect(short?.extra).toMatchObject({ tool_use_result: { stdout: "short" } });
  expect(long?.extra).not.toHaveProperty("tool_use_result");
});

test("the source file is not changed", async () => {
  const before = readFileSync(file);
  await importBench().import(folder);
  expect(readFileSync(file).equals(before)).toBe(true);
});

describe("request and response bodies", () => {
  const request = {
    model: "claude-opus-4-5",
    max_tokens: 32_000,
    stream: true,
    system: [text("You are a careful clerk.")],
    tools: [{ name: "Bash", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: "Add the tax." },
      { role: "assistant", content: [call("c1")] },
      { role: "user", content: [result("c1")] },
    ],
    metadata: { user_id: "user_ab_account_cd_session_11112222-3333-4444-8555-666677778888" },
  };
  const response = {
    id: "msg_9",
    type: "message",
    role: "assistant",
    model: "claude-opus-4-5",
    content: [text("Done.")],
    usage: { input_tokens: 9, output_tokens: 2, cache_read_input_tokens: 4 },
  };

  test("become an interaction with everything that was given, completed by the answer that the index names", async () => {
    const bench = importBench();
    bench.write("7f3e.request.json", JSON.stringify(request));
    bench.write("req_77.response.json", JSON.stringify(response));
    bench.write("a b.request.json", JSON.stringify(request));
    bench.write("req_78.response.json", JSON.stringify({ ...response, id: "msg_10" }));
    bench.write("index.jsonl", [
      { timestamp: at, request: "/abs/7f3e.request.json", response: "/abs/req_77.response.json" },
      { timestamp: at, request: "/abs/unanswered.request.json" },
      { timestamp: at, request: "/abs/7f3f.request.json", response: "/abs/lost.response.json" },
      { timestamp: at, request: "/abs/a b.request.json", response: "/abs/req_78.response.json" },
    ]);
    const report = await bench.import(bench.folder);
    expect(counts(report)).toMatchObject({ files: 5, added: 4, sessions: 1 });
    expect(report.rejected).toMatchObject([{ line: 3, reason: expect.stringContaining("lost.response.json") }]);
    const { interactions } = await bench.recorder.listInteractions();
    const [odd] = interactions.filter(({ id }) => id !== "claude-code:7f3e");
    expect(await bench.recorder.getInteraction(odd?.id as string)).toMatchObject({
      id: expect.stringMatching(/^claude-code:[0-9a-f]{32}$/),
      response: "Done.",
      extra: { native_id: "a b" },
    });
    const interaction = await bench.recorder.getInteraction("claude-code:7f3e");
    expect(interaction).toMatchObject({
      id: "claude-code:7f3e",
      session_id: "11112222-3333-4444-8555-666677778888",
      prompt: "result of c1",
      context_pack: { messages: request.messages, system: request.system, tools: request.tools },
      response: "Done.",
      model: "claude-opus-4-5",
      usage: { input_tokens: 9, output_tokens: 2, cache_read_tokens: 4 },
    });
    expect(counts(await bench.import(bench.folder))).toMatchObject({ added: 0 });
  });

  test("an answer that no index names is kept as a raw record", async () => {
    const bench = importBench();
    await bench.import(bench.write("req_1.response.json", JSON.stringify(response)));
    expect(await bench.entries()).toMatchObject([{ kind: "raw", id: "claude-code:msg_9", record: response }]);
  });
});
