// Qwen Code's chats: prompts and what the tool added to them, answers in lines, rewinds, compactions, subagents, tokens.
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

const session_id = "9e1d0000-0000-4000-8000-000000000001";
const folder = fixturePath("import", "qwen-code", "-srv-shop");
const names = ["import", "qwen-code", "-srv-shop", "chats", `${session_id}.jsonl`];
const file = fixturePath(...names);
const lines = fixtureRecords(...names);

test("records become the conversation, with typed words apart from what the tool added", async () => {
  const bench = importBench();
  expect(counts(await bench.import(file))).toMatchObject({ files: 1, sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { id: "qwen-code:q1", role: "user", content: "Round the prices in @money.ts.", injected: "", project: "shop" },
    { role: "user", injected: "file", content: expect.stringContaining("price = 1") },
    {
      id: "qwen-code:q3",
      role: "assistant",
      content: "Reading.",
      tool_calls: [{ id: "c1" }, { id: "c2" }],
      extra: {
        message_id: "chatcmpl-1",
        model: "qwen3-coder",
        reasoning_content: "Look first.",
        usage: { input_tokens: 100, output_tokens: 20, cache_read_tokens: 40, reasoning_tokens: 5 },
      },
    },
    { role: "user", content: "And hurry.", injected: "" },
    { role: "user", injected: "reminder" },
    { role: "assistant", content: "There is no such file." },
    { role: "user", content: expect.stringContaining("be brief"), injected: "reminder" },
    { role: "user", content: "A wrong turn.", injected: "" },
    { role: "assistant", content: "Wrong indeed." },
    {
      role: "user",
      content: "/review money",
      injected: "",
      extra: { command: { name: "/review", args: "money" } },
    },
    { role: "user", content: "Review money.ts with care.", injected: "command" },
    { role: "user", content: "<hook>the hook says hello</hook>", injected: "hook" },
    { role: "assistant", content: "Got it.", injected: "other" },
    { role: "user", content: expect.stringContaining("money.ts"), injected: "file" },
    { role: "user", content: "/model plus", injected: "", extra: { command: { name: "/model", args: "plus" } } },
    { role: "user", injected: "output" },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "run_shell_command", args: { command: "cat money.ts" }, is_error: true, duration_ms: 34 },
    { tool: "read_file", result: "price = 1", is_error: false },
    { tool: "!", args: { command: "ls" }, result: "money.ts" },
  ]);
  expect(entries.filter(({ kind }) => kind === "error")).toMatchObject([{ error: "529 overloaded" }]);
  const position = (id: string) => entries.find((entry) => entry.id === id)?.position;
  const left = entries.flatMap((entry) => (entry.kind === "withdrawal" ? [entry.withdraws] : []));
  expect(left).toEqual(["q10", "q10:reminder", "q11"].map((id) => position(`qwen-code:${id}`)));
  expect(entries.filter(({ kind }) => kind === "consolidation")).toMatchObject([
    {
      summary: "<state_snapshot>Prices are to be rounded.</state_snapshot>",
      trigger: "manual",
      tokens_before: 130,
      kept: [position("qwen-code:q7")],
    },
  ]);
  expect(entries.find(({ id }) => id === "qwen-code:q20")).toMatchObject({ kind: "raw" });
  expect(await bench.recorder.session(session_id).summary()).toMatchObject({
    title: "Rounding",
    metadata: { cwd: "/srv/shop", git_branch: "main", version: "0.24.4" },
  });
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, session_id));
  expect(talk).toMatch(/Prices are to be rounded.*And hurry/);
  expect(talk).not.toMatch(/Wrong indeed/);
  expect(counts(await bench.import(file))).toMatchObject({ added: 0 });
});

test("a call that no answer came of counts, and every other one counts once", async () => {
  const bench = importBench();
  await bench.import(file);
  const { rows } = await bench.recorder.usage({ by: ["client"] });
  expect(rows).toMatchObject([
    { client: "qwen-code", calls: 4, input_tokens: 420, output_tokens: 41, cache_read_tokens: 40 },
  ]);
});

test("a subagent's file is a session below the one that started it, named after its task", async () => {
  const bench = importBench();
  await bench.import(folder);
  expect(await bench.recorder.session(`${session_id}/agent-explore-7f3c`).summary()).toMatchObject({
    title: "Find the prices",
    parent: session_id,
    messages: 2,
    tool_calls: 1,
    projects: ["shop"],
  });
  const { sessions } = await bench.recorder.listSessions();
  expect(sessions.map((session) => session.session_id).sort()).toEqual([
    session_id,
    `${session_id}/agent-explore-7f3c`,
  ]);
});

test("a fork names where it came from, and records that it copied count once", async () => {
  const bench = importBench();
  await bench.import(file);
  const copied = lines.slice(0, 1).map((line) => {
    const { uuid } = line as { uuid: string };
    return { ...line, sessionId: "fork", forkedFrom: { sessionId: session_id, messageUuid: uuid } };
  });
  const own = { ...lines[9], uuid: "f1", parentUuid: "q1", sessionId: "fork" };
  expect(counts(await bench.import(bench.write("fork.jsonl", [...copied, own])))).toMatchObject({ added: 2 });
  expect(await bench.recorder.session("fork").summary()).toMatchObject({ metadata: { forked_from: session_id } });
});

test("a rewind is taken back also where the file was read before", async () => {
  const bench = importBench();
  await bench.import(bench.write("chat.jsonl", lines.slice(0, 12)));
  expect(JSON.stringify(await expectLegalHistory(bench.recorder, session_id))).toContain("Wrong indeed");
  await bench.import(bench.write("chat.jsonl", lines));
  expect(JSON.stringify(await expectLegalHistory(bench.recorder, session_id))).not.toContain("Wrong indeed");
});

test("two objects on a line are read, and odd values are kept or reported", async () => {
  const bench = importBench();
  const odd = lines.flatMap((line) => [
    { ...line, uuid: 7, message: { role: "user", parts: "text" } },
    { ...line, message: { parts: [null, 3, { text: 5 }, { functionResponse: { response: null } }] }, timestamp: {} },
    { ...line, systemPayload: [], toolCallResult: "none", parentUuid: {} },
  ]);
  const path = bench.write("odd.jsonl", [...odd, "nothing", `${JSON.stringify(lines[0])}${JSON.stringify(lines[9])}`]);
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
});
