// VS Code Copilot Chat: the same session as a document, and as a log of changes to it.
import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

const ts = 1_777_881_600_000;
const prompt = <T extends object>(id: string, text: string, more: T) => ({
  requestId: id,
  timestamp: ts + 1_000,
  message: { text, parts: [] },
  variableData: { variables: [{ kind: "file", name: "money.ts" }] },
  modelId: "copilot/gpt-5-mini",
  modelState: { value: 1, completedAt: ts + 9_000 },
  ...more,
});

const round = (more: object) => ({ response: "", toolCalls: [], ...more });
const withRounds = prompt("r1", "/fix Round the prices.", {
  slashCommand: { name: "fix" },
  response: [
    { value: "Reading" },
    { value: " it." },
    {
      kind: "toolInvocationSerialized",
      toolCallId: "other-1",
      toolId: "run_in_terminal",
      pastTenseMessage: { value: "Ran cat" },
      isConfirmed: { type: 1 },
      toolSpecificData: {
        kind: "terminal",
        commandLine: { original: "cat money.ts" },
        terminalCommandState: { exitCode: 1 },
      },
    },
    { kind: "toolInvocationSerialized", toolCallId: "other-2", toolId: "edit", isConfirmed: false },
    { value: "No such file." },
    { kind: "undoStop", id: "u" },
  ],
  result: {
    metadata: {
      resolvedModel: "gpt-5-mini-2026",
      promptTokens: 100,
      outputTokens: 20,
      toolCallRounds: [
        round({
          response: "Reading it.",
          timestamp: ts + 2_000,
          thinking: { text: "Look first." },
          toolCalls: [
            { id: "c1", name: "run_in_terminal", arguments: '{"command":"cat money.ts"}' },
            { id: "c2", name: "edit", arguments: "{}" },
          ],
        }),
        round({ response: "No such file.", timestamp: ts + 3_000, summary: "Prices are to be rounded." }),
      ],
      toolCallResults: { c1: { content: [{ $mid: 20, value: "cat: no such file" }] } },
    },
  },
});
const shown = prompt("r2", "And now?", {
  timestamp: ts + 10_000,
  response: [
    { kind: "thinking", value: ["Hm."] },
    { value: "See " },
    { kind: "inlineReference", name: "money.ts", inlineReference: { path: "/srv/shop/money.ts" } },
    {
      kind: "toolInvocationSerialized",
      toolCallId: "c3",
      toolId: "search",
      isConfirmed: true,
      resultDetails: { input: '{"q":"price"}', output: "1 hit" },
    },
    { value: "Found." },
  ],
  result: { errorDetails: { message: "529 overloaded", code: "overloaded" } },
});
const state = {
  version: 3,
  sessionId: "vs-1",
  creationDate: ts,
  customTitle: "Rounding",
  requests: [
    withRounds,
    shown,
    prompt("r3", "continue", { isSystemInitiated: true, timestamp: ts + 20_000, response: [] }),
  ],
};

test("requests become the conversation, with calls and results from the rounds behind what was shown", async () => {
  const bench = importBench();
  bench.write("w/workspace.json", JSON.stringify({ folder: "file:///srv/shop%20one" }));
  const file = bench.write("w/chatSessions/vs-1.json", JSON.stringify(state, null, 1));
  expect(counts(await bench.import(file))).toMatchObject({ rejected: 0, sessions: 1 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    {
      id: "vscode-copilot:r1",
      role: "user",
      content: "/fix Round the prices.",
      project: "shop one",
      extra: { command: { name: "/fix" }, attachments: [{ name: "money.ts" }] },
    },
    {
      content: "Reading it.",
      created_at: "2026-05-04T08:00:02.000Z",
      tool_calls: [{ id: "c1" }, { id: "c2" }],
      extra: { model: "gpt-5-mini-2026", reasoning_content: "Look first." },
    },
    { content: "No such file.", extra: { usage: { input_tokens: 100, output_tokens: 20 } } },
    { id: "vscode-copilot:r2", role: "user", content: "And now?" },
    {
      content: [
        { type: "text", text: "See `money.ts`" },
        { type: "text", text: "Found." },
      ],
      tool_calls: [{ id: "c3" }],
      extra: { model: "gpt-5-mini", reasoning_content: "Hm." },
    },
    { role: "user", content: "continue", injected: "other" },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "run_in_terminal", args: { command: "cat money.ts" }, result: "cat: no such file", is_error: true },
    { tool: "edit", is_error: true, extra: { denied: true } },
    { tool: "search", args: { q: "price" }, result: "1 hit", is_error: false },
  ]);
  expect(entries.filter(({ kind }) => kind === "error")).toMatchObject([{ error: "529 overloaded" }]);
  expect(entries.find(({ kind }) => kind === "consolidation")).toMatchObject({ summary: "Prices are to be rounded." });
  expect(entries.find(({ kind }) => kind === "raw")).toMatchObject({ record: { response: [{ kind: "undoStop" }] } });
  expect(await bench.recorder.session("vs-1").summary()).toMatchObject({ title: "Rounding" });
  await expectLegalHistory(bench.recorder, "vs-1");
  // Moved to another workspace, it is the same session.
  const moved = bench.write("v/chatSessions/vs-1.json", JSON.stringify({ ...state, customTitle: undefined }));
  expect((await bench.import(moved)).added).toBeLessThanOrEqual(1);
});

