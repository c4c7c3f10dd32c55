// pi's sessions, and OpenClaw's in a database: the active branch, tools, errors and tokens.
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, type ImportBench, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../test/support/transcripts.js";
import { zstdFrame } from "../../test/support/zstd-frame.js";
import { Database } from "../engines/sqlite/driver.js";

const name = "2026-05-04T08-00-00-000Z_5b5b0000-0000-4000-8000-000000000001.jsonl";
const file = fixturePath("import", "pi", name);
const lines = fixtureRecords("import", "pi", name);
const session_id = "5b5b0000-0000-4000-8000-000000000001";

test("a session becomes the conversation of its active branch; abandoned branches are withdrawn", async () => {
  const bench = importBench();
  expect(counts(await bench.import(file))).toMatchObject({ files: 1, sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { id: "pi:e1", role: "user", content: "Round the prices.", project: "shop" },
    { id: "pi:e2", role: "assistant", content: "A wrong turn." },
    {
      id: "pi:e3",
      role: "assistant",
      content: "Reading.",
      tool_calls: [{ id: "toolu_1", function: { name: "read", arguments: '{"path":"money.ts"}' } }],
      extra: {
        model: "claude-sonnet-4-5",
        stop_reason: "toolUse",
        usage: { input_tokens: 5, output_tokens: 20, cache_read_tokens: 100, cache_write_tokens: 7 },
        thinking_blocks: [{ type: "thinking", thinking: "Look first.", signature: "c2ln" }],
      },
    },
    { id: "pi:e5", content: "" },
    { id: "pi:e6:output", role: "user", content: "Ran `ls`\n```\nshop.ts\n```", injected: "output" },
    { id: "pi:e7", content: [{ type: "text" }, { type: "image", source: { media_type: "image/png" } }] },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "read", result: "no such file", is_error: true, tool_call_id: "toolu_1", args: { path: "money.ts" } },
    { tool: "!", args: { command: "ls" }, result: "shop.ts", is_error: false },
  ]);
  expect(entries.filter(({ kind }) => kind === "error")).toMatchObject([{ error: "529 overloaded" }]);
  expect(entries.filter(({ kind }) => kind === "raw").map(({ id }) => id)).toEqual(["pi:e0"]);
  expect(entries.find(({ id }) => id === "pi:e8")).toMatchObject({ kind: "consolidation", tokens_before: 100 });
  expect(tokensOf(entries)).toMatchObject({ input_tokens: 14, output_tokens: 29 });
  const left = entries.find(({ id }) => id === "pi:e2");
  expect(entries.filter(({ kind }) => kind === "withdrawal")).toMatchObject([
    { withdraws: left?.position, session_id, created_at: left?.created_at, project: "shop", client: "pi" },
  ]);
  expect((await bench.recorder.search("wrong turn")).results).toMatchObject([{ id: "pi:e2" }]);
  expect(await bench.recorder.session(session_id).summary()).toMatchObject({
    title: "Rounding",
    metadata: { cwd: "/srv/shop" },
  });
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, session_id));
  expect(talk).toMatch(/Prices are to be rounded.*See this/);
  expect(talk).not.toMatch(/wrong turn/);
  expect(counts(await bench.import(bench.write("moved.jsonl", lines)))).toMatchObject({ added: 0 });
  const streamed = importBench();
  const stdin = Readable.from([Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))]);
  await streamed.import("-", { stdin });
  expect(JSON.stringify(await expectLegalHistory(streamed.recorder, session_id))).toBe(talk);
});

test("a file that grows may change to another branch, and return to an abandoned one with its messages", async () => {
  const said = (id: string, parentId: string | null, message: object): object => ({
    type: "message",
    id,
    parentId,
    timestamp: "2026-05-04T08:00:01.000Z",
    message: { usage: { input: 1, output: 1 }, ...message },
  });
  const call = { type: "toolCall", id: "t1", name: "read", arguments: {} };
  const talk = [
    { type: "session", version: 3, id: "grown", timestamp: "2026-05-04T08:00:00.000Z" },
    said("m1", null, { role: "user", content: "one" }),
    said("m2", "m1", { role: "assistant", content: [{ type: "text", text: "two" }, call] }),
    said("m3", "m2", { role: "toolResult", toolCallId: "t1", content: "three" }),
    said("m4", "m3", { role: "assistant", content: "four" }),
    said("m5", "m1", { role: "assistant", content: "five" }),
    said("m6", "m4", { role: "user", content: "six" }),
    said("m7", "m5", { role: "user", content: "seven" }),
  ];
  const histories = async (bench: ImportBench): Promise<readonly unknown[]> =>
    (await expectLegalHistory(bench.recorder, "grown")).map((message) => (message as { content?: unknown }).content);
  const bench = importBench();
  const whole = importBench();
  for (const [length, expected] of [
    [5, ["one", "two", "three", "four"]],
    [6, ["one", "five"]],
    [7, ["one", "two", "three", "four", "six"]],
    [8, ["one", "five", "seven"]],
  ] as const) {
    const path = bench.write("grown.jsonl", talk.slice(0, length));
    await bench.import(path);
    expect(await histories(bench)).toEqual(expected);
    const { position } = await bench.recorder.health();
    expect(counts(await bench.import(path))).toMatchObject({ added: 0, rejected: 0 });
    expect((await bench.recorder.health()).position).toBe(position);
  }
  await whole.import(whole.write("grown.jsonl", talk));
  expect(await histories(whole)).toEqual(["one", "five", "seven"]);
  // What is repeated on a branch that became active again was paid for once.
  expect(tokensOf(await bench.entries())).toEqual(tokensOf(await whole.entries()));
});

test("the oldest format has no ids: equal times and texts are one, and importing again adds nothing", async () => {
  const bench = importBench();
  const old = lines.map((line) =>
    Object.fromEntries(Object.entries(line).filter(([key]) => key !== "id" && key !== "parentId")),
  );
  const path = bench.write("old.jsonl", [lines[0], ...old.slice(2, 3), ...old.slice(4, 7)]);
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0, added: 6 });
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
  await expectLegalHistory(bench.recorder, session_id);
});

test("OpenClaw's database has the same entries, plain or compressed, and counts them once", async () => {
  const bench = importBench();
  const path = bench.write("openclaw-agent.sqlite", "");
  const database = new Database(path);
  database.exec("CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)");
  const insert = database.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, ?)");
  for (const [seq, line] of lines.entries()) {
    const text = JSON.stringify(line);
    insert.run(session_id, seq, seq % 2 === 0 ? text : null, seq % 2 === 0 ? null : zstdFrame(text));
  }
  insert.run("broken", 1, "{", null);
  database.close();
  const report = await bench.import(path);
  expect(report.rejected).toMatchObject([{ line: expect.any(Number), reason: expect.stringMatching(/no event/) }]);
  const { added } = report;
  expect(added).toBeGreaterThan(9);
  await expectLegalHistory(bench.recorder, session_id);
  expect((await bench.import(path)).added).toBe(0);
  expect((await bench.import(file)).added).toBe(0);
});
