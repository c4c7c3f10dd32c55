// Cline's sessions, tasks of its older versions, and those of Roo Code: typed words apart from what the tools put around them.
import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

const ts = 1_777_881_600_000;
const text = (words: string) => ({ type: "text", text: words });
const metrics = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 40, cacheWriteTokens: 0, cost: 0.5 };

const messages = [
  {
    id: "u1",
    role: "user",
    ts,
    content: [
      text('<user_input mode="act">Round the prices.</user_input>'),
      text("<environment_details>\nmoney.ts is open\n</environment_details>"),
      { type: "file", path: "/srv/shop/money.ts", content: "price = 1" },
    ],
  },
  {
    id: "a1",
    role: "assistant",
    ts: ts + 1_000,
    content: [
      { type: "thinking", thinking: "Look first." },
      text("Reading."),
      { type: "tool_use", id: "t1", name: "run_commands", input: { commands: ["cat money.ts"] } },
      { type: "tool_use", id: "t2", name: "editor", input: { path: "money.ts" } },
    ],
    modelInfo: { id: "claude-sonnet-4-5", provider: "anthropic" },
    metrics,
  },
  {
    id: "u2",
    role: "user",
    ts: ts + 2_000,
    content: [
      {
        type: "tool_result",
        tool_use_id: "t1",
        name: "run_commands",
        content: [{ query: "cat money.ts", result: "no such file", error: "exited with code 1", success: false }],
      },
      { type: "tool_result", tool_use_id: "t2", name: "editor", content: '{"result":"edited","success":true}' },
      text("And hurry."),
    ],
  },
  { id: "a2", role: "assistant", ts: ts + 3_000, content: [text("Done.")], metrics },
  { id: "u3", role: "user", ts: ts + 4_000, content: "Thanks." },
  { id: "x1", role: "oracle", ts: ts + 5_000, content: "of a later version" },
];
const session = { version: 1, agent: "lead", sessionId: "1777_a", system_prompt: "You are Cline." };
const manifest = {
  session_id: "1777_a",
  started_at: "2026-05-04T08:00:00.000Z",
  cwd: "/srv/shop",
  metadata: { title: "Rounding", fork: { forkedFromSessionId: "1776_b" } },
};

test("a session becomes the conversation with its title, folder, source and system prompt", async () => {
  const bench = importBench();
  bench.write("1777_a/1777_a.json", JSON.stringify(manifest));
  const file = bench.write("1777_a/1777_a.messages.json", JSON.stringify({ ...session, messages }));
  expect(counts(await bench.import(file))).toMatchObject({ files: 1, sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "system", content: "You are Cline." },
    { id: "cline:u1", role: "user", content: "Round the prices.", injected: "", project: "shop" },
    { role: "user", injected: "environment", content: expect.stringContaining("money.ts is open") },
    { role: "user", injected: "file" },
    {
      id: "cline:a1",
      content: "Reading.",
      tool_calls: [{ id: "t1" }, { id: "t2" }],
      extra: {
        model: "claude-sonnet-4-5",
        reasoning_content: "Look first.",
        cost: 0.5,
        usage: { input_tokens: 100, output_tokens: 20, cache_read_tokens: 40 },
      },
    },
    { id: "cline:u2", role: "user", content: "And hurry.", injected: "" },
    { role: "assistant", content: "Done." },
    { role: "user", content: "Thanks." },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "run_commands", args: { commands: ["cat money.ts"] }, is_error: true },
    { tool: "editor", is_error: false },
  ]);
  expect(entries.find(({ id }) => id === "cline:x1")).toMatchObject({ kind: "raw" });
  expect(await bench.recorder.session("1777_a").summary()).toMatchObject({
    title: "Rounding",
    metadata: { cwd: "/srv/shop", forked_from: "1776_b" },
  });
  await expectLegalHistory(bench.recorder, "1777_a");
  expect(counts(await bench.import(file))).toMatchObject({ added: 0 });
});

