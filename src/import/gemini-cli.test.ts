// Gemini CLI's and Antigravity CLI's chats: the final messages, and what was withdrawn.
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../test/support/transcripts.js";

const name = "session-2026-05-04T08-00-aa11.jsonl";
const file = fixturePath("import", "gemini-cli", name);
const lines = fixtureRecords("import", "gemini-cli", name) as readonly { readonly [name: string]: unknown }[];
const session_id = "aa11bb22-0000-4000-8000-000000000001";

test("a chat becomes its final messages; rewound ones are withdrawn", async () => {
  const bench = importBench();
  expect(counts(await bench.import(file))).toMatchObject({ files: 1, sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { id: "gemini-cli:m1", role: "user", content: "Round the prices." },
    {
      id: "gemini-cli:m2",
      role: "assistant",
      content: "Let me look.",
      tool_calls: [{ id: "read-1", function: { name: "read_file" } }, { id: "sh-2" }],
      extra: {
        model: "gemini-3-pro",
        reasoning_content: "Plan\nRead it.",
        usage: { input_tokens: 50, output_tokens: 12, cache_read_tokens: 30, reasoning_tokens: 4 },
      },
    },
    { id: "gemini-cli:m3", content: "A question taken back" },
    { id: "gemini-cli:m4", content: "An answer taken back" },
    { id: "gemini-cli:m5", content: "Thanks." },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "read_file", result: "floor", is_error: false, tool_call_id: "read-1" },
    { tool: "run_shell_command", result: "exit 1", is_error: true },
  ]);
  expect(entries.filter(({ kind }) => kind === "error")).toMatchObject([{ error: "Quota exceeded" }]);
  expect(tokensOf(entries)).toMatchObject({ input_tokens: 55 });
  expect(entries.filter(({ kind }) => kind === "raw").length).toBe(3);
  expect(entries.filter(({ kind }) => kind === "withdrawal").length).toBe(2);
  expect(await bench.recorder.session(session_id).summary()).toMatchObject({ title: "Rounding" });
  expect(JSON.stringify(await expectLegalHistory(bench.recorder, session_id))).not.toMatch(/taken back/);
  expect(counts(await bench.import(file))).toMatchObject({ added: 0 });
  // What was recorded before it was rewound is withdrawn then.
  const grown = importBench();
  await grown.import(grown.write(name, lines.slice(0, 7)));
  expect(JSON.stringify(await expectLegalHistory(grown.recorder, session_id))).toMatch(/taken back/);
  await grown.import(file);
  expect(JSON.stringify(await expectLegalHistory(grown.recorder, session_id))).not.toMatch(/taken back/);
});

test("a message that is rewritten with further calls continues in another message", async () => {
  const bench = importBench();
  await bench.import(bench.write(name, lines.slice(0, 3)));
  await bench.import(file);
  const further = (await bench.entries()).find(({ id }) => id === "gemini-cli:m2:1");
  expect(further).toMatchObject({
    tool_calls: [{ id: "read-1" }, { id: "sh-2" }],
    extra: { usage: { output_tokens: 11 } },
  });
  expect(tokensOf(await bench.entries())).toMatchObject({ input_tokens: 55, output_tokens: 17 });
  await expectLegalHistory(bench.recorder, session_id);
});

test("what the tool adds as user messages is not a prompt, nor are results", async () => {
  const bench = importBench();
  const at = { timestamp: "2026-05-04T08:00:00.000Z" };
  const response = (id: string) => ({ functionResponse: { id, name: "read_file", response: { output: `of ${id}` } } });
  const call = { id: "c1", name: "read_file", args: {}, status: "success", result: [response("c1")] };
  const path = bench.write("proj/chats/session-x.jsonl", [
    { sessionId: "s-x", projectHash: "h", startTime: at.timestamp, messages: [] },
    {
      $set: {
        messages: [{ id: "s0", type: "user", ...at, content: [{ text: "<session_context>x</session_context>" }] }],
      },
    },
    { id: "u1", type: "user", ...at, content: [{ text: "Look" }, { text: "<hook_context>y</hook_context>" }] },
    {
      id: "g1",
      type: "gemini",
      ...at,
      content: [{ text: "hm", thought: true }, { text: "I look." }],
      toolCalls: [call],
    },
    { id: "u2", type: "user", ...at, content: [response("c1")] },
    { id: "g2", type: "gemini", ...at, content: [{ functionCall: { id: "c2", name: "read_file", args: { a: 1 } } }] },
    { id: "u3", type: "user", ...at, content: [response("c2")] },
    { id: "u4", type: "user", ...at, content: "<state_snapshot>z</state_snapshot>" },
  ]);
  bench.write("proj/.project_root", "/srv/shop\n");
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0, sessions: 1 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user", content: "<session_context>x</session_context>", injected: "environment" },
    { role: "user", content: "<hook_context>y</hook_context>", injected: "hook" },
    { role: "user", content: "Look", project: "shop", injected: "" },
    { role: "assistant", content: "I look.", tool_calls: [{ id: "c1" }], extra: { reasoning_content: "hm" } },
    { role: "assistant", content: "", tool_calls: [{ id: "c2" }] },
    { role: "user", content: "<state_snapshot>z</state_snapshot>", injected: "summary" },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "read_file", result: "of c1", is_error: false },
    { tool: "read_file", result: "of c2", args: { a: 1 } },
  ]);
  await expectLegalHistory(bench.recorder, "s-x");
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});

