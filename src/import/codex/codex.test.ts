// Codex CLI's rollouts: texts that are both item and event, tokens and forks count once.

import { describe, expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../../test/support/fixtures.js";
import { counts, importBench } from "../../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../../test/support/transcripts.js";
import { zstdFrame } from "../../../test/support/zstd-frame.js";
import type { Entry } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";

const name = "rollout-2026-05-04T08-00-00-019e0000-aaaa-7bbb-8ccc-ddddeeeeffff.jsonl";
const file = fixturePath("import", "codex", name);
const lines = fixtureRecords("import", "codex", name) as readonly { readonly [name: string]: unknown }[];
const session_id = "019e0000-aaaa-7bbb-8ccc-ddddeeeeffff";

const item = (payload: object, timestamp?: string): object => ({
  type: "response_item",
  payload,
  ...(timestamp && { timestamp }),
});
const event = (payload: object, timestamp?: string): object => ({
  type: "event_msg",
  payload,
  ...(timestamp && { timestamp }),
});
const user = (text: string): object => item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const total = (count: number): object =>
  event({
    type: "token_count",
    info: { total_token_usage: { input_tokens: count }, last_token_usage: { input_tokens: 10 } },
  });

/** What was said, without what the program put there. */
async function saidIn(bench: ReturnType<typeof importBench>): Promise<readonly Entry[]> {
  return (await bench.entries()).filter((entry) => entry.kind === "message" && entry.injected === "");
}

describe("a rollout", () => {
  test("becomes messages with their calls, results with their outcomes, and tokens counted once", async () => {
    const bench = importBench();
    expect(counts(await bench.import(file))).toMatchObject({ files: 1, sessions: 1, rejected: 0 });
    const entries = await bench.entries();
    expect(await saidIn(bench)).toMatchObject([
      { role: "user", content: "Why does the till round down?", created_at: "2026-05-04T08:00:01.100Z" },
      {
        role: "assistant",
        content: "I will run the tests.",
        project: "shop",
        tool_calls: [{ id: "call_1", function: { name: "shell", arguments: '{"command":["npm","test"]}' } }],
        extra: {
          model: "gpt-5.5-codex",
          reasoning_content: "**Looking at money.ts**",
          reasoning_details: [{ encrypted_content: "gAAA" }],
          usage: { input_tokens: 100, cache_read_tokens: 60, output_tokens: 20, reasoning_tokens: 5 },
        },
      },
      { role: "assistant", content: "", tool_calls: [{ id: "call_2" }], extra: { usage: { input_tokens: 150 } } },
      {
        role: "assistant",
        content: expect.stringMatching(/^It used floor; now it rounds\.\n<oai-mem-citation>/),
        extra: { memories_used: ["MEMORY.md:12-14|note=[rounding]", "019d"], usage: { input_tokens: 200 } },
      },
    ]);
    expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
      { tool: "shell", args: { command: ["npm", "test"] }, is_error: true, duration_ms: 1_500, tool_call_id: "call_1" },
      { tool: "apply_patch", args: { _raw: "*** Begin Patch" }, is_error: false, duration_ms: 200 },
    ]);
    expect(entries.filter(({ kind }) => kind === "error")).toMatchObject([{ error: "stream disconnected" }]);
    expect(entries.filter(({ kind }) => kind === "raw").length).toBe(4);
    expect(tokensOf(entries)).toEqual({
      input_tokens: 450,
      output_tokens: 42,
      cache_read_tokens: 340,
      reasoning_tokens: 5,
    });
    expect(await bench.recorder.session(session_id).summary()).toMatchObject({
      title: "Till rounding",
      messages: 4,
      tool_calls: 2,
      errors: 1,
      metadata: { cwd: "/srv/shop", git_branch: "rounding", version: "0.98.0", source: { tool: "codex", path: file } },
    });
    await expectLegalHistory(bench.recorder, session_id);
  });

  test("compressed, doubled, truncated and continued, it adds nothing twice", async () => {
    const bench = importBench();
    await bench.import(bench.write(name, lines.slice(0, 12)));
    await bench.import(file);
    const messages = await saidIn(bench);
    // The cost of the first answer was recorded after it had been read.
    expect(messages.length).toBe(5);
    expect(tokensOf(messages)).toMatchObject({ input_tokens: 450, output_tokens: 42 });
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    expect(counts(await bench.import(bench.write(`${name}.zst`, zstdFrame(text))))).toMatchObject({
      added: 0,
      rejected: 0,
    });
    expect(counts(await bench.import(bench.write("twice.jsonl", text + text)))).toMatchObject({ added: 0 });
  });
});

