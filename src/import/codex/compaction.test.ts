// What Codex put before its model: instructions, injected context, compactions, commands of the user, and turns taken back.
import { expect, test } from "vitest";
import { counts, importBench } from "../../../test/support/import-target.js";

const text = (words: string): object => ({ type: "input_text", text: words });
const message = (role: string, ...parts: readonly object[]): { readonly type: string; readonly role: string } => ({
  type: "message",
  role,
  ...{ content: parts },
});
const line = (type: string, payload: object): object => ({ timestamp: "2026-05-04T08:00:00.000Z", type, payload });
const item = (payload: object): object => line("response_item", payload);
const event = (payload: object): object => line("event_msg", payload);
const prompt = (words: string): object => item(message("user", text(words)));
const answer = (words: string): object => item(message("assistant", { type: "output_text", text: words }));
const meta = line("session_meta", { id: "s-1", cwd: "/srv/shop", base_instructions: { text: "Be a good agent." } });
const rules = message(
  "user",
  text("# AGENTS.md instructions for /srv/shop\n\nNever push."),
  text("<environment_context/>"),
);
const skills = message("developer", text("<skills_instructions>None.</skills_instructions>"));

async function imported(...lines: readonly object[]) {
  const bench = importBench();
  const path = bench.write("rollout-a.jsonl", lines);
  expect(counts(await bench.import(path))).toMatchObject({ rejected: 0 });
  expect(counts(await bench.import(path))).toMatchObject({ added: 0, rejected: 0 });
  const messages = await bench.recorder.session("s-1").history();
  const contents = messages.map(({ role, content }): readonly [string, unknown] => [role, content]);
  return { ...bench, contents };
}

test("base instructions are the system prompt; rules, environment and skills are injected messages", async () => {
  const { contents, entries } = await imported(meta, item(skills), item(rules), prompt("hi"), answer("hello"));
  expect(contents).toEqual([
    ["system", "Be a good agent."],
    ["system", "<skills_instructions>None.</skills_instructions>"],
    ["user", [expect.objectContaining({ text: expect.stringContaining("Never push.") }), expect.anything()]],
    ["user", "hi"],
    ["assistant", "hello"],
  ]);
  const [info] = await entries();
  expect(info).toMatchObject({ metadata: { source: { lacks: ["tool definitions"] } } });
});

test("after a compaction there is the summary and what it kept, and the request for it is counted once", async () => {
  const usage = (input_tokens: number): object =>
    line("token_usage_record", { usage: { input_tokens, output_tokens: 5, total_tokens: input_tokens + 5 } });
  const { contents, entries, recorder } = await imported(
    ...[meta, item(rules), prompt("first"), answer("one"), usage(10), prompt("second"), answer("two"), usage(20)],
    ...[answer("All is done so far."), usage(30)],
    line("compacted", {
      message: "Summary of before:\nAll is done so far.",
      replacement_history: [
        message("user", text("first")),
        rules,
        message("user", text("<environment_context>new</environment_context>")),
        message("user", text("second")),
        message("user", text("Summary of before:\nAll is done so far.")),
      ],
    }),
    ...[answer("three"), usage(40)],
  );
  expect(contents).toEqual([
    ["system", "Be a good agent."],
    ["user", "Summary of before:\nAll is done so far."],
    ["user", [expect.anything(), expect.anything()]],
    ["user", "first"],
    ["user", "second"],
    ["user", "<environment_context>new</environment_context>"],
    ["assistant", "three"],
  ]);
  const consolidations = (await entries()).filter(({ kind }) => kind === "consolidation");
  expect(consolidations).toMatchObject([{ extra: { usage: { input_tokens: 30 } } }]);
  const { total } = await recorder.usage({});
  expect(total).toMatchObject({ input_tokens: 100, calls: 4 });
});

test("a compaction without a readable summary, without a history, or twice in a row keeps what it can", async () => {
  const sealed = [message("user", text("first")), { type: "compaction", encrypted_content: "gAAA" }];
  const encrypted = await imported(
    ...[meta, prompt("first"), answer("one"), line("compacted", { message: "", replacement_history: sealed })],
    answer("two"),
  );
  expect(encrypted.contents).toEqual([
    ["system", "Be a good agent."],
    ["user", "first"],
    ["assistant", "two"],
  ]);
  const old = await imported(
    meta,
    prompt("first"),
    answer("one"),
    line("compacted", { message: "So far." }),
    answer("two"),
  );
  expect(old.contents.map(([, content]) => content)).toEqual(["Be a good agent.", "So far.", "first", "two"]);
  const empty = line("compacted", { message: "Nothing.", replacement_history: [] });
  const twice = await imported(
    meta,
    prompt("first"),
    answer("one"),
    empty,
    line("compacted", { message: "Less.", replacement_history: [message("user", text("gone"))] }),
    answer("two"),
  );
  // What stayed was never recorded before, so it is recorded where it stayed.
  expect(twice.contents.map(([, content]) => content)).toEqual(["Be a good agent.", "Less.", "gone", "two"]);
});

test("a command that the user ran is a call, and its output was given to the model", async () => {
  const output =
    "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nno\n</result>\n</user_shell_command>";
  const { contents, entries } = await imported(meta, prompt(output), prompt("hi"), answer("hello"));
  expect((await entries()).filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "!", args: { command: "ls" }, is_error: true },
  ]);
  expect(contents.map(([, content]) => content)).toEqual(["Be a good agent.", output, "hi", "hello"]);
});

test("turns that were rolled back are withdrawn", async () => {
  const { contents, entries } = await imported(
    ...[meta, prompt("first"), answer("one"), prompt("second"), answer("two"), prompt("third"), answer("three")],
    ...[event({ type: "thread_rolled_back", num_turns: 2 }), prompt("instead"), answer("four")],
  );
  expect(contents.map(([, content]) => content)).toEqual(["Be a good agent.", "first", "one", "instead", "four"]);
  expect((await entries()).filter(({ kind }) => kind === "withdrawal").length).toBe(4);
});

test("what completed items tell again is recorded once, and what only they tell is recorded", async () => {
  const completed = (said: object): object => event({ type: "item_completed", item: said });
  const { contents } = await imported(
    ...[meta, prompt("first"), completed({ type: "UserMessage", content: [{ type: "text", text: "first" }] })],
    ...[completed({ type: "Reasoning", summary_text: ["Hm."] })],
    ...[item({ type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] })],
    ...[completed({ type: "AgentMessage", content: [{ type: "Text", text: "one" }] }), answer("one")],
    ...[completed({ type: "UserMessage", content: [{ type: "text", text: "only here" }] })],
    ...[completed({ type: "AgentMessage", content: [{ type: "Text", text: "two" }] })],
  );
  expect(contents.map(([, content]) => content)).toEqual(["Be a good agent.", "first", "one", "only here", "two"]);
});

test("a first prompt that is an image has no empty text beside it", async () => {
  const image = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
  const { entries } = await imported(meta, item(message("user", image)), answer("a bee"));
  expect((await entries()).find((entry) => entry.kind === "message" && entry.role === "user")).toMatchObject({
    content: [image],
  });
});
