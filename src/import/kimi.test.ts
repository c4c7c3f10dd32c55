// Sessions of Kimi Code, as operations on a context, and of Kimi CLI, on its wire and in its context.

import { hash } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

const code = fixturePath("import", "kimi-code");
const cli = fixturePath("import", "kimi-cli");
const codeLines = fixtureRecords("import", "kimi-code", "wd_shop_ab", "k-1", "agents", "main", "wire.jsonl");
const cliLines = fixtureRecords("import", "kimi-cli", "sessions", "6a2f", "kc-1", "wire.jsonl");

test("Kimi Code's operations become the conversation, with what was undone withdrawn and what was kept named", async () => {
  const bench = importBench();
  cpSync(code, bench.folder, { recursive: true });
  const state = { createdAt: "2026-05-04T08:00:00.000Z", title: "Rounding", workDir: "/srv/shop", forkedFrom: "k-0" };
  bench.write("wd_shop_ab/k-1/state.json", JSON.stringify(state));
  const folder = join(bench.folder, "wd_shop_ab/k-1/agents");
  expect(counts(await bench.import(folder))).toMatchObject({ files: 2, sessions: 2, rejected: 0 });
  const entries = (await bench.entries()).filter(({ session_id }) => session_id === "k-1");
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "system", content: "You are Kimi.", project: "shop" },
    { role: "user", content: "Round the prices.", injected: "" },
    { role: "user", injected: "reminder" },
    {
      role: "assistant",
      content: "Reading.",
      tool_calls: [{ id: "t1" }],
      extra: {
        model: "kimi-k2",
        reasoning_content: "Look first.",
        usage: { input_tokens: 60, output_tokens: 20, cache_read_tokens: 40 },
      },
    },
    { role: "user", content: "A wrong turn." },
    { role: "assistant", content: "Wrong indeed." },
    { role: "user", content: "Keep this one." },
    { role: "user", content: "Go on." },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "Shell", args: { command: "cat money.ts" }, result: "no such file", is_error: true },
  ]);
  const summary = await bench.recorder.session("k-1").summary();
  expect(summary).toMatchObject({ title: "Rounding", metadata: { cwd: "/srv/shop", forked_from: "k-0" } });
  expect(await bench.recorder.session("k-1/agent-0").summary()).toMatchObject({ parent: "k-1", messages: 2 });
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, "k-1"));
  expect(talk).toMatch(/Prices are to be rounded.*Keep this one.*Go on/);
  expect(talk).not.toContain("Wrong indeed");
  const { rows } = await bench.recorder.usage({ by: ["client"] });
  expect(rows).toMatchObject([{ client: "kimi-code", calls: 1, cache_read_tokens: 40, output_tokens: 20 }]);
  expect((await bench.import(folder)).added).toBe(0);
});

test("a cleared context is a clear, and an older compaction keeps what came last", async () => {
  const said = (text: string, time: number) => ({
    type: "context.append_message",
    message: { role: "user", content: text },
    time: 1_777_881_600_000 + time,
  });
  const bench = importBench();
  const lines = [
    said("before", 1),
    { type: "context.clear", time: 1_777_881_600_002 },
    said("compacted", 3),
    said("kept", 4),
    { type: "context.apply_compaction", summary: "A summary.", compactedCount: 1, time: 1_777_881_600_005 },
    { type: "context.undo", count: 3, time: 1_777_881_600_006 },
    said("after", 7),
  ];
  await bench.import(bench.write("s/agents/main/wire.jsonl", lines));
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, "s"));
  expect(talk).toMatch(/A summary.*kept.*after/);
  expect(talk).not.toMatch(/before|compacted"/);
});

test("Kimi CLI's wire becomes the conversation, and the context adds the system prompt and nothing twice", async () => {
  const bench = importBench();
  cpSync(cli, bench.folder, { recursive: true });
  const folder = hash("md5", "/srv/shop", "hex");
  cpSync(join(bench.folder, "sessions/6a2f"), join(bench.folder, "sessions", folder), { recursive: true });
  bench.write("kimi.json", JSON.stringify({ work_dirs: [{ path: "/srv/other" }, { path: "/srv/shop" }] }));
  bench.write(`sessions/${folder}/kc-1/state.json`, JSON.stringify({ custom_title: "Rounding" }));
  const files = ["context.jsonl", "wire.jsonl"].map((name) => join(bench.folder, "sessions", folder, "kc-1", name));
  expect(counts(await bench.import(files))).toMatchObject({ sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "system", content: "You are Kimi.", project: "shop" },
    { role: "user", content: "Round the prices.", created_at: "2026-05-04T08:00:01.500Z" },
    {
      content: "Reading.",
      tool_calls: [{ id: "Shell:0" }],
      extra: { message_id: "chatcmpl-1", reasoning_content: "Look first.", usage: { input_tokens: 60 } },
    },
    { content: "No such file." },
    { role: "user", content: "/compact", extra: { command: { name: "/compact" } } },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([{ tool: "Shell", is_error: true }]);
  expect(await bench.recorder.session("kc-1").summary()).toMatchObject({
    title: "Rounding",
    first_at: "2026-05-04T08:00:01.500Z",
    last_at: "2026-05-04T08:00:05.000Z",
  });
  await expectLegalHistory(bench.recorder, "kc-1");
  expect((await bench.import(files)).added).toBe(0);
});

test("where there is no wire, the context is the conversation", async () => {
  const bench = importBench();
  const lines = fixtureRecords("import", "kimi-cli", "sessions", "6a2f", "kc-1", "context.jsonl");
  const file = bench.write("kc-2/context.jsonl", lines);
  await bench.import(file);
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "system" },
    { role: "user", content: "Round the prices.", extra: { time_is: "file" } },
    { content: "Reading.", tool_calls: [{ id: "Shell:0" }] },
    { role: "user", injected: "reminder" },
  ]);
  await expectLegalHistory(bench.recorder, "kc-2");
  expect((await bench.import(file)).added).toBe(0);
});

test.each([
  ["Kimi Code", "wire/agents/main/wire.jsonl", codeLines],
  ["Kimi CLI", "wire/s/wire.jsonl", cliLines],
])("odd lines of %s are kept or reported, never fatal", async (_, name, lines) => {
  const bench = importBench();
  const odd = lines.flatMap((line) => [
    line,
    { ...line, message: null, event: null, time: {}, timestamp: [] },
    { ...line, message: { type: 3, payload: [], role: {}, content: 7 }, event: { type: "tool.result", result: [] } },
    { ...line, message: { type: "ToolResult", payload: { return_value: 3 } }, count: -5, compactedCount: "x" },
  ]);
  const path = bench.write(name, [...odd, "{", "null"]);
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
});
