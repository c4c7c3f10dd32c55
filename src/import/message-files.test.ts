// Plain messages: Cursor's, OpenAI's and Anthropic's, and ATIF's steps.
import { describe, expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../test/support/transcripts.js";

test("Cursor's turns: what the user typed, texts, and calls whose results it never wrote", async () => {
  const bench = importBench();
  const turn = (role: string, ...content: readonly object[]): object => ({ role, message: { content } });
  const text = (words: string): object => ({ type: "text", text: words });
  const path = bench.write("projects/x/agent-transcripts/t1.jsonl", [
    turn("user", text("<open_files>a.ts</open_files>"), text("<user_query>\nlist it\n</user_query>")),
    turn("assistant", text("Listing."), { type: "tool_use", name: "Shell", input: { command: "ls" } }),
    turn("assistant", text("yes")),
    turn("assistant", text("yes")),
    { odd: true },
  ]);
  expect(counts(await bench.import(path))).toMatchObject({ added: 7, rejected: 0 });
  expect(await expectLegalHistory(bench.recorder, "t1")).toMatchObject([
    { role: "user", content: "<open_files>a.ts</open_files>" },
    { role: "user", content: "list it" },
    { role: "assistant", content: "Listing." },
    { role: "assistant", content: "yes" },
    { role: "assistant", content: "yes" },
  ]);
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
  const { metadata } = await bench.recorder
    .session("t1")
    .summary()
    .then((summary) => summary ?? { metadata: {} });
  expect(metadata).toMatchObject({ source: { lacks: expect.arrayContaining(["tool results", "times"]) } });
});

const openai = [
  { role: "system", content: "Be brief" },
  { role: "user", content: "Round it" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
    reasoning_content: "Hm",
  },
  { role: "tool", tool_call_id: "c1", content: "floor" },
  { role: "assistant", content: "It floors" },
];

describe("OpenAI's messages", () => {
  test.each([
    ["a list", "m.json", JSON.stringify(openai), "m"],
    ["a list over several lines", "m.json", JSON.stringify(openai, null, 2), "m"],
    ["a document", "m.json", JSON.stringify({ id: "s1", model: "gpt-5", messages: openai }), "s1"],
  ])("in %s are the messages of a session, tool results among them", async (_, name, text, session_id) => {
    const bench = importBench();
    expect(counts(await bench.import(bench.write(name, text)))).toMatchObject({ added: 6, rejected: 0, sessions: 1 });
    const entries = (await bench.entries()).filter(({ kind }) => kind === "message");
    expect(entries).toMatchObject(openai.map(({ role }) => ({ role })));
    expect(entries[2]?.extra).toMatchObject({ reasoning_content: "Hm" });
    await expectLegalHistory(bench.recorder, session_id);
    expect(counts(await bench.import(`${bench.folder}/${name}`))).toMatchObject({ added: 0 });
  });

  test("line by line are one session each", async () => {
    const bench = importBench();
    const path = bench.write("many.jsonl", [
      { messages: openai },
      { messages: openai, conversation_id: "c-9" },
      { no: 1 },
    ]);
    const report = await bench.import(path);
    expect(counts(report)).toMatchObject({ sessions: 2, added: 12, rejected: 1 });
    for (const id of ["many:1", "c-9"]) await expectLegalHistory(bench.recorder, id);
  });
});

test("Anthropic's messages: calls become calls, and each result a tool message", async () => {
  const bench = importBench();
  const messages = [
    { role: "user", content: "Round it" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm", signature: "c2ln" },
        { type: "text", text: "Looking" },
        { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
      ],
      usage: { input_tokens: 3, output_tokens: 4 },
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "floor", is_error: true },
        { type: "text", text: "and?" },
      ],
    },
  ];
  const path = bench.write("talk.json", JSON.stringify({ system: "Be brief", messages }, null, 2));
  expect(counts(await bench.import(path))).toMatchObject({ added: 6, rejected: 0 });
  expect((await bench.entries()).slice(1)).toMatchObject([
    { role: "system", content: "Be brief" },
    { role: "user", content: "Round it" },
    {
      role: "assistant",
      content: "Looking",
      tool_calls: [{ id: "toolu_1" }],
      extra: { thinking_blocks: [{ signature: "c2ln" }] },
    },
    { role: "tool", content: "floor", tool_call_id: "toolu_1", extra: { is_error: true } },
    { role: "user", content: [{ type: "text", text: "and?" }] },
  ]);
  expect(tokensOf(await bench.entries())).toEqual({ input_tokens: 3, output_tokens: 4 });
  await expectLegalHistory(bench.recorder, "talk");
});

test("ATIF's steps become messages, calls, results and tokens; subagents become sessions", async () => {
  const bench = importBench();
  const steps = [
    { step_id: 1, timestamp: "2026-05-04T08:00:00Z", source: "system", message: "Be brief" },
    { step_id: 2, timestamp: "2026-05-04T08:00:01Z", source: "user", message: "Round it" },
    {
      step_id: 3,
      timestamp: "2026-05-04T08:00:02Z",
      source: "agent",
      model_name: "gpt-5",
      message: "Looking",
      reasoning_content: "Hm",
      tool_calls: [{ tool_call_id: "c1", function_name: "read", arguments: { path: "a" } }],
      observation: { results: [{ source_call_id: "c1", content: "floor" }] },
      metrics: { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 2 },
    },
    { step_id: 4, source: "alien", message: "x" },
  ];
  const document = {
    schema_version: "ATIF-v1.7",
    session_id: "a1",
    agent: { name: "shopper", version: "3.1", model_name: "gpt-5" },
    steps,
    subagent_trajectories: [{ trajectory_id: "sub", agent: { name: "helper" }, steps: steps.slice(1, 2) }],
  };
  const path = bench.write("run.json", JSON.stringify(document));
  expect(counts(await bench.import(path))).toMatchObject({ sessions: 2, rejected: 0 });
  const entries = (await bench.entries()).filter(
    ({ kind, session_id }) => kind !== "session_info" && session_id === "a1",
  );
  expect(entries).toMatchObject([
    { role: "system", content: "Be brief", id: "atif:a1:1" },
    { role: "user", content: "Round it" },
    {
      role: "assistant",
      content: "Looking",
      tool_calls: [{ id: "c1", function: { name: "read" } }],
      extra: {
        model: "gpt-5",
        reasoning_content: "Hm",
        usage: { input_tokens: 10, output_tokens: 5, cache_read_tokens: 2 },
      },
    },
    { kind: "tool_call", tool: "read", args: { path: "a" }, result: "floor", tool_call_id: "c1" },
    { kind: "raw", record: { source: "alien" } },
  ]);
  expect(await bench.recorder.session("a1/agent-sub").summary()).toMatchObject({ parent: "a1", messages: 1 });
  await expectLegalHistory(bench.recorder, "a1");
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});