test("a fork repeats its parent with other times: copied records count once, whichever file is read first", async () => {
  const fork = (): readonly object[] => {
    const stamp = "2026-05-05T09:00:00.000Z";
    const copied = lines.slice(1, 22).map((line) => ({ ...line, timestamp: stamp }));
    const meta = { type: "session_meta", timestamp: stamp };
    return [
      { ...meta, payload: { id: "fork-1", forked_from_id: session_id, cwd: "/srv/shop" } },
      { ...meta, payload: itemAt(lines, 0).payload },
      ...copied,
      item(
        { type: "message", role: "user", content: [{ type: "input_text", text: "And the tax?" }] },
        "2026-05-05T09:00:30.000Z",
      ),
      item(
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Is right." }] },
        "2026-05-05T09:00:31.000Z",
      ),
    ];
  };
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const bench = importBench();
    const paths = [file, bench.write("fork.jsonl", fork())];
    await bench.import(order.map((index) => itemAt(paths, index)));
    const messages = await saidIn(bench);
    expect(messages.map((message) => message.session_id).sort()).toEqual([
      ...Array.from({ length: 4 }, () => session_id),
      ...["fork-1", "fork-1"],
    ]);
    expect(tokensOf(await bench.entries())).toMatchObject({ input_tokens: 450 });
    expect(await bench.recorder.session("fork-1").summary()).toMatchObject({
      parent: "",
      metadata: { forked_from: session_id },
      messages: 2,
    });
  }
});

test("the oldest form has a header, bare items and no times", async () => {
  const bench = importBench();
  const path = bench.write("rollout-old.jsonl", [
    { id: "old-1", timestamp: "2025-05-07T17:24:21.123Z", instructions: "", git: { branch: "main" } },
    { record_type: "state" },
    { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
    { type: "function_call", name: "shell", arguments: "{}", call_id: "c", id: null },
    { type: "function_call_output", call_id: "c", output: "ok" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "hello" }] },
    { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
  ]);
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0, added: 8 });
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
  const history = await expectLegalHistory(bench.recorder, "old-1");
  expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  const [first] = await bench.entries();
  expect(first?.created_at).toBe("2025-05-07T17:24:21.123Z");
});

test("tokens without a text are kept, and events alone make a session too", async () => {
  const bench = importBench();
  const path = bench.write("rollout-x.jsonl", [
    event({ type: "user_message", message: "q" }),
    total(10),
    event({ type: "agent_message", message: "a" }),
    user("# Context from my IDE setup:\n\n## Open tabs\n\n## My request for Codex:\nonly this"),
    total(20),
    total(20),
    total(30),
    item({ type: "token_count", input_tokens: 5 }),
  ]);
  await bench.import(path);
  expect(tokensOf(await bench.entries())).toEqual({ input_tokens: 35 });
  expect(await expectLegalHistory(bench.recorder, "rollout-x")).toMatchObject([
    { role: "user", content: "q" },
    { role: "assistant", content: "a" },
    { role: "user", content: expect.stringContaining("## Open tabs") },
    { role: "user", content: "only this" },
  ]);
  expect((await saidIn(bench)).filter((entry) => "role" in entry && entry.role === "user").length).toBe(2);
});

test("a command's outcome is read from the header of its output, and from nowhere else in it", async () => {
  const outputs: readonly (readonly [output: unknown, is_error: boolean | undefined])[] = [
    ["Exit code: 1\nWall time: 0 seconds\nOutput:\nno", true],
    ["Command: sh -c 'a\nb'\nChunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno", true],
    ["Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nExit code: 3", false],
    ["Chunk ID: 1\nWall time: 5 seconds\nProcess running with session ID 7\nOutput:\n", undefined],
    ["notes follow\nExit code: 1\nOutput:\n", undefined],
    [[{ type: "input_text", text: "Script failed\nWall time 0.1 seconds\nOutput:\n" }, { text: "Error" }], true],
    [[{ type: "input_text", text: "Script completed\nWall time 0.3 seconds\nOutput:\n" }], false],
    ['{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}', true],
  ];
  const bench = importBench();
  const calls = outputs.flatMap(([output], nth) => [
    item({ type: "function_call", name: "exec_command", arguments: "{}", call_id: `c${nth}` }),
    item({ type: "function_call_output", call_id: `c${nth}`, output }),
  ]);
  await bench.import(bench.write("r.jsonl", calls));
  const results = (await bench.entries()).filter(({ kind }) => kind === "tool_call");
  expect(results).toMatchObject(outputs.map(([, is_error]) => (is_error === undefined ? {} : { is_error })));
  expect(results.map((result) => "is_error" in result)).toEqual(outputs.map(([, is_error]) => is_error !== undefined));
});

test("the labels of newer versions distinguish context from prompts", async () => {
  const bench = importBench();
  const said = (text: string, kind: string): object =>
    item({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text }],
      internal_chat_message_metadata_passthrough: { content_item_kinds: [kind] },
    });
  const lines = [
    said("Plugins you may use", "plugins.recommended"),
    said("# AGENTS.md is out of date", "user.text"),
    user("<user_shell_command>ls</user_shell_command>"),
  ];
  await bench.import(bench.write("r.jsonl", lines));
  const entries = await bench.entries();
  expect(entries).toMatchObject([
    { content: "Plugins you may use", injected: "other" },
    { content: "# AGENTS.md is out of date", injected: "" },
    { content: "<user_shell_command>ls</user_shell_command>", injected: "output" },
  ]);
});

