// ChatGPT's export: the branch to the current node is the conversation, and everything else is kept.
import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

const node = (id: string, parent: string | null, message: object | null): object => ({
  id,
  parent,
  children: [],
  message,
});
const said = (id: string, role: string, parts: readonly unknown[], more: object = {}): object => ({
  id,
  author: { role },
  create_time: 1_777_881_600.5,
  content: { content_type: "text", parts },
  weight: 1,
  recipient: "all",
  metadata: { model_slug: "gpt-5" },
  ...more,
});

const conversation = {
  title: "Rounding",
  create_time: 1_777_881_600.25,
  current_node: "n7",
  conversation_id: "c-1",
  mapping: {
    n0: node("n0", null, null),
    n1: node("n1", "n0", said("m1", "system", [""])),
    n2: node("n2", "n1", said("m2", "user", ["context"], { content: { content_type: "user_editable_context" } })),
    n3: node("n3", "n2", said("m3", "user", ["Round the prices", { content_type: "image_asset_pointer" }])),
    left: node("left", "n3", said("mx", "assistant", ["Another answer"])),
    n4: node(
      "n4",
      "n3",
      said("m4", "assistant", [], {
        content: { content_type: "thoughts", thoughts: [{ summary: "S", content: "T" }] },
      }),
    ),
    n5: node("n5", "n4", said("m5", "assistant", ['{"q":"round"}'], { recipient: "browser.search" })),
    n6: node("n6", "n5", said("m6", "tool", ["found"], { author: { role: "tool", name: "browser.search" } })),
    hidden: node("hidden", "n6", said("mh", "assistant", ["hidden"], { weight: 0 })),
    n7: node("n7", "hidden", said("m7", "assistant", ["Rounded."])),
  },
};

test("a conversation becomes its active branch, with thoughts, calls and results", async () => {
  const bench = importBench();
  const path = bench.write("conversations.json", JSON.stringify([conversation, { no: "conversation" }]));
  const report = await bench.import(path);
  expect(counts(report)).toMatchObject({ files: 1, sessions: 1, rejected: 1 });
  const entries = await bench.entries();
  expect(entries.filter(({ kind }) => kind === "message")).toMatchObject([
    { id: "chatgpt:mx", role: "assistant", content: "Another answer" },
    {
      id: "chatgpt:m3",
      role: "user",
      created_at: "2026-05-04T08:00:00.500Z",
      content: [{ type: "text", text: "Round the prices" }, { type: "image_asset_pointer" }],
    },
    {
      role: "assistant",
      tool_calls: [{ id: "call-m5", function: { name: "browser.search", arguments: '{"q":"round"}' } }],
      extra: { model: "gpt-5", reasoning_content: "S\nT", native_ids: ["m4", "m5"] },
    },
    { id: "chatgpt:m7", content: "Rounded." },
  ]);
  expect(entries.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "browser.search", result: "found", tool_call_id: "call-m5", args: { q: "round" } },
  ]);
  expect(
    entries
      .filter(({ kind }) => kind === "raw")
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...["chatgpt:m1", "chatgpt:m2", "chatgpt:mh"]]);
  expect(await bench.recorder.session("c-1").summary()).toMatchObject({ title: "Rounding" });
  expect((await bench.recorder.search("another answer")).results).toMatchObject([{ id: "chatgpt:mx" }]);
  const talk = JSON.stringify(await expectLegalHistory(bench.recorder, "c-1"));
  expect(talk).toMatch(/Rounded/);
  expect(talk).not.toMatch(/Another answer/);
  expect(counts(await bench.import(path))).toMatchObject({ added: 0 });
});

test("a single conversation, pretty-printed, with a broken tree, is imported", async () => {
  const bench = importBench();
  const { current_node: _, ...rest } = conversation;
  const looped = {
    ...rest,
    conversation_id: "c-2",
    mapping: { a: node("a", "b", said("a", "user", ["hi"])), b: node("b", "a", null) },
  };
  await bench.import(bench.write("one.json", JSON.stringify(looped, null, 2)));
  expect(await bench.recorder.session("c-2").history()).toMatchObject([{ content: "hi" }]);
});