test("a log of changes is the same session as its last state", async () => {
  const whole = importBench();
  await whole.import(whole.write("chatSessions/vs-1.json", JSON.stringify(state)));
  const expected = (await whole.entries()).map(({ id }) => id);
  const bench = importBench();
  const lines = [
    { kind: 0, v: { ...state, customTitle: undefined, requests: [] } },
    { kind: 2, k: ["requests"], v: [{ ...withRounds, response: [], result: undefined, modelState: { value: 0 } }] },
    { kind: 2, k: ["requests", 0, "response"], v: [{ value: "Rea" }] },
    { kind: 2, k: ["requests", 0, "response"], v: withRounds.response, i: 0 },
    { kind: 1, k: ["requests", 0, "result"], v: withRounds.result },
    { kind: 1, k: ["requests", 0, "modelState"], v: withRounds.modelState },
    { kind: 1, k: ["customTitle"], v: "Rounding" },
    { kind: 1, k: ["inputState"], v: { inputText: "half" } },
    { kind: 3, k: ["inputState"] },
    { kind: 2, k: ["requests"], v: [prompt("wrong", "taken back", {})] },
    { kind: 2, k: ["requests"], v: state.requests.slice(1), i: 1 },
  ];
  const file = bench.write("chatSessions/vs-1.jsonl", lines);
  expect(counts(await bench.import(file))).toMatchObject({ rejected: 0 });
  expect((await bench.entries()).map(({ id }) => id)).toEqual(expected);
  expect((await bench.import(file)).added).toBe(0);
});

test("a log that grows is read on from where reading stopped, and an answer only once it is complete", async () => {
  const bench = importBench();
  const pending = { ...shown, response: [{ value: "See" }], result: undefined, modelState: { value: 0 } };
  const parts = [
    { kind: 0, v: { ...state, requests: [withRounds] } },
    { kind: 2, k: ["requests"], v: [pending] },
    { kind: 2, k: ["requests", 1, "response"], v: shown.response, i: 0 },
    { kind: 1, k: ["requests", 1, "modelState"], v: { value: 1 } },
  ];
  const said = async () =>
    (await bench.entries()).flatMap((entry) =>
      entry.kind === "message" && entry.session_id === "vs-1" ? [JSON.stringify(entry.content)] : [],
    );
  const read = async (count: number) => {
    const file = bench.write("chatSessions/vs-1.jsonl", parts.slice(0, count));
    const watch = await bench.recorder.watchFiles(file, { poll: true });
    await watch.caughtUp();
    await watch.close();
  };
  await read(1);
  expect((await said()).length).toBe(3);
  await read(2);
  expect((await said()).at(-1)).toBe('"And now?"');
  await read(4);
  expect((await said()).slice(-2)).toEqual(['"And now?"', expect.stringContaining("Found.")]);
  await read(4);
  expect((await said()).length).toBe(5);
});

test("changes that fit nothing are reported, and no path leads out of the document", async () => {
  const bench = importBench();
  const lines = [
    { kind: 0, v: state },
    { kind: 1, k: ["__proto__", "polluted"], v: 1 },
    { kind: 1, k: ["constructor", "prototype", "polluted"], v: 1 },
    { kind: 1, k: ["requests", 4_000_000_000], v: 1 },
    { kind: 1, k: ["requests", "length"], v: 0 },
    { kind: 2, k: ["customTitle"], v: [1] },
    { kind: 2, k: [] },
    { kind: 1, k: "requests", v: 1 },
    { kind: 9 },
    { kind: 2, k: ["requests"], v: [null, 3, {}, { message: 3, response: "x", result: [] }] },
  ];
  const report = await bench.import(bench.write("vs.jsonl", lines));
  expect(report.rejected.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect((await bench.entries()).some(({ id }) => id === "vscode-copilot:r1")).toBe(true);
  expect((await bench.import(bench.write("vs.jsonl", lines))).added).toBe(0);
});
