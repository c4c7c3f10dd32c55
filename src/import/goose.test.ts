// Goose's sessions: lines of older versions, and the database with what a compaction hid, and totals of tokens.
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";
import { Database } from "../engines/sqlite/driver.js";

const session_id = "20260504_1";
const names = ["import", "goose", `${session_id}.jsonl`];

const conversation = [
  { id: "goose:g1", role: "user", content: "Round the prices.", project: "shop" },
  { content: "Reading.", tool_calls: [{ id: "t1" }, { id: "t2" }], extra: { reasoning_content: "Look first." } },
  { content: "No such file." },
  { role: "user", content: [{ type: "image", source: { media_type: "image/png" } }, { type: "text" }] },
];

test("a file of lines becomes the conversation, not one of nanobot's", async () => {
  const bench = importBench();
  const file = fixturePath(...names);
  expect(counts(await bench.import(file))).toMatchObject({ sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject(conversation);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    {
      tool: "developer__shell",
      args: { command: "cat money.ts" },
      result: "no such file",
      is_error: true,
      client: "goose",
    },
    { result: "no such tool", is_error: true },
  ]);
  expect(entries.filter(({ kind }) => kind === "raw").length).toBe(1);
  expect(await bench.recorder.session(session_id).summary()).toMatchObject({ title: "Rounding" });
  await expectLegalHistory(bench.recorder, session_id);
  expect((await bench.import(file)).added).toBe(0);
});

/** The same messages in the tables of newer versions. */
function database(path: string): Database {
  const tables = new Database(path);
  tables.exec(
    "CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TEXT, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT)",
  );
  tables.exec(
    "CREATE TABLE messages(id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT)",
  );
  tables.exec(
    `INSERT INTO sessions VALUES ('${session_id}', 'Rounding', '/srv/shop', '2026-05-04T08:00:00Z', 100, 20, '{"model_name":"gpt-5-mini"}')`,
  );
  return tables;
}

interface Line {
  readonly id?: string;
  readonly role?: string;
  readonly created?: number;
  readonly content?: unknown;
}

function add(tables: Database, { id = "", role = "", created = 0, content }: Line, metadata: object = {}): void {
  tables
    .prepare(
      "INSERT INTO messages(message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .run(id, session_id, role, JSON.stringify(content), created, JSON.stringify(metadata));
}

test("the database has the same session, and its tokens count as they grow", async () => {
  const bench = importBench();
  const path = bench.write("sessions.db", "");
  const tables = database(path);
  const lines = (fixtureRecords(...names) as readonly Line[]).filter(({ role }) => role !== undefined);
  for (const line of lines) add(tables, line);
  tables.exec("INSERT INTO messages(message_id, session_id, content_json) VALUES ('bad', 'x', '{')");
  expect(await bench.import(path)).toMatchObject({ rejected: [{ reason: expect.stringContaining("bad") }] });
  expect((await bench.entries()).filter(({ kind }) => kind === "message")).toMatchObject(conversation);
  const tokens = async () => (await bench.recorder.usage({ by: ["model"] })).rows;
  expect(await tokens()).toMatchObject([{ model: "gpt-5-mini", input_tokens: 100, output_tokens: 20 }]);
  tables.exec("UPDATE sessions SET accumulated_input_tokens = 150, accumulated_output_tokens = 30");
  expect((await bench.import(path)).added).toBe(1);
  expect(await tokens()).toMatchObject([{ input_tokens: 150, output_tokens: 30 }]);
  expect((await bench.import(path)).added).toBe(0);
  // The older file holds the same messages.
  tables.close();
  expect((await bench.import(fixturePath(...names))).added).toBeLessThanOrEqual(3);
});

test("messages that a compaction hid stay recorded, and the model goes on from the summary", async () => {
  const bench = importBench();
  const path = bench.write("sessions.db", "");
  const tables = database(path);
  const said = (id: string, role: string, text: string, created: number) => ({
    ...{ id, role, created },
    content: [{ type: "text", text }],
  });
  add(tables, said("a", "user", "Old words.", 1_777_881_601));
  add(tables, said("b", "assistant", "Old answer.", 1_777_881_602));
  await bench.import(path);
  tables.exec(`UPDATE messages SET metadata_json = '{"userVisible":true,"agentVisible":false}'`);
  add(tables, said("s", "user", "Prices are to be rounded.", 1_777_881_603), {
    userVisible: false,
    agentVisible: true,
  });
  add(tables, said("n", "assistant", "I go on.", 1_777_881_604), { userVisible: false, agentVisible: true });
  const note = {
    id: "o",
    role: "assistant",
    created: 1_777_881_604,
    content: [{ type: "systemNotification", msg: "compacted" }],
  };
  add(tables, note, { userVisible: true, agentVisible: false });
  add(tables, said("c", "user", "New words.", 1_777_881_605));
  tables.close();
  await bench.import(path);
  expect((await bench.entries()).find(({ kind }) => kind === "consolidation")).toMatchObject({
    summary: "Prices are to be rounded.",
  });
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, session_id));
  expect(talk).toMatch(/Prices are to be rounded.*I go on.*New words/);
  expect(talk).not.toContain("Old");
  expect((await bench.import(path)).added).toBe(0);
});

test("odd content is kept or reported, never fatal", async () => {
  const bench = importBench();
  const odd = [
    { role: "user", content: "plain" },
    { role: "user", content: [null, 3, { type: "toolResponse", toolResult: [] }] },
    { role: "assistant", content: [{ type: "toolRequest" }, { type: "toolRequest", id: "x", toolCall: 3 }] },
    { role: 3, content: [] },
    { role: "system", content: {} },
  ];
  const path = bench.write("odd.jsonl", [...fixtureRecords(...names), ...odd]);
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
});