test("a document that grew adds what is new, and one that shrank takes nothing back", async () => {
  const bench = importBench();
  const write = (count: number) =>
    bench.write("a.messages.json", JSON.stringify({ ...session, messages: messages.slice(0, count) }));
  await bench.import(write(2));
  expect((await bench.import(write(6))).added).toBe(6);
  const { position } = await bench.recorder.health();
  expect((await bench.import(write(1))).added).toBe(0);
  expect((await bench.recorder.health()).position).toBe(position);
});

test("after a compaction the history is what the model was given: messages that stayed, and the notice", async () => {
  const bench = importBench();
  const notice = text("<SYSTEM_NOTICE>\nEarlier context was compacted. money.ts was read.\n</SYSTEM_NOTICE>");
  const list = [
    {
      ...messages[0],
      content: [text("Round the prices."), notice],
      metadata: { kind: "compaction", reason: "manual" },
    },
    messages[3],
  ];
  bench.write("1777_a.compaction.json", JSON.stringify({ ...session, updated_at: ts + 3_500, messages: list }));
  const file = bench.write("1777_a.messages.json", JSON.stringify({ ...session, messages }));
  await bench.import(file);
  expect((await bench.entries()).filter(({ kind }) => kind === "consolidation")).toMatchObject([
    { summary: "Earlier context was compacted. money.ts was read.", trigger: "manual" },
  ]);
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, "1777_a"));
  expect(talk).toMatch(/money.ts was read.*Round the prices.*Done.*Thanks/);
  expect(talk).not.toContain("Reading.");
  expect((await bench.import(file)).added).toBe(0);
  // The list itself is no session.
  expect(
    await bench.import(bench.write("b.compaction.json", JSON.stringify({ ...session, messages: list }))),
  ).toMatchObject({
    added: 0,
    rejected: [{ reason: expect.stringContaining("b.messages.json") }],
  });
});

test("what another agent of a session said is a session below it", async () => {
  const bench = importBench();
  const own = { ...session, sessionId: "1777_a__scout", messages: messages.slice(0, 2) };
  await bench.import(bench.write("1777_a__scout.messages.json", JSON.stringify(own)));
  expect(await bench.recorder.session("1777_a/agent-scout").summary()).toMatchObject({ parent: "1777_a", messages: 2 });
});

const asked = [
  text("<task>\nRound the prices.\n</task>"),
  text("<environment_details>\nnothing\n</environment_details>"),
];
const task = [
  { role: "user", content: asked },
  { role: "assistant", content: [text("Reading."), { type: "tool_use", id: "t1", name: "read_file", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "price = 1", is_error: false }] },
  { role: "assistant", content: "<attempt_completion>Done.</attempt_completion>" },
  {
    role: "user",
    content: [text("[attempt_completion] Result:\n<feedback>\nAnd the tax?\n</feedback>")],
  },
];
const shown = [
  {
    ts: ts + 1_000,
    type: "say",
    say: "api_req_started",
    text: '{"tokensIn":10,"tokensOut":5,"cacheReads":3,"cost":0.1}',
  },
  { ts: ts + 2_000, type: "say", say: "text", text: "Reading." },
  { ts: ts + 3_000, type: "say", say: "api_req_started", text: '{"tokensIn":20,"tokensOut":6}' },
  { ts: ts + 4_000, type: "say", say: "api_req_started", text: '{"request":"failed"}' },
];

