// A session as ATIF: steps without gaps, results with their calls, masked, and readable again.
import { expect, test } from "vitest";
import { fixturePath } from "../../test/support/fixtures.js";
import { importBench } from "../../test/support/import-target.js";
import { expectLegalHistory, tokensOf } from "../../test/support/transcripts.js";

const session_id = "9f0c7a52-1111-4222-8333-444455556666";

test("a session goes out as steps, and comes in again as the same talk", async () => {
  const bench = importBench();
  await bench.import(fixturePath("import", "claude-code", "shop", `${session_id}.jsonl`));
  const text = await bench.export({ format: "atif", session_id });
  const document = JSON.parse(text);
  expect(document).toMatchObject({
    schema_version: "ATIF-v1.7",
    session_id,
    agent: { name: "claude-code", version: "2.1.40" },
    final_metrics: { total_prompt_tokens: 1_238, total_completion_tokens: 158, total_steps: document.steps.length },
  });
  expect(document.steps.map((step: { step_id: number }) => step.step_id)).toEqual(
    document.steps.map((_: unknown, index: number) => index + 1),
  );
  expect(document.steps.find(({ source }: { readonly source: string }) => source === "agent")).toMatchObject({
    source: "agent",
    model_name: "claude-opus-4-5",
    message: "I will look at the code and run its tests.",
    tool_calls: [{ tool_call_id: "toolu_01", function_name: "Read", arguments: { file_path: "src/money.ts" } }, {}],
    observation: {
      results: [{ source_call_id: "toolu_01" }, { source_call_id: "toolu_02", extra: { is_error: true } }],
    },
    metrics: { prompt_tokens: 250, completion_tokens: 90, cached_tokens: 200, extra: { cache_write_tokens: 40 } },
  });
  const again = importBench();
  await again.import(again.write("run.json", text));
  const talk = await bench.recorder.session(session_id).history();
  const read = await expectLegalHistory(again.recorder, session_id);
  expect(read.map(({ role }) => role)).toEqual(talk.map(({ role }) => role));
  expect(tokensOf(await again.entries())).toMatchObject({ input_tokens: 1_238, output_tokens: 158 });
  const steps = (exported: string): unknown => JSON.parse(exported).steps;
  expect(steps(await again.export({ format: "atif", session_id }))).toEqual(document.steps);
});

test("an answer that came later and a call that failed are steps too", async () => {
  const { recorder, ...bench } = importBench();
  const { id: interaction_id } = await recorder.recordInteraction({ session_id: "s", prompt: "later" });
  await recorder.recordInteraction({ session_id: "s", prompt: "never", error: "529 overloaded" });
  await recorder.append({ kind: "response", interaction_id, response: "now" });
  const { steps } = JSON.parse(await bench.export({ format: "atif", session_id: "s" }));
  expect(steps).toMatchObject([
    { source: "user", message: "later" },
    { source: "user", message: "never" },
    { source: "system", message: "529 overloaded", extra: { kind: "error" } },
    { source: "agent", message: "now" },
  ]);
});

test.each(["atif", "nanobot", "timmy"] as const)(
  "a message that was withdrawn is not in the form %s, nor what its calls gave back; the log's own form has all, and Markdown",
  async (format) => {
    const { recorder, ...bench } = importBench();
    const session = recorder.session("s");
    await session.message({ role: "user", content: "kept question" });
    const calls = (id: string) => [{ id, type: "function", function: { name: "look", arguments: "{}" } }];
    const guess = await session.message({ role: "assistant", content: "a wrong guess", tool_calls: calls("c1") });
    await session.toolCall({ tool: "look", result: "stale result", tool_call_id: "c1" });
    await session.withdraw(guess.position);
    // The id is used again, and this time its result counts.
    await session.message({ role: "assistant", content: "kept answer", tool_calls: calls("c1") });
    await session.toolCall({ tool: "look", result: "kept result", tool_call_id: "c1" });
    const text = await bench.export({ format, session_id: "s" });
    for (const kept of ["kept question", "kept answer"]) expect(text).toContain(kept);
    expect(text).not.toMatch(/wrong guess|stale result/);
    if (format !== "nanobot") expect(text).toContain("kept result");
    expect(await bench.export({ format: "hansard", session_id: "s" })).toMatch(/wrong guess.*stale result/s);
    expect(await bench.export({ format: "markdown", session_id: "s" })).toMatch(
      /a wrong guess.*Message #2 was withdrawn/s,
    );
  },
);

test("results without a call, interactions and secrets: nothing is lost, and nothing is given away", async () => {
  const { recorder, ...bench } = importBench();
  await recorder.session("s").toolCall({ tool: "ping", result: "pong" });
  await recorder.session("s").info({ metadata: { agent: { note: "ghp_abcdefghijklmnopqrstuvwxyz0123456789" } } });
  await recorder.recordInteraction({
    session_id: "s",
    prompt: "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ",
    response: "ok",
  });
  const document = JSON.parse(await bench.export({ format: "atif", session_id: "s" }));
  expect(document.agent.note).not.toMatch(/ghp_abc/);
  expect(document.steps).toMatchObject([
    {
      step_id: 1,
      source: "agent",
      tool_calls: [{ function_name: "ping" }],
      observation: { results: [{ content: "pong" }] },
    },
    { step_id: 2, source: "user" },
    { step_id: 3, source: "agent", message: "ok" },
  ]);
  expect(JSON.stringify(document)).not.toContain("abcdefghijklmnopqrstuvwxyz0123456789");
  expect(await bench.export({ format: "atif", session_id: "nobody" })).toBe("");
  await expect(bench.export({ format: "atif" })).rejects.toMatchObject({ code: "session_id_invalid" });
});

test("prompts have what came from the cache in them, whichever way the provider counts", async () => {
  const { recorder, ...bench } = importBench();
  const session = recorder.session("s");
  const usages = [
    {
      model: "claude-sonnet-4-5",
      usage: { input_tokens: 3, cache_read_input_tokens: 40, cache_creation_input_tokens: 7 },
    },
    {
      model: "gpt-5",
      usage: { prompt_tokens: 50, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 40 } },
    },
  ];
  for (const call of usages) await session.interaction({ prompt: "q", response: "a", ...call });
  const text = await bench.export({ format: "atif", session_id: "s" });
  const { steps, final_metrics } = JSON.parse(text);
  expect(steps.flatMap((step: { metrics?: object }) => step.metrics ?? [])).toEqual([
    { prompt_tokens: 50, cached_tokens: 40, extra: { cache_write_tokens: 7 } },
    { prompt_tokens: 50, completion_tokens: 2, cached_tokens: 40 },
  ]);
  expect(final_metrics).toMatchObject({ total_prompt_tokens: 100, total_cached_tokens: 80 });
  // What comes in again costs as much as it did.
  const again = importBench();
  await again.import(again.write("run.json", text));
  const [before, after] = await Promise.all([recorder, again.recorder].map((one) => one.usage({ by: "model" })));
  expect(after?.total.cost).toBeCloseTo(before?.total.cost ?? 0, 12);
});
