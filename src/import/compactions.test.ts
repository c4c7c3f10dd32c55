// What pi, Gemini CLI and OpenCode leave of a conversation after a compaction, and what their users ran and took back.

import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import { Database } from "../engines/sqlite/driver.js";

type Bench = ReturnType<typeof importBench>;

async function contentsOf({ recorder }: Bench, session: string): Promise<readonly unknown[]> {
  return (await recorder.session(session).history()).map(({ content }) => content);
}

async function importTwice(bench: Bench, path: string): Promise<void> {
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0 });
  expect(counts(await bench.import(path))).toMatchObject({ added: 0, rejected: 0 });
}

const timestamp = "2026-05-04T08:00:00.000Z";

/** A chain of pi's entries: each follows the one before it. */
function chain(...records: readonly { readonly id: string }[]): readonly object[] {
  const header = { type: "session", version: 3, id: "s-1", timestamp, cwd: "/srv/shop" };
  return [header, ...records.map((record, at) => ({ timestamp, parentId: records[at - 1]?.id ?? null, ...record }))];
}
const said = (id: string, role: string, text: string) => ({
  ...{ type: "message", id },
  message: { role, content: [{ type: "text", text }] },
});
const compaction = (id: string, more: object) => ({ type: "compaction", id, summary: `Summary ${id}.`, ...more });

test("after pi's compaction there is its summary, and what is on the branch from the first entry it kept", async () => {
  const bench = importBench();
  const records = [said("u1", "user", "one"), said("a1", "assistant", "first"), said("u2", "user", "two")];
  const after = [said("a2", "assistant", "second"), compaction("c1", { firstKeptEntryId: "u2", tokensBefore: 9_000 })];
  await importTwice(bench, bench.write("a.jsonl", chain(...records, ...after, said("u3", "user", "three"))));
  expect(await contentsOf(bench, "s-1")).toEqual(["Summary c1.", "two", "second", "three"]);
  const found = (await bench.entries()).filter(({ kind }) => kind === "consolidation");
  expect(found).toMatchObject([{ tokens_before: 9_000, kept: [4, 5], through: 5 }]);
});

test("of two compactions the newest counts; one that kept nothing known, or has no summary, keeps nothing", async () => {
  const bench = importBench();
  const lines = chain(
    ...[said("u1", "user", "one"), compaction("c1", { firstKeptEntryId: "gone" })],
    ...[compaction("c2", { summary: undefined, firstKeptEntryId: "u1" }), said("u2", "user", "two")],
  );
  await importTwice(bench, bench.write("a.jsonl", lines));
  expect(await contentsOf(bench, "s-1")).toEqual(["one", "two"]);
  const [first] = (await bench.entries()).filter(({ kind }) => kind === "consolidation");
  expect(first).toMatchObject({ summary: "Summary c1.", kept: [] });
});

test("a command that pi's user ran is a call, and a message unless it was kept from the model", async () => {
  const ran = (id: string, more: object) => ({
    ...{ type: "message", id },
    message: { role: "bashExecution", command: "ls", output: "a", exitCode: 2, ...more },
  });
  const bench = importBench();
  const lines = chain(ran("b1", {}), ran("b2", { excludeFromContext: true }), said("u1", "user", "one"));
  await importTwice(bench, bench.write("a.jsonl", lines));
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "!", args: { command: "ls" }, is_error: true },
    { tool: "!" },
  ]);
  expect(entries.filter((entry) => entry.kind === "message" && entry.injected === "output").length).toBe(1);
});

const header = { sessionId: "s-1", projectHash: "h", startTime: timestamp, lastUpdated: timestamp };
const chat = (id: string, type: string, content: string, more: object = {}) => ({
  id,
  timestamp,
  type,
  content,
  ...more,
});
const checkpoint = (...messages: readonly object[]) => ({ $set: { messages } });
const context = chat("ctx", "user", "<session_context>Today.</session_context>");

test("after Gemini CLI's compaction there is its summary, and what its list repeats of before under other ids", async () => {
  const call = { id: "c1", name: "run_shell_command", args: { command: "x" }, status: "success" };
  const output = (text: string) => [{ functionResponse: { id: "c1", name: "x", response: { output: text } } }];
  const lines = [
    ...[
      header,
      checkpoint(context),
      chat("u1", "user", "one"),
      chat("g1", "gemini", "first"),
      chat("u2", "user", "two"),
    ],
    chat("g2", "gemini", "second", { toolCalls: [{ ...call, result: output("Output: no\nExit Code: 3") }] }),
    checkpoint(
      ...[context, chat("n1", "user", "<state_snapshot>So far.</state_snapshot>"), chat("n2", "gemini", "Got it.")],
      ...[chat("n3", "user", "two"), chat("n4", "gemini", "second")],
    ),
    chat("g3", "gemini", "third"),
  ];
  const bench = importBench();
  await importTwice(bench, bench.write("p/chats/session-a.jsonl", lines));
  expect(await contentsOf(bench, "s-1")).toEqual([
    "<state_snapshot>So far.</state_snapshot>",
    ...["<session_context>Today.</session_context>", "two", "second", "Output: no\nExit Code: 3"],
    ...["Got it.", "third"],
  ]);
  const entries = await bench.entries();
  expect(entries.find(({ kind }) => kind === "tool_call")).toMatchObject({ is_error: true });
  expect(
    entries.filter((entry) => entry.kind === "message" && entry.role === "user" && entry.injected === "").length,
  ).toBe(2);
});

