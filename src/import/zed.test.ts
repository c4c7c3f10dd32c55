// Zed's agent threads: compressed or not, in the form of version 0.3 and in the one before.
import { expect, test } from "vitest";
import { importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";
import { zstdFrame } from "../../test/support/zstd-frame.js";
import { Database } from "../engines/sqlite/driver.js";

const thread = {
  version: "0.3.0",
  title: "Rounding",
  model: { provider: "anthropic", model: "claude-sonnet-4-5" },
  messages: [
    {
      User: {
        id: "u1",
        content: [
          { Text: "Round the prices in " },
          { Mention: { uri: { File: { abs_path: "/srv/shop/money.ts" } }, content: "price = 1" } },
        ],
      },
    },
    {
      Agent: {
        content: [
          { Thinking: { text: "Look first.", signature: "c2ln" } },
          { Text: "Reading." },
          { ToolUse: { id: "t1", name: "terminal", raw_input: "{}", input: { command: "cat money.ts" } } },
        ],
        tool_results: {
          t1: { tool_name: "terminal", is_error: true, content: { Text: "no such file" }, output: null },
        },
      },
    },
    { Agent: { content: [{ Text: "No such file." }], tool_results: {} } },
    "Resume",
    { User: { id: "u2", content: [{ Image: { source: "aGk=" } }] } },
    { Agent: { content: [{ Text: "A picture." }], tool_results: {} } },
    { Telepathy: { of: "a later version" } },
  ],
  request_token_usage: { u1: { input_tokens: 60, output_tokens: 20, cache_read_input_tokens: 40 } },
  cumulative_token_usage: { input_tokens: 100, output_tokens: 50, cache_read_input_tokens: 40 },
};
const older = {
  version: "0.2.0",
  summary: "An older one",
  messages: [
    { id: 1, role: "user", segments: [{ type: "text", text: "Hello?" }] },
    {
      id: 2,
      role: "assistant",
      segments: [
        { type: "thinking", text: "Hm." },
        { type: "text", text: "Hello." },
      ],
      tool_uses: [{ id: "o1", name: "now", input: {} }],
      tool_results: [{ tool_use_id: "o1", is_error: false, content: "noon" }],
    },
  ],
};

function database(path: string): Database {
  const tables = new Database(path);
  tables.exec(
    "CREATE TABLE threads(id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, created_at TEXT, data_type TEXT, data BLOB, parent_id TEXT, folder_paths TEXT)",
  );
  return tables;
}

function add(tables: Database, id: string, type: string, data: string | Uint8Array): void {
  tables
    .prepare(
      "INSERT OR REPLACE INTO threads VALUES (?, 's', '2026-05-04T09:00:00Z', '2026-05-04T08:00:00Z', ?, ?, NULL, '/srv/shop')",
    )
    .run(id, type, data);
}

test("threads become conversations, with words apart from what they mention, and tokens counted once", async () => {
  const bench = importBench();
  const path = bench.write("threads.db", "");
  const tables = database(path);
  add(tables, "z1", "zstd", zstdFrame(JSON.stringify(thread)));
  add(tables, "z2", "json", JSON.stringify(older));
  add(tables, "z3", "zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]));
  add(tables, "z4", "json", "[]");
  const report = await bench.import(path);
  expect(report.rejected.map(({ reason }) => reason)).toEqual([
    expect.stringContaining("z3"),
    expect.stringContaining("z4"),
  ]);
  const entries = await bench.entries();
  const own = entries.filter(({ session_id }) => session_id === "z1");
  expect(own.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user", content: "Round the prices in @/srv/shop/money.ts", project: "shop", extra: { time_is: "file" } },
    { role: "user", content: "price = 1", injected: "file" },
    {
      content: "Reading.",
      tool_calls: [{ id: "t1" }],
      extra: { model: "claude-sonnet-4-5", thinking_blocks: [{ thinking: "Look first.", signature: "c2ln" }] },
    },
    { content: "No such file.", extra: { usage: { input_tokens: 60, output_tokens: 20, cache_read_tokens: 40 } } },
    { role: "user", content: [{ type: "image" }] },
    { content: "A picture." },
  ]);
  expect(own.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "terminal", args: { command: "cat money.ts" }, result: "no such file", is_error: true },
  ]);
  expect(own.filter(({ kind }) => kind === "raw")).toMatchObject([
    { record: { message: { Telepathy: {} } } },
    { extra: { usage: { input_tokens: 40, output_tokens: 30 } } },
  ]);
  expect(entries.filter(({ session_id, kind }) => session_id === "z2" && kind === "message")).toMatchObject([
    { role: "user", content: "Hello?" },
    { content: "Hello.", tool_calls: [{ id: "o1" }], extra: { reasoning_content: "Hm." } },
  ]);
  expect(await bench.recorder.session("z1").summary()).toMatchObject({ title: "Rounding" });
  for (const id of ["z1", "z2"]) await expectLegalHistory(bench.recorder, id);
  const { rows } = await bench.recorder.usage({ by: ["client"] });
  expect(rows).toMatchObject([{ client: "zed", output_tokens: 50, cache_read_tokens: 40 }]);
  expect((await bench.import(path)).added).toBe(0);
  const grown = { ...thread, messages: [...thread.messages, { User: { id: "u3", content: [{ Text: "Thanks." }] } }] };
  add(tables, "z1", "json", JSON.stringify(grown));
  tables.close();
  expect((await bench.import(path)).added).toBe(1);
});

test("odd messages are kept or reported, never fatal", async () => {
  const bench = importBench();
  const path = bench.write("threads.db", "");
  const tables = database(path);
  const messages = [
    null,
    3,
    "x",
    {},
    { User: 3 },
    { Agent: {} },
    { User: { content: [null, { Mention: 3 }, { Image: {} }] } },
  ];
  const more = [
    { Agent: { content: [3, null, { ToolUse: {} }], tool_results: { a: 3, b: {} } } },
    { role: "assistant", segments: 3 },
  ];
  add(tables, "odd", "json", JSON.stringify({ messages: [...messages, ...more], request_token_usage: 3, model: [] }));
  tables.close();
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
});
