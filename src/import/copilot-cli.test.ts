// GitHub Copilot CLI's events: prompts and what was put around them, answers in parts, subagents, commands, totals.
import { cpSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

const session_id = "7c0f0000-0000-4000-8000-000000000001";
const names = ["import", "copilot-cli", session_id, "events.jsonl"];
const file = fixturePath(...names);
const lines = fixtureRecords(...names);

test("events become the conversation, with the system prompt once and what the tool added marked", async () => {
  const bench = importBench();
  expect(counts(await bench.import(file))).toMatchObject({ files: 1, sessions: 2, rejected: 0 });
  const entries = await bench.entries();
  const own = entries.filter((entry) => entry.session_id === session_id);
  expect(own.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user", injected: "environment", content: expect.stringContaining("current_datetime") },
    {
      id: "copilot-cli:e1",
      role: "user",
      content: "Round the prices.",
      injected: "",
      project: "shop",
      extra: { attachments: [{ type: "file" }] },
    },
    { role: "user", injected: "reminder", content: expect.stringContaining("no todos") },
    { id: "copilot-cli:e2", role: "system", content: "You keep a shop." },
    {
      id: "copilot-cli:e5",
      role: "assistant",
      content: [
        { type: "text", text: "Reading." },
        { type: "text", text: "And asking." },
      ],
      tool_calls: [{ id: "t1" }, { id: "t2" }],
      extra: {
        message_id: "call-a",
        model: "gpt-5-mini",
        reasoning_content: "Look first.",
        usage: { input_tokens: 100, output_tokens: 12, cache_read_tokens: 40, reasoning_tokens: 4 },
      },
    },
    { role: "user", injected: "command", content: expect.stringContaining("skill-context") },
    { role: "user", injected: "other", content: "Go on." },
    { role: "user", injected: "", content: "Thanks." },
    { role: "assistant", content: "Gladly." },
  ]);
  expect(own.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "bash", args: { command: "cat money.ts" }, is_error: true, duration_ms: 200, tool_call_id: "t1" },
    { tool: "task", result: "Seven.", is_error: false, tool_call_id: "t2", extra: {} },
    { tool: "!", args: { command: "ls" }, result: "money.ts", is_error: false },
  ]);
  expect(own.filter(({ kind }) => kind === "error")).toMatchObject([{ error: "529 overloaded", context: "query" }]);
  expect(own.filter(({ kind }) => kind === "consolidation")).toMatchObject([
    { summary: "Prices are to be rounded.", trigger: "manual", tokens_before: 90, kept: [] },
  ]);
  expect(own.find(({ id }) => id === "copilot-cli:e24")).toMatchObject({
    kind: "raw",
    record: { type: "tool.telepathy" },
  });
  expect(await bench.recorder.session(session_id).summary()).toMatchObject({
    metadata: {
      cwd: "/srv/shop/web",
      version: "1.0.102",
      repository: "acme/shop",
      source: { lacks: ["tool definitions"] },
    },
  });
  expect(JSON.stringify(await expectLegalHistory(bench.recorder, session_id))).toContain("Prices are to be rounded.");
  expect(counts(await bench.import(file))).toMatchObject({ added: 0 });
});

test("the session's name is read from the file next to the events, and changes with it", async () => {
  const bench = importBench();
  const copy = bench.write(`${session_id}/events.jsonl`, "");
  cpSync(file, copy);
  for (const [yaml, title] of [
    ['id: x\nname: "Rounding: prices"\n', "Rounding: prices"],
    ["name: 'It''s rounding'\n", "It's rounding"],
    ["name: Rounding\nuser_named: true\n", "Rounding"],
    ["name: |\n  odd\n", "Rounding"],
  ] as const) {
    bench.write(`${session_id}/workspace.yaml`, yaml);
    await bench.import(copy);
    expect(await bench.recorder.session(session_id).summary()).toMatchObject({ title });
  }
});

test("a subagent is a session of its own, named after its task", async () => {
  const bench = importBench();
  await bench.import(file);
  const child = `${session_id}/agent-t2`;
  expect(await bench.recorder.session(child).summary()).toMatchObject({
    title: "Count the prices",
    parent: session_id,
  });
  const said = (await bench.entries()).filter((entry) => entry.session_id === child && entry.kind === "message");
  expect(said).toMatchObject([
    { role: "user", content: "Count them.", injected: "", project: "shop" },
    { role: "assistant", content: "Seven." },
  ]);
});

test("what no answer accounts for is counted once, with the total that tells of it", async () => {
  const bench = importBench();
  await bench.import(file);
  const { rows } = await bench.recorder.usage({ by: ["client"] });
  // The total of 250 and 17, and a compaction of 80 and 9.
  expect(rows).toMatchObject([
    { client: "copilot-cli", input_tokens: 330, output_tokens: 26, cache_read_tokens: 60, reasoning_tokens: 4 },
  ]);
});

test("a rewind that takes lines out of the file takes nothing out of the record", async () => {
  const bench = importBench();
  await bench.import(file);
  const { position } = await bench.recorder.health();
  const rewound = bench.write(`${session_id}/events.jsonl`, lines.slice(0, 6));
  expect(counts(await bench.import(rewound))).toMatchObject({ added: 0, rejected: 0 });
  expect((await bench.recorder.health()).position).toBe(position);
});

test("events with fields of other types are kept or reported, never fatal", async () => {
  const bench = importBench();
  const odd = lines.flatMap((line) => [
    { ...line, data: Object.fromEntries(Object.keys((line as { data: object }).data).map((name) => [name, [7]])) },
    { ...line, data: null },
    { ...line, data: { ...(line as { data: object }).data, content: { a: null }, toolCallId: 3, result: "text" } },
  ]);
  const path = bench.write("odd/events.jsonl", [...odd, "[1]", "{", readFileSync(file, "utf8").slice(0, 100)]);
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
});