test("an answer that is not text is kept as it is", async () => {
  const bench = importBench();
  const code = { type: "code", code: "print(1)", language: "python" };
  const answer = item({ type: "message", role: "assistant", content: [code] });
  await bench.import(bench.write("r.jsonl", [user("q"), answer]));
  expect((await bench.entries()).filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [code] },
  ]);
});

test("calls with their own records count once, whatever the totals say", async () => {
  const record = (input_tokens: number): object => ({
    type: "token_usage_record",
    payload: { usage: { input_tokens } },
  });
  for (const lines of [
    [record(10), total(10), record(10), total(20), record(30)],
    [total(10), record(10), record(10), record(30), total(40)],
  ]) {
    const bench = importBench();
    await bench.import(bench.write("r.jsonl", [user("q"), ...lines]));
    expect(tokensOf(await bench.entries())).toEqual({ input_tokens: 50 });
  }
});

test("a forked subagent says where its own lines begin", async () => {
  const bench = importBench();
  const source = { subagent: { thread_spawn: { parent_thread_id: "p1" } } };
  const meta = { id: "c1", source, forked_from_id: "p1", subagent_history_start_ordinal: 3 };
  await bench.import(
    bench.write("r.jsonl", [
      { type: "session_meta", ordinal: 0, timestamp: "2026-05-05T09:00:00.000Z", payload: meta },
      { type: "session_meta", ordinal: 1, timestamp: "2026-05-05T09:00:00.000Z", payload: { id: "p1" } },
      { ...user("of the parent"), ordinal: 2, timestamp: "2026-05-05T09:00:00.100Z" },
      { ...user("of its own"), ordinal: 3, timestamp: "2026-05-05T09:00:00.200Z" },
    ]),
  );
  const messages = (await bench.entries()).filter(({ kind }) => kind === "message");
  expect(messages.map(({ session_id }) => session_id)).toEqual(["p1", "p1/agent-c1"]);
});

test("a spawned subagent is a session under its parent", async () => {
  const bench = importBench();
  const source = { subagent: { thread_spawn: { parent_thread_id: "p1", depth: 1 } } };
  await bench.import(bench.write("r.jsonl", [{ type: "session_meta", payload: { id: "c1", source } }, user("look")]));
  expect(await bench.recorder.session("p1/agent-c1").summary()).toMatchObject({ parent: "p1", messages: 1 });
});

test("an output wrapped in JSON reads as it was printed, and its metadata is kept", async () => {
  const bench = importBench();
  const call = (call_id: string, output: string): readonly object[] => [
    item({ type: "function_call", name: "shell", arguments: '{"command":["bash","-lc","cat a"]}', call_id }),
    item({ type: "function_call_output", call_id, output }),
  ];
  const metadata = { exit_code: 1, duration_seconds: 0.5 };
  const own = '{"output":"a tool of its own","count":2}';
  const path = bench.write("r.jsonl", [
    ...call("c1", JSON.stringify({ output: "one\n\ttwo\n", metadata })),
    ...call("c2", own),
  ]);
  await bench.import(path);
  expect((await bench.entries()).filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { result: "one\n\ttwo\n", is_error: true, duration_ms: 500, extra: { metadata } },
    { result: own },
  ]);
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});

test.each([
  ["an event before the item", [0, 1, 2]],
  ["an event after the item", [1, 0, 2]],
  ["the cost between them", [0, 2, 1]],
])("a thought that is both event and item is recorded once: %s", async (_, order) => {
  const told = [
    event({ type: "agent_reasoning", text: "**Looking**" }),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "**Looking**" }], encrypted_content: "e" }),
    total(10),
  ];
  const bench = importBench();
  const answer = (text: string): object =>
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] });
  const lines = [user("q"), ...order.map((index) => itemAt(told, index)), answer("a"), user("r"), answer("b")];
  await bench.import(bench.write("r.jsonl", lines));
  const messages = (await bench.entries()).filter(({ kind }) => kind === "message");
  const thoughts = messages.flatMap((message) => (message.extra?.reasoning_content as string | undefined) ?? []);
  expect(thoughts).toEqual(["**Looking**"]);
  const details = messages.flatMap((message) => (message.extra?.reasoning_details as unknown[] | undefined) ?? []);
  expect(details).toMatchObject([{ encrypted_content: "e" }]);
});

test("a newer fork names the file whose beginning it shares, and a newer subagent its parent", async () => {
  const bench = importBench();
  const begin = (payload: object) => ({ timestamp: "2026-05-04T08:00:00.000Z", type: "session_meta", payload });
  const base = { thread_id: "t1", end_ordinal_exclusive: 9, end_byte_offset: 999 };
  await bench.import([
    bench.write("rollout-a.jsonl", [
      begin({ id: "t2", cwd: "/srv/shop", history_mode: "paginated", history_base: base }),
    ]),
    bench.write("rollout-b.jsonl", [begin({ id: "t3", cwd: "/srv/shop", parent_thread_id: "t2" })]),
  ]);
  expect(await bench.recorder.session("t2").summary()).toMatchObject({ parent: "", metadata: { forked_from: "t1" } });
  expect(await bench.recorder.session("t2/agent-t3").summary()).toMatchObject({ parent: "t2" });
});
