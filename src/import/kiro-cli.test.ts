// Kiro CLI's sessions in lines, and in its database.
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";
import { Database } from "../engines/sqlite/driver.js";

const names = ["import", "kiro-cli", "6f0e0000-0000-4000-8000-000000000001.jsonl"];
const file = fixturePath(...names);
const session_id = "6f0e0000-0000-4000-8000-000000000001";
const about = {
  session_id,
  cwd: "/srv/shop",
  created_at: "2026-05-04T08:00:00.000Z",
  title: "Rounding",
  parent_session_id: "parent",
  session_state: {
    conversation_metadata: {
      user_turn_metadatas: [{ message_ids: ["k1", "k2", "k3", "k4"], end_timestamp: "2026-05-04T08:00:09.000Z" }],
    },
    rts_model_state: { model_info: { model_id: "claude-sonnet-4.5" } },
  },
};

test("lines become the conversation, with title, folder, parent, model and the times that are known", async () => {
  const bench = importBench();
  bench.write(`${session_id}.json`, JSON.stringify(about));
  const copy = bench.write(`${session_id}.jsonl`, fixtureRecords(...names));
  expect(counts(await bench.import(copy))).toMatchObject({ sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    {
      id: "kiro-cli:k1",
      role: "user",
      content: "Round the prices.",
      created_at: "2026-05-04T08:00:01.000Z",
      project: "shop",
    },
    { content: "Reading.", tool_calls: [{ id: "t1" }, { id: "t2" }], extra: { model: "claude-sonnet-4.5" } },
    { content: "No such file.", created_at: "2026-05-04T08:00:09.000Z" },
    { role: "user", content: "/compact now", extra: { command: { name: "/compact", args: "now" } } },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "shell", args: { command: "cat money.ts" }, is_error: true },
    { tool: "read", result: "price = 1", is_error: false },
  ]);
  expect(entries.filter(({ kind }) => kind === "raw").length).toBe(1);
  expect(await bench.recorder.session(session_id).summary()).toMatchObject({ title: "Rounding", parent: "parent" });
  await expectLegalHistory(bench.recorder, session_id);
  expect((await bench.import(copy)).added).toBe(0);
});

test("without the document next to it, the session is named after its file", async () => {
  const bench = importBench();
  await bench.import(file);
  expect(await bench.recorder.session(session_id).summary()).toMatchObject({
    messages: 4,
    last_at: "2026-05-04T08:00:11.000Z",
  });
});

test("a conversation in the database is a session, also where it is kept for two folders", async () => {
  const bench = importBench();
  const path = bench.write("data.sqlite3", "");
  const database = new Database(path);
  database.exec("CREATE TABLE conversations_v2(key TEXT, conversation_id TEXT, value TEXT, updated_at INTEGER)");
  const insert = database.prepare("INSERT INTO conversations_v2 VALUES (?, ?, ?, ?)");
  const history = [
    {
      user: { content: { Prompt: { prompt: "Round the prices." } }, timestamp: "2026-05-04T08:00:00Z" },
      assistant: {
        ToolUse: { message_id: "s1", content: "Reading.", tool_uses: [{ id: "t1", name: "sh", args: { a: 1 } }] },
      },
    },
    {
      user: {
        content: {
          ToolUseResults: {
            tool_use_results: [
              { tool_use_id: "t1", content: [{ Json: { exit_status: "exit status: 1" } }], status: "Success" },
            ],
          },
        },
        timestamp: "2026-05-04T08:00:01Z",
      },
      assistant: { Response: { message_id: "s2", content: "Done." } },
      request_metadata: { stream_end_timestamp_ms: 1_777_881_605_000 },
    },
    { user: { content: { Telepathy: { of: "a later version" } } }, assistant: null },
  ];
  insert.run("/srv/shop", "c1", JSON.stringify({ conversation_id: "c1", history }), 1);
  insert.run("/srv/other", "c1", JSON.stringify({ conversation_id: "c1", history: history.slice(0, 2) }), 2);
  insert.run("/srv/shop", "broken", "{", 3);
  database.close();
  expect(await bench.import(path)).toMatchObject({
    sessions: 1,
    rejected: [{ reason: expect.stringContaining("broken") }],
  });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user", content: "Round the prices." },
    { content: "Reading.", tool_calls: [{ id: "t1" }] },
    { content: "Done.", created_at: "2026-05-04T08:00:05.000Z" },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([{ tool: "sh", is_error: true }]);
  expect(entries.filter(({ kind }) => kind === "raw").length).toBe(1);
  await expectLegalHistory(bench.recorder, "c1");
  expect((await bench.import(path)).added).toBe(0);
});

test("odd lines are kept or reported, never fatal", async () => {
  const bench = importBench();
  const lines = fixtureRecords(...names).flatMap((line) => [
    { ...line, data: null },
    { ...line, data: { message_id: 3, content: "text", meta: { timestamp: {} } } },
    {
      ...line,
      data: { content: [null, 3, { kind: "toolUse" }, { kind: "toolResult", data: [] }, { data: { deep: [] } }] },
    },
  ]);
  const path = bench.write("odd.jsonl", [...fixtureRecords(...names), ...lines, "[]"]);
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
});
