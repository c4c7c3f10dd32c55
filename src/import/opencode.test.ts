// OpenCode's sessions: files, one file with everything, and both generations of its database, which contain the same
// once.

import { expect, test } from "vitest";
import { counts, type ImportBench, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../test/support/transcripts.js";
import { Database } from "../engines/sqlite/driver.js";

const created = 1_777_881_600_000;
const session = {
  id: "ses_1",
  title: "Rounding",
  directory: "/srv/shop",
  version: "1.1.0",
  projectID: "p1",
  parentID: "ses_0",
  time: { created, updated: created },
};
const messages = [
  { id: "msg_1", sessionID: "ses_1", role: "user", time: { created: created + 1 } },
  {
    id: "msg_2",
    sessionID: "ses_1",
    role: "assistant",
    modelID: "claude-opus",
    cost: 0.1,
    time: { created: created + 2 },
    tokens: { input: 10, output: 20, reasoning: 3, cache: { read: 4, write: 5 } },
    error: { name: "APIError", data: { message: "overloaded" } },
  },
];
const tool = (id: string, state: object): object => ({
  id,
  messageID: "msg_2",
  type: "tool",
  tool: "bash",
  callID: `call_${id}`,
  state,
});
const parts = [
  { id: "prt_1", messageID: "msg_1", type: "text", text: "Round it" },
  { id: "prt_2", messageID: "msg_1", type: "text", text: "Called the Read tool", synthetic: true },
  { id: "prt_3", messageID: "msg_2", type: "step-start" },
  { id: "prt_4", messageID: "msg_2", type: "reasoning", text: "Hm" },
  { id: "prt_5", messageID: "msg_2", type: "text", text: "Running" },
  tool("prt_6", {
    status: "completed",
    input: { command: "a" },
    output: "ok",
    metadata: { exit: 2, filediff: { before: "x" } },
    time: { start: 1, end: 8 },
  }),
  tool("prt_7", { status: "error", input: {}, error: "denied" }),
  tool("prt_8", { status: "running", input: {} }),
];

function writeFiles(bench: ImportBench): string {
  const pretty = (value: object): string => JSON.stringify(value, null, 2);
  bench.write("storage/session/p1/ses_1.json", pretty(session));
  for (const message of messages) bench.write(`storage/message/ses_1/${message.id}.json`, pretty(message));
  for (const part of parts as readonly { id: string; messageID: string }[]) {
    bench.write(`storage/part/${part.messageID}/${part.id}.json`, pretty(part));
  }
  return `${bench.folder}/storage`;
}

/** As its first versions stored them: everything below the sessions, and parts in a folder of their session. */
function writeFirstFiles(bench: ImportBench): string {
  bench.write("storage/session/info/ses_1.json", JSON.stringify(session));
  for (const message of messages)
    bench.write(`storage/session/message/ses_1/${message.id}.json`, JSON.stringify(message));
  for (const part of parts as readonly { id: string; messageID: string }[]) {
    const whole = JSON.stringify({ ...part, sessionID: "ses_1" });
    bench.write(`storage/session/part/ses_1/${part.messageID}/${part.id}.json`, whole);
  }
  return `${bench.folder}/storage`;
}

async function expectSession(bench: ImportBench): Promise<void> {
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    {
      id: "opencode:msg_1",
      role: "user",
      content: "Round it",
      project: "shop",
      created_at: "2026-05-04T08:00:00.001Z",
    },
    { content: "Called the Read tool", injected: "file" },
    {
      id: "opencode:msg_2",
      role: "assistant",
      content: "Running",
      tool_calls: [{ id: "call_prt_6" }, { id: "call_prt_7" }, { id: "call_prt_8" }],
      extra: {
        model: "claude-opus",
        reasoning_content: "Hm",
        usage: {
          input_tokens: 10,
          output_tokens: 20,
          reasoning_tokens: 3,
          cache_read_tokens: 4,
          cache_write_tokens: 5,
        },
      },
    },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "bash", args: { command: "a" }, result: "ok", is_error: true, duration_ms: 7 },
    { tool: "bash", result: "denied", is_error: true },
  ]);
  expect(entries.filter(({ kind }) => kind === "error")).toMatchObject([{ error: "overloaded", context: "APIError" }]);
  expect(tokensOf(entries)).toMatchObject({ input_tokens: 10 });
  expect(await bench.recorder.session("ses_1").summary()).toMatchObject({ title: "Rounding", parent: "ses_0" });
  await expectLegalHistory(bench.recorder, "ses_1");
}

