// simonw/llm's logs.db in both generations.

import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../test/support/transcripts.js";
import { Database } from "../engines/sqlite/driver.js";

function fill(path: string, script: string): string {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.exec(script);
  database.close();
  return path;
}

const older = `
CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT,
  response TEXT, response_json TEXT, conversation_id TEXT, duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER,
  output_tokens INTEGER, token_details TEXT, schema_id TEXT, resolved_model TEXT, reasoning TEXT);
CREATE TABLE tool_calls(id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT);
CREATE TABLE tool_results(id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT,
  tool_call_id TEXT, instance_id INTEGER, exception TEXT);
INSERT INTO conversations VALUES ('01c', 'Rounding', 'gpt-5');
INSERT INTO responses VALUES ('01a', 'gpt-5', 'Round it', 'Be brief', NULL, NULL, 'Looking', NULL, '01c', 900,
  '2026-05-04T08:00:00.123456', 10, 20, '{"completion_tokens_details":{"reasoning_tokens":3}}', NULL, 'gpt-5-1', 'Hm');
INSERT INTO tool_calls VALUES (1, '01a', 1, 'read', '{"path":"money.ts"}', 'call_1');
INSERT INTO responses VALUES ('01b', 'gpt-5', '', 'Be brief', NULL, NULL, 'It floors', NULL, '01c', 100,
  '2026-05-04T08:00:05', 30, 5, NULL, NULL, NULL, NULL);
INSERT INTO tool_results VALUES (1, '01b', 1, 'read', 'Error: gone', 'call_1', NULL, 'OSError: gone');
INSERT INTO responses VALUES ('01d', 'gpt-5', 'Alone', NULL, NULL, NULL, 'Yes', NULL, NULL, 1, '2026-05-04T09:00:00', 1, 1,
  NULL, NULL, NULL, NULL);
`;

test("the older tables: responses of a conversation with their calls and results", async () => {
  const bench = importBench();
  const path = fill(bench.write("logs.db", ""), older);
  expect(counts(await bench.import(path))).toMatchObject({ files: 1, sessions: 2, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ session_id, kind }) => session_id === "01c" && kind !== "session_info")).toMatchObject([
    { kind: "message", role: "system", content: "Be brief", created_at: "2026-05-04T08:00:00.123Z" },
    { kind: "message", role: "user", content: "Round it" },
    {
      kind: "message",
      role: "assistant",
      content: "Looking",
      id: "llm:01a",
      tool_calls: [{ id: "call_1", function: { name: "read", arguments: '{"path":"money.ts"}' } }],
      extra: {
        model: "gpt-5-1",
        reasoning_content: "Hm",
        duration_ms: 900,
        usage: { input_tokens: 10, output_tokens: 20, reasoning_tokens: 3 },
      },
    },
    { kind: "tool_call", tool: "read", args: { path: "money.ts" }, result: "Error: gone", is_error: true },
    { kind: "message", role: "assistant", content: "It floors" },
  ]);
  expect(tokensOf(entries)).toMatchObject({ input_tokens: 41, output_tokens: 26 });
  expect(await bench.recorder.session("01c").summary()).toMatchObject({ title: "Rounding" });
  for (const id of ["01c", "01d"]) await expectLegalHistory(bench.recorder, id);
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});

const newer = `
CREATE TABLE messages(hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
CREATE TABLE parts(id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
CREATE TABLE threads(id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
CREATE TABLE turns(id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
  resolved_model TEXT, options_json TEXT, schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT,
  duration_ms INTEGER, datetime_utc TEXT, response_json TEXT);
INSERT INTO messages VALUES ('h1', NULL, 'system', NULL), ('h2', 'h1', 'user', NULL), ('h3', 'h2', 'assistant', NULL),
  ('h4', 'h3', 'tool', NULL), ('h5', 'h4', 'assistant', NULL), ('h6', 'h5', 'user', NULL), ('h7', 'h6', 'assistant', NULL);
INSERT INTO parts(message_hash, position, type, tool_name, text, payload) VALUES
  ('h1', 0, 'text', NULL, 'Be brief', NULL), ('h2', 0, 'text', NULL, 'Round it', NULL),
  ('h3', 0, 'reasoning', NULL, 'Hm', NULL), ('h3', 1, 'text', NULL, 'Looking', NULL),
  ('h3', 2, 'tool_call', 'read', NULL, '{"tool_call_id":"call_1","arguments":{"path":"money.ts"}}'),
  ('h4', 0, 'tool_result', 'read', 'floor', '{"tool_call_id":"call_1"}'),
  ('h5', 0, 'text', NULL, 'It floors', NULL), ('h6', 0, 'text', NULL, 'Thanks', NULL), ('h7', 0, 'text', NULL, 'Fine', NULL);
INSERT INTO threads VALUES ('t1', 'Rounding', 'h7', NULL, '2026-05-04T08:00:00');
INSERT INTO turns VALUES ('u1', 't1', NULL, 'h5', 'gpt-5', NULL, NULL, NULL, 10, 20, NULL, 5, '2026-05-04T08:00:00', NULL),
  ('u2', 't1', 'h5', 'h7', 'gpt-5', NULL, NULL, NULL, 40, 2, NULL, 5, '2026-05-04T08:01:00', NULL);
`;

test("the newer tables: each turn adds what is between its tip and the turn before", async () => {
  const bench = importBench();
  const path = fill(bench.write("logs.db", ""), newer);
  expect(counts(await bench.import(path))).toMatchObject({ files: 1, sessions: 1, rejected: 0 });
  const entries = (await bench.entries()).filter(({ kind }) => kind !== "session_info");
  expect(entries).toMatchObject([
    { role: "system", content: "Be brief" },
    { role: "user", content: "Round it" },
    { role: "assistant", content: "Looking", tool_calls: [{ id: "call_1" }], extra: { reasoning_content: "Hm" } },
    { kind: "tool_call", tool: "read", result: "floor", args: { path: "money.ts" } },
    { role: "assistant", content: "It floors", extra: { usage: { input_tokens: 10, output_tokens: 20 } } },
    { role: "user", content: "Thanks" },
    { role: "assistant", content: "Fine", extra: { usage: { input_tokens: 40, output_tokens: 2 } } },
  ]);
  await expectLegalHistory(bench.recorder, "t1");
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});
