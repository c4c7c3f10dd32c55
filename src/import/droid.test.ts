// Droid's sessions: read as its own, not as pi's, with what it glued to prompts apart.
import { expect, test } from "vitest";
import { fixturePath, fixtureRecords } from "../../test/support/fixtures.js";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

const names = ["import", "droid", "d-1.jsonl"];
const lines = fixtureRecords(...names);

test("lines become the conversation, and what is not known stays as it is", async () => {
  const bench = importBench();
  const file = fixturePath(...names);
  expect(counts(await bench.import(file))).toMatchObject({ sessions: 1, rejected: 0 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { role: "user", injected: "reminder", client: "droid" },
    { id: "droid:d1", role: "user", content: "Round the prices.", injected: "", project: "shop" },
    {
      content: "Reading.",
      tool_calls: [{ id: "t1" }, { id: "t2" }],
      extra: { thinking_blocks: [{ thinking: "Look first." }] },
    },
    { content: "No such file." },
    { role: "user", content: "/compact now", extra: { command: { name: "/compact", args: "now" } } },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "Execute", is_error: true },
    { tool: "Read", result: "price = 1", is_error: false },
  ]);
  expect(entries.filter(({ kind }) => kind === "raw").length).toBe(2);
  expect(await bench.recorder.session("d-1").summary()).toMatchObject({
    title: "Rounding",
    first_at: "2026-05-04T08:00:01.000Z",
    last_at: "2026-05-04T08:00:07.000Z",
  });
  await expectLegalHistory(bench.recorder, "d-1");
  expect((await bench.import(file)).added).toBe(0);
});

test("tokens of the whole session count as they grow", async () => {
  const bench = importBench();
  const settings = (inputTokens: number) =>
    JSON.stringify({ model: "claude-sonnet-4-5", tokenUsage: { inputTokens, outputTokens: 5, cacheReadTokens: 7 } });
  bench.write("d-1.settings.json", settings(10));
  const file = bench.write("d-1.jsonl", lines.slice(0, 3));
  await bench.import(file);
  bench.write("d-1.settings.json", settings(25));
  bench.write("d-1.jsonl", lines);
  await bench.import(file);
  expect((await bench.import(file)).added).toBe(0);
  const { rows } = await bench.recorder.usage({ by: ["model"] });
  expect(rows).toMatchObject([{ model: "claude-sonnet-4-5", output_tokens: 5, cache_read_tokens: 7 }]);
});

test("odd lines are kept or reported, never fatal", async () => {
  const bench = importBench();
  const odd = lines.flatMap((line) => [
    line,
    { ...line, message: null, timestamp: {} },
    {
      ...line,
      id: 3,
      message: { role: "user", content: [null, 3, { type: "tool_result" }, { type: "text", text: 5 }] },
    },
    { ...line, id: undefined, message: { role: 5, content: {} } },
  ]);
  const path = bench.write("odd.jsonl", [...odd, "[]"]);
  await bench.import(path);
  expect((await bench.import(path)).added).toBe(0);
});