test("a task of an older version has times and tokens from the list that the tool showed", async () => {
  const bench = importBench();
  const items = [{ id: String(ts), ts, task: "Round the prices.\nAll.", cwdOnTaskInitialization: "/srv/shop" }];
  bench.write("claude-dev/state/taskHistory.json", JSON.stringify(items));
  bench.write(`claude-dev/tasks/${ts}/ui_messages.json`, JSON.stringify(shown));
  const file = bench.write(`claude-dev/tasks/${ts}/api_conversation_history.json`, JSON.stringify(task));
  expect(counts(await bench.import(file))).toMatchObject({ rejected: 0, sessions: 1 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user", content: "Round the prices.", injected: "", client: "cline", project: "shop" },
    { role: "user", injected: "environment" },
    { created_at: "2026-05-04T08:00:01.000Z", extra: { usage: { input_tokens: 10, output_tokens: 5 } } },
    { created_at: "2026-05-04T08:00:03.000Z", extra: { usage: { input_tokens: 20, output_tokens: 6 } } },
    { role: "user", injected: "output", content: expect.stringContaining("[attempt_completion] Result:") },
    { role: "user", content: "And the tax?", injected: "" },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([{ tool: "read_file", is_error: false }]);
  expect(await bench.recorder.session(String(ts)).summary()).toMatchObject({ title: "Round the prices." });
  await expectLegalHistory(bench.recorder, String(ts));
  // Without the list, the messages are the same ones.
  bench.write(`claude-dev/tasks/${ts}/ui_messages.json`, "broken");
  expect((await bench.import(file)).added).toBe(0);
});

test("tokens that belong to no certain answer count all the same", async () => {
  const bench = importBench();
  bench.write("t/ui_messages.json", JSON.stringify(shown));
  await bench.import(bench.write("t/api_conversation_history.json", JSON.stringify(task.slice(0, 2))));
  const { rows } = await bench.recorder.usage({ by: ["client"] });
  expect(rows).toMatchObject([{ client: "cline", calls: 2, input_tokens: 30, output_tokens: 11 }]);
});

test("a task of Roo Code names its parent, and its condensed part is a summary", async () => {
  const bench = importBench();
  const condensed = [
    ...task.slice(0, 2).map((message) => ({ ...message, ts, condenseParent: "c" })),
    { role: "user", ts: ts + 10, isSummary: true, condenseId: "c", content: "Prices are to be rounded." },
    { role: "assistant", ts: ts + 20, content: [text("Going on.")], reasoning_content: "On we go." },
  ];
  const item = { id: "1777881600001", parentTaskId: "1777881600000", task: "Rounding", workspace: "/srv/shop" };
  bench.write("roo/1777881600001/history_item.json", JSON.stringify(item));
  const file = bench.write("roo/1777881600001/api_conversation_history.json", JSON.stringify(condensed));
  expect(counts(await bench.import(file))).toMatchObject({ rejected: 0 });
  expect(await bench.recorder.session("1777881600001").summary()).toMatchObject({
    parent: "1777881600000",
    clients: ["roo-code"],
  });
  const entries = await bench.entries();
  expect(entries.find(({ kind }) => kind === "consolidation")).toMatchObject({ summary: "Prices are to be rounded." });
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, "1777881600001"));
  expect(talk).toMatch(/Prices are to be rounded.*Going on/);
  expect(talk).not.toContain("Reading.");
  expect((await bench.import(file)).added).toBe(0);
});

test("odd messages are kept or reported, never fatal; messages of Anthropic's are not taken for Cline's", async () => {
  const bench = importBench();
  const odd = [
    ...messages,
    3,
    null,
    { ts, content: null },
    { role: "assistant", ts: {}, content: [null, 7, { type: 3 }] },
  ];
  const path = bench.write("odd.messages.json", JSON.stringify({ agent: 1, system_prompt: [], messages: odd }));
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
  const tasks = bench.write(
    "odd/api_conversation_history.json",
    JSON.stringify([...task, 3, {}, { role: 1, content: {} }]),
  );
  await bench.import(tasks);
  expect((await bench.import(tasks)).added).toBe(0);
  const plain = messages.slice(0, 5).map(({ role, content }) => ({ role, content }));
  const report = await bench.import(bench.write("plain.json", JSON.stringify({ system: "x", messages: plain })));
  expect(report.rejected).toEqual([]);
});

test("words that are full of unclosed tags are read as fast as others", async () => {
  const bench = importBench();
  const hostile = ["<task>", "<task", "<user_input a", "<SYSTEM_NOTICE>  ", "<hook_context>", "[x] Result"].map((tag) =>
    text(tag.repeat(50_000)),
  );
  const own = { ...session, messages: [{ id: "u", role: "user", ts, content: hostile }] };
  bench.write("slow.compaction.json", JSON.stringify(own));
  const begunMs = performance.now();
  await bench.import(bench.write("slow.messages.json", JSON.stringify(own)));
  expect(performance.now() - begunMs).toBeLessThan(5_000);
  expect((await bench.entries()).filter(({ kind }) => kind === "message").length).toBeGreaterThan(1);
});