test("a rewind of Gemini CLI to an id that it does not know takes everything back", async () => {
  const bench = importBench();
  const lines = [header, chat("u1", "user", "one"), chat("g1", "gemini", "first"), { $rewindTo: "gone" }];
  await importTwice(bench, bench.write("p/chats/session-a.jsonl", [...lines, chat("u2", "user", "two")]));
  expect(await contentsOf(bench, "s-1")).toEqual(["two"]);
});

test("OpenCode's summary takes the place of what was before it, and its cost counts", async () => {
  const bench = importBench();
  const path = `${bench.folder}/opencode.db`;
  const database = new Database(path);
  database.exec(
    `CREATE TABLE session (id, title, directory, time_created); CREATE TABLE message (id, session_id, time_created, data);
     CREATE TABLE part (id, message_id, data); INSERT INTO session VALUES ('s-1', 't', '/srv/shop', 1)`,
  );
  const add = (id: string, data: object, ...parts: readonly object[]): void => {
    const time = { created: 1_777_000_000_000 + Number(id.slice(1)), completed: 1_777_000_000_001 };
    database
      .prepare("INSERT INTO message VALUES (?, 's-1', ?, ?)")
      .run(id, time.created, JSON.stringify({ ...data, time }));
    for (const [at, part] of parts.entries()) {
      database.prepare("INSERT INTO part VALUES (?, ?, ?)").run(`${id}p${at}`, id, JSON.stringify(part));
    }
  };
  const tokens = { input: 100, output: 10, reasoning: 0, cache: { read: 0, write: 0 } };
  add("m1", { role: "user" }, { type: "text", text: "one" });
  add("m2", { role: "assistant", modelID: "m", tokens }, { type: "text", text: "first" });
  add("m3", { role: "user" }, { type: "compaction", auto: true });
  add(
    "m4",
    { role: "assistant", parentID: "m3", summary: true, modelID: "m", tokens },
    { type: "text", text: "So far." },
  );
  add("m5", { role: "user" }, { type: "text", text: "Continue.", synthetic: true });
  add("m6", { role: "assistant", modelID: "m", tokens }, { type: "text", text: "second" });
  database.close();
  await importTwice(bench, path);
  expect(await contentsOf(bench, "s-1")).toEqual(["So far.", "Continue.", "second"]);
  const entries = await bench.entries();
  expect(entries.find(({ kind }) => kind === "consolidation")).toMatchObject({ trigger: "auto", kept: [] });
  expect((await bench.recorder.usage({})).total).toMatchObject({ input_tokens: 300, calls: 3 });
});

test("a part of OpenCode's storage without a session is read with its message, and one without a time has none", async () => {
  const bench = importBench();
  const time = { created: 1_777_000_000_000 };
  bench.write("storage/message/s-1/m1.json", JSON.stringify({ id: "m1", sessionID: "s-1", role: "user", time }));
  const part = { id: "p1", messageID: "m1", type: "text", text: "one" };
  bench.write("storage/part/s-1/m1/p1.json", JSON.stringify(part));
  bench.write("storage/part/s-1/lost/p2.json", JSON.stringify({ ...part, id: "p2", messageID: "lost" }));
  await importTwice(bench, `${bench.folder}/storage`);
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([{ content: "one", extra: {} }]);
  expect(entries.filter(({ kind }) => kind === "raw")).toMatchObject([
    { session_id: "s-1", record: { id: "p2" }, extra: { time_is: "file" } },
  ]);
});

test("a source without times says that its times are the file's", async () => {
  const bench = importBench();
  const turn = (role: string, text: string) => ({ role, message: { content: [{ type: "text", text }] } });
  const rules = "<rules>Be brief.</rules>\n<user_query>\none\n</user_query>";
  await importTwice(bench, bench.write("a.jsonl", [turn("user", rules), turn("assistant", "first")]));
  expect((await bench.entries()).filter(({ kind }) => kind === "message")).toMatchObject([
    { content: "<rules>Be brief.</rules>", injected: "environment", extra: { time_is: "file" } },
    { content: "one", injected: "", extra: { time_is: "file" } },
    { content: "first", extra: { time_is: "file" } },
  ]);
});