function fillDatabase(path: string): void {
  const database = new Database(path);
  database.exec(`CREATE TABLE session(id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INTEGER);
    CREATE TABLE message(id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part(id TEXT, message_id TEXT, data TEXT)`);
  database
    .prepare("INSERT INTO session VALUES ('ses_1', 'p1', 'ses_0', '/srv/shop', 'Rounding', '1.1.0', ?)")
    .run(created);
  for (const { id, sessionID, ...data } of messages) {
    database
      .prepare("INSERT INTO message VALUES (?, ?, ?, ?)")
      .run(id, sessionID, data.time.created, JSON.stringify(data));
  }
  for (const { id, messageID, ...data } of parts as readonly { id: string; messageID: string }[]) {
    database.prepare("INSERT INTO part VALUES (?, ?, ?)").run(id, messageID, JSON.stringify(data));
  }
  database.prepare("INSERT INTO message VALUES ('msg_9', 'ses_9', 1, '{')").run();
  database.close();
}

test.each([writeFiles, writeFirstFiles])(
  "files for each session, message and part are one session: %s",
  async (write) => {
    const bench = importBench();
    const folder = write(bench);
    expect(counts(await bench.import(folder))).toMatchObject({ files: 11, sessions: 1, rejected: 0 });
    await expectSession(bench);
    expect(counts(await bench.import(folder))).toMatchObject({ added: 0 });
  },
);

test("the same session twice in one file, or in the database, counts once", async () => {
  const bench = importBench();
  const all = [session, ...parts, ...messages].map((value) => JSON.stringify(value, null, 2)).join("\n");
  await bench.import(bench.write("all.json", all));
  await expectSession(bench);
  const before = (await bench.entries()).length;
  const path = bench.write("opencode.db", "");
  fillDatabase(path);
  const report = await bench.import(path);
  expect(report.rejected).toMatchObject([{ reason: expect.stringMatching(/msg_9 holds no JSON/) }]);
  expect((await bench.entries()).length).toBe(before);
});

test("the newer tables store a message with its parts", async () => {
  const bench = importBench();
  const path = bench.write("opencode.db", "");
  const database = new Database(path);
  database.exec(`CREATE TABLE session_v2(id TEXT, directory TEXT, title TEXT, version TEXT, fork_session_id TEXT, time_created INTEGER);
    CREATE TABLE session_message(id TEXT, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT);
    INSERT INTO session_v2 VALUES ('ses_2', '/srv/shop', 'Newer', '2.0.1', 'ses_1', ${created})`);
  const insert = database.prepare("INSERT INTO session_message VALUES (?, 'ses_2', ?, ?, ?, ?)");
  insert.run("m1", "user", 1, created, JSON.stringify({ text: "Round it" }));
  const state = { status: "completed", input: { path: "a" }, content: [{ type: "text", text: "floor" }] };
  const content = [
    { type: "text", text: "Looking" },
    { type: "tool", id: "call_1", name: "read", state },
  ];
  insert.run("m2", "assistant", 2, created, JSON.stringify({ content, tokens: { input: 7, output: 2 } }));
  insert.run("m3", "compaction", 3, created, JSON.stringify({ summary: "s" }));
  database.close();
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0, sessions: 1, added: 5 });
  expect(await bench.recorder.session("ses_2").summary()).toMatchObject({
    title: "Newer",
    parent: "",
    metadata: { forked_from: "ses_1" },
    messages: 2,
    tool_calls: 1,
  });
  expect(tokensOf(await bench.entries())).toEqual({ input_tokens: 7, output_tokens: 2 });
  await expectLegalHistory(bench.recorder, "ses_2");
});