test("messages that occur only in lists are read from there, and a subagent belongs to its session", async () => {
  const bench = importBench();
  const message = (id: string, type: string, content: string) => ({
    id,
    type,
    content,
    timestamp: "2026-05-04T08:00:00Z",
  });
  const messages = [message("a", "user", "q"), message("b", "gemini", "first")];
  const path = bench.write("proj/chats/s-main/s-sub.jsonl", [
    { sessionId: "s-sub", projectHash: "h", startTime: "2026-05-04T08:00:00Z", kind: "subagent" },
    { $set: { messages: messages.slice(0, 1) } },
    { $set: { messages: [...messages, message("c", "user", "thanks")] } },
  ]);
  await bench.import(path);
  const found = (await bench.entries()).filter(({ kind }) => kind === "message");
  expect(found).toMatchObject([{ content: "q" }, { content: "first" }, { content: "thanks" }]);
  expect(await bench.recorder.session("s-main/agent-s-sub").summary()).toMatchObject({ parent: "s-main", messages: 3 });
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});

test("messages with lines of their own are not read from lists as well", async () => {
  const bench = importBench();
  const message = (id: string, type: string, content: string) => ({ id, type, content, timestamp: startTime });
  const startTime = "2026-05-04T08:00:00Z";
  const [first, question, answer] = [
    message("a", "user", "before"),
    message("b", "user", "question"),
    message("c", "gemini", "answer"),
  ];
  const path = bench.write("proj/chats/session-y.jsonl", [
    { sessionId: "s-y", projectHash: "h", startTime, messages: [first] },
    question,
    answer,
    { $set: { messages: [question, message("d", "user", "<state_snapshot>all of it</state_snapshot>")] } },
    message("e", "user", "thanks"),
  ]);
  await bench.import(path);
  const found = (await bench.entries()).filter(({ kind }) => kind === "message");
  expect(found).toMatchObject(["before", "question", "answer", "thanks"].map((content) => ({ content })));
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});

test("the older format is one document, with keys in any order, and counts as the same chat", async () => {
  const bench = importBench();
  const messages = lines.filter(({ id, type }) => typeof id === "string" && type !== "error").slice(2, 3);
  const [header] = lines;
  const path = bench.write(
    "session-old.json",
    JSON.stringify({ messages: [lines[1], ...messages], ...header }, null, 2),
  );
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0, sessions: 1, added: 5 });
  await bench.import(file);
  expect((await bench.entries()).filter(({ id }) => id === "gemini-cli:m1").length).toBe(1);
});

test("Antigravity's steps become a request, plans with their calls, and results", async () => {
  const bench = importBench();
  expect(counts(await bench.import(fixturePath("import", "antigravity")))).toMatchObject({ files: 1, rejected: 0 });
  const entries = await bench.entries();
  const id = "7d1e0000-0000-4000-8000-000000000001";
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user", content: expect.stringContaining("Monday"), injected: "environment", session_id: id },
    { role: "user", content: "Round the prices.", injected: "", session_id: id },
    { role: "assistant", content: "I look.", tool_calls: [{ id: "call_1" }], extra: { reasoning_content: "Read it." } },
    { role: "assistant", content: "", tool_calls: [{ function: { name: "run_command" } }] },
    { role: "assistant", content: "It floors." },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "view_file", result: "floor", is_error: false, tool_call_id: "call_1", args: { path: "money.ts" } },
    { tool: "run_command", result: "exit 1", is_error: true },
  ]);
  await expectLegalHistory(bench.recorder, id);
  expect(counts(await bench.import(fixturePath("import", "antigravity")))).toMatchObject({ added: 0 });
});
